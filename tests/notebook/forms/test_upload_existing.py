from pathlib import Path

import pytest

import svc_notebooks as svc
from svc_notebooks.forms.upload_form import EXISTING


@pytest.fixture
def plan(lab):
    return svc.upload(b"old words", name="plan.txt", metadata={"description": "May"})


@pytest.fixture
def source(tmp_path, monkeypatch):
    """Writes a file in the notebook's folder and chooses it."""
    monkeypatch.chdir(tmp_path)

    def chosen(form, name="new.txt", content=b"new words"):
        (tmp_path / name).write_bytes(content)
        form.controls.files.path.value = name

    return chosen


@pytest.fixture
def form(plan):
    return svc.upload_form()


def existing(form, file):
    form.controls.upload_as.value = EXISTING
    form.controls.existing_file.value = file["id"].item()


@pytest.mark.spec("W-01", "W-01g", "A1-04")
@pytest.mark.parametrize("kind", ["auto", "media", "multipart", "resumable"])
def test_the_content_is_replaced_by_every_upload_type_after_a_question(form, plan, source, kind):
    source(form)
    existing(form, plan)
    form.controls.upload_type.value = kind
    form.upload.click()
    assert "Replace the content of plan.txt?" in form.question.head.value
    for text in ("9 bytes", "Content from", "2026-01-05 09:00 UTC", plan["id"].item(), "new.txt"):
        assert text in form.question.facts.value
    form.question.no.click()
    assert svc.read(plan) == b"old words"
    assert "Cancelled: plan.txt is unchanged." in form.status.value
    form.upload.click()
    assert form.question.is_open
    form.question.yes.click()

    assert form.last_error is None
    sent = svc.exchanges().query("method == 'PUT'")
    assert f"uploadType={'media' if kind == 'auto' else kind}" in sent["query"].iloc[0]
    assert svc.read(plan) == b"new words"
    now = svc.file(plan, fields="id,name,description")
    assert now.values.tolist() == [[plan["id"].item(), "plan.txt", "May"]]
    assert len(svc.files()) == 1
    assert "Done: the content of plan.txt was replaced" in form.status.value


@pytest.mark.spec("A5-04")
def test_content_of_a_native_document_is_converted(form, source):
    sheet = svc.upload(b"a,b\n", name="Sheet", mime_type="text/csv", convert_to="spreadsheet")
    source(form, "new.csv", b"pond,birds\nMill pond,12\n")
    existing(form, sheet)
    controls = form.controls
    assert "converted" in controls.file.hint.value
    assert controls.target.layout.display == "none"
    assert controls.language.layout.display is None
    form.upload.click()
    assert "replaces everything in the document" in form.question.head.value
    form.question.yes.click()

    assert form.last_error is None
    svc.export(sheet, "csv", "out.csv")
    assert "Mill pond,12" in Path("out.csv").read_text(encoding="utf-8-sig")
    assert form.code() == f"svc.update('{sheet['id'].item()}', 'new.csv')"


@pytest.mark.spec("X-02", "X-02c", "X-03", "X-03b", "W-01", "W-01h")
def test_an_id_is_for_one_file_without_a_conversion(form, source):
    source(form)
    chosen = svc.generate_ids(1)["id"].item()
    options = form.controls.options
    options.id.value = chosen
    form.controls.target.value = "document"
    before = len(svc.exchanges())
    assert "A converted file cannot have an id" in options.file_id.problems[0]
    form.upload.click()
    assert len(svc.exchanges()) == before
    form.controls.target.value = ""
    assert options.file_id.problems == ()

    code = form.code()
    form.upload.click()
    assert form.result["id"].tolist() == [chosen]
    assert code == f"svc.upload('new.txt', file_id='{chosen}')"
    with pytest.raises(svc.AlreadyExists):
        eval(code, {"svc": svc})
    assert options.id.value == "", "the next file needs another id"
