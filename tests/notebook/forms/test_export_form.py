import asyncio
from threading import Event

import pytest

import svc_notebooks as svc
from svc_notebooks.forms.widgets.preview import preview
from tests.patience import PATIENCE

PAGE = "<h1>Ponds</h1><p>Rīga, 東京</p>".encode()


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def page(lab):
    return svc.upload(PAGE, name="ponds.html", convert_to="document")


@pytest.fixture
def table(lab):
    lab.clock.advance("1h")
    return svc.upload(b"pond,birds\r\nMill,12\r\n", name="birds.csv", convert_to="spreadsheet")


@pytest.fixture
def form(page, table):
    return svc.export_form()


def formats(form):
    return [label for label, _ in form.controls.format.options]


def choose(form, document=None, extension=None):
    controls = form.controls
    if document is not None:
        controls.document.value = document["id"].item()
    if extension is not None:
        controls.format.value = next(kind for label, kind in controls.format.options if f"(.{extension})" in label)


@pytest.mark.spec("W-02", "W-02a", "W-02b", "A7-05", "A7-05b")
def test_documents_are_listed_newest_first_with_their_formats(page, table):
    svc.upload(b"plain", name="plain.txt")
    svc.trash(svc.upload(b"gone", name="gone.txt", convert_to="document"))
    form = svc.export_form()
    assert [label.split(" (")[0] for label, _ in form.controls.document.options] == ["birds.csv", "ponds.html"]
    assert form.controls.document.options[0][0] == "birds.csv (spreadsheet, 2026-01-05 10:00 UTC)"

    choose(form, table, "pdf")
    assert formats(form) == [
        "MS Excel (.xlsx)", "Open Office sheet (.ods)", "PDF (.pdf)", "CSV (first sheet only) (.csv)",
        "TSV (first sheet only) (.tsv)", "HTML (zipped) (.zip)",
    ]  # fmt: skip
    choose(form, page)
    assert "MS Word (.docx)" in formats(form)
    assert "MS Excel (.xlsx)" not in formats(form)
    assert form.controls.format.value == "application/pdf", "a format that both have stays chosen"


@pytest.mark.spec("W-02", "W-02c")
def test_a_file_in_the_notebook_folder(form, table, tmp_path):
    choose(form, table, "csv")

    form.export.click()

    assert form.last_error is None
    assert (tmp_path / "birds.csv").read_bytes().decode("utf-8-sig") == "pond,birds\r\nMill,12\r\n"
    assert form.result[["name", "path", "mime_type"]].values.tolist() == [["birds.csv", "birds.csv", "text/csv"]]
    assert "<table" in form.table.value
    assert "Done: birds.csv, 21 bytes, saved as birds.csv" in form.status.value
    assert repr(form) == "<ExportForm: 1 file exported>"


@pytest.mark.spec("W-02", "W-02c")
def test_a_browser_download(form, table, tmp_path):
    messages = []
    form.browser_download.send = lambda content, buffers=(): messages.append((content, b"".join(map(bytes, buffers))))
    choose(form, table, "xlsx")
    form.controls.target.value = "browser"
    form.export.click()

    assert list(tmp_path.iterdir()) == []
    begun = next(content for content, _ in messages if content["kind"] == "save")
    body = b"".join(data for content, data in messages if content["kind"] == "slice")
    assert (begun["name"], begun["size"]) == ("birds.xlsx", len(body))
    assert body.startswith(b"PK")
    assert form.result["path"].isna().tolist() == [True]
    assert form.result["size"].tolist() == [len(body)]
    assert "sending to the browser" in form.status.value
    form.browser_download.taken = begun["n"]
    assert "received by the browser" in form.status.value


@pytest.mark.parametrize("extension,words", [("txt", "東京"), ("html", "sandbox"), ("docx", "has no preview here")])
def test_a_preview_saves_nothing(form, page, tmp_path, extension, words):
    choose(form, page, extension)

    form.preview.click()

    assert form.last_error is None
    assert words in form.view.value
    assert (list(tmp_path.iterdir()), len(form.result)) == ([], 0)
    assert "nothing was saved" in form.status.value


@pytest.mark.parametrize(
    "kind", ["text/plain", "text/csv", "text/tab-separated-values", "application/json", "text/html"]
)
def test_a_hostile_export_stays_text_or_in_its_frame(kind):
    view = preview(kind, b"<img src=x onerror=alert(1)><script>alert(2)</script>")

    assert "<img" not in view
    assert "<script" not in view
    if kind == "text/html":
        assert 'sandbox=""' in view
        assert "default-src" in view


@pytest.mark.spec("W-02", "W-02c")
@pytest.mark.parametrize("target", ["kernel", "browser"])
def test_an_export_that_is_cancelled_saves_nothing(form, table, tmp_path, monkeypatch, target):
    choose(form, table, "csv")
    form.controls.target.value = target
    answered, send = Event(), svc.current_session().send
    monkeypatch.setattr(svc.current_session(), "send", lambda *sent: answered.wait(PATIENCE) and send(*sent))

    async def scene():
        form.export.click()
        form.work.cancel.click()
        assert form.work.bar.text.startswith("Stopping")
        answered.set()
        await form.work._task

    asyncio.run(scene())
    assert "Cancelled: nothing was saved" in form.status.value
    assert form.last_error is None
    assert form.result.empty
    assert not list(tmp_path.iterdir())
    form.export.click()
    assert "Done: " in form.status.value


def test_hostile_names_stay_text_everywhere_and_the_error_message_of_the_service_is_shown(lab, tmp_path):
    file = svc.upload(b"x", name='<img src=x onerror="alert(1)">.txt', mime_type="text/plain", convert_to="document")
    form = svc.export_form(file)
    choose(form, extension="txt")
    form.export.click()
    form.preview.click()

    shown = [form.table, form.code_area, form.alert, form.view, form.controls.note, form.status]
    assert form.last_error is None
    assert [view.value for view in shown if "<img" in view.value] == []
    assert "<img" not in form._repr_mimebundle_()["text/html"]
    assert [path.name for path in tmp_path.iterdir()] == ["_img src=x onerror=_alert(1)__.txt"]
    svc.delete(file)
    form.export.click()
    assert type(form.last_error).__name__ == "NotFound"
    assert 'role="alert"' in form.alert.value
    assert "File not found" in form.alert.value
    assert form.status.value == ""


@pytest.mark.parametrize(
    "press, contents, call",
    [
        ("cancel", {"birds.csv": b"mine"}, "'csv')"),
        ("replace", {"birds.csv": None}, "'csv', overwrite=True)"),
        ("keep", {"birds.csv": b"mine", "birds (1).csv": None}, "'csv', 'birds (1).csv')"),
    ],
)
def test_a_path_with_other_content_is_asked_about(form, table, tmp_path, press, contents, call):
    (tmp_path / "birds.csv").write_bytes(b"mine")
    choose(form, table, "csv")
    form.export.click()
    question = form.question

    assert "birds.csv exists with other content." in question.head.value
    for text in ("4 bytes", "21 bytes", "text/csv", "now", "Existing file", "New file"):
        assert text in question.files.value
    assert "Not saved: birds.csv exists with other content" in form.status.value
    assert (tmp_path / "birds.csv").read_bytes() == b"mine"
    assert form.code().endswith("'csv')")
    sent = len(svc.exchanges())
    getattr(question, press).click()

    assert {entry.name: entry.read_bytes() for entry in tmp_path.iterdir() if contents[entry.name]} == {
        name: content for name, content in contents.items() if content
    }
    assert {entry.name for entry in tmp_path.iterdir()} == set(contents)
    assert len(svc.exchanges()) == sent, "the export that was made is saved, and no other is made"
    assert form.code().endswith(call)
    assert question.layout.display == "none"
    if press != "cancel":
        assert eval(form.code(), {"svc": svc})["outcome"].item() == "unchanged"
        choose(form, extension="tsv")
        assert "overwrite" not in form.code()
