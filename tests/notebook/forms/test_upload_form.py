import asyncio
import re

import pytest

import svc_notebooks as svc
from svc_notebooks.core.policy import MIB
from svc_notebooks.forms.widgets.file_picker import BrowserFiles
from tests.notebook.one_line import one_line


def send(box: BrowserFiles, name: str, content: bytes, *, mime: str = "", size: int | None = None):
    """What the browser's half does with a file."""
    key = f"key-{name}"
    size = len(content) if size is None else size
    box.handle_message({"kind": "begin", "key": key, "name": name, "size": size, "mime": mime}, [])
    for offset in range(0, len(content), MIB):
        part = memoryview(content)[offset : offset + MIB]
        box.handle_message({"kind": "slice", "key": key, "offset": offset}, [part])
    return key


@pytest.fixture
def form(lab):
    return svc.upload_form()


@pytest.fixture
def box(form):
    return form.controls.files.picker


@pytest.mark.spec("W-01", "W-01a", "W-01f")
def test_several_files_of_any_size_are_uploaded(form, box):
    send(box, "large.bin", bytes(11 * MIB))
    send(box, "b.csv", b"a,b\n", mime="text/csv")

    form.upload.click()

    assert form.last_error is None
    assert form.result["name"].tolist() == ["large.bin", "b.csv"]
    assert form.result["mime_type"].tolist() == ["application/octet-stream", "text/csv"]
    assert form.result["size"].tolist() == [11 * MIB, 4]
    assert "<table" in form.table.value
    assert "Done: 2 files uploaded" in form.status.value
    assert repr(form) == "<UploadForm: 2 files uploaded>"


@pytest.mark.spec("W-01", "W-01c")
@pytest.mark.parametrize("given", [lambda made: made, lambda made: made["id"].item(), lambda made: "Data/2026"])
def test_the_folder_of_the_new_files(form, box, given):
    made = svc.create_folder("2026", parent=svc.create_folder("Data"))
    send(box, "a.txt", b"a")
    form.fill(folder=given(made))
    form.upload()

    assert form.result["parents"].tolist() == [made["id"].tolist()]
    assert eval(form.code().replace("'a.txt'", "b'a'"), {"svc": svc})["parents"].tolist() == [made["id"].tolist()]


@pytest.mark.spec("W-01", "W-01d", "W-01e", "D-03", "D-03c")
def test_cancel_stops_an_upload_and_resume_continues(form, box, cancelled):
    send(box, "large.bin", bytes(8 * MIB))
    form.controls.upload_type.value = "resumable"
    form.controls.chunk_size.value = MIB

    async def press():
        form.upload.click()
        while "of 8 MiB" not in form.work.bar.status or form.work.bar.done < 4 * MIB:
            await asyncio.sleep(0)
        form.work.cancel.click()
        cancelled.set()
        while form.busy:
            await asyncio.sleep(0)
        stopped = form.status.value
        form.resume.click()
        while form.busy:
            await asyncio.sleep(0)
        return stopped

    stopped = asyncio.run(press())

    assert re.search(r"Cancelled at [\d.]+ MiB of 8 MiB", stopped)
    assert form.last_error is None
    assert form.result["size"].tolist() == [8 * MIB]
    ranges = [sent for sent in svc.exchanges()["content_range"].dropna() if not sent.startswith("bytes */")]
    chunks = [f"bytes {n * MIB}-{(n + 1) * MIB - 1}/{8 * MIB}" for n in range(8)]
    assert [*dict.fromkeys(ranges)] == chunks
    assert len(ranges) <= 9  # the chunk that was cancelled may be sent again


@pytest.mark.spec("W-01", "W-01e")
def test_a_failed_upload_resumes_where_it_stopped(lab, form, box):
    send(box, "large.bin", bytes(4 * MIB))
    form.controls.upload_type.value = "resumable"
    form.controls.chunk_size.value = MIB

    with lab.faults({"match": {"nth": 4}, "times": 1000, "action": {"reset": "before"}}):
        form.upload.click()
    assert type(form.last_error).__name__ == "Interrupted"
    assert 'role="alert"' in form.alert.value
    form.resume.click()

    assert form.alert.value == ""
    assert form.result["size"].tolist() == [4 * MIB]
    assert svc.exchanges()["content_range"].tolist().count(f"bytes 0-{MIB - 1}/{4 * MIB}") == 1


@pytest.mark.spec("W-01", "W-01e")
def test_a_click_without_effect_shows_a_message(form):
    for button, words in ((form.upload, "No file is selected"), (form.resume, "no interrupted upload")):
        button.click()
        assert words in str(form.last_error)
        assert words in form.alert.value


@pytest.mark.spec("W-01", "W-01a")
@pytest.mark.parametrize(
    "control, value, words",
    [
        ("metadata", "{starred", "This is not valid JSON"),
        ("metadata", "[1]", "must be a JSON object"),
        ("metadata", '{"colour": 1}', "not a field that can be set"),
        ("metadata", '{"name": "b.txt"}', "name has its own control. Use Name"),
        ("metadata", '{"viewers_can_copy_content": true}', "has its own control. Use the switch above"),
        ("media_type", "csv", "csv is not a media type. Enter one such as text/csv."),
    ],
)
def test_problems_are_shown_at_their_field_and_nothing_is_sent(form, box, control, value, words):
    send(box, "a.txt", b"a")
    field = getattr(form.controls.options, control)
    field.value = value
    assert words in field.problems[0]
    assert form.controls.options.shown

    form.upload.click()

    assert "Nothing was uploaded." in form.alert.value
    assert words in str(form.last_error)
    assert len(svc.exchanges()) == 0


@pytest.mark.spec("W-01", "W-01a")
def test_an_upload_waits_until_its_files_are_loaded(form, box):
    waiting = '<p role="status">Waiting for {} to load</p>'
    send(box, "whole.bin", b"complete")
    send(box, "slow.bin", b"half", size=8)
    send(box, "slower.bin", b"", size=4)
    form.upload.click()
    assert form.status.value == waiting.format("2 files")
    assert (form.alert.value, len(svc.exchanges())) == ("", 0)
    box.handle_message({"kind": "slice", "key": "key-slow.bin", "offset": 4}, [b"half"])
    assert form.status.value == waiting.format("1 file")
    form.upload.click()
    assert form.status.value == waiting.format("1 file")
    box.handle_message({"kind": "slice", "key": "key-slower.bin", "offset": 0}, [b"four"])

    assert form.last_error is None
    assert "Done: 3 files uploaded" in form.status.value
    sizes = dict(zip(form.result["name"], form.result["size"], strict=True))
    assert sizes == {"whole.bin": 8, "slow.bin": 8, "slower.bin": 4}


@pytest.mark.spec("W-01", "W-01c", "W-01f")
def test_the_code_does_what_the_form_does(form, box, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "it's.bin").write_bytes(bytes(MIB))
    send(box, "it's.bin", bytes(MIB))
    form.controls.upload_type.value = "resumable"
    form.controls.chunk_size.value = 256 * 1024
    form.controls.name.value = "other.bin"
    form.controls.options.metadata.value = '{"starred": true}'
    form.upload.click()

    assert form.result[["name", "starred"]].values.tolist() == [["other.bin", True]]
    assert (svc.exchanges()["sent"] == 256 * 1024).sum() == 4
    options = "name='other.bin', upload_type='resumable', chunk_size=262144, metadata={'starred': True}"
    assert one_line(form.code()) == f'svc.upload("it\'s.bin", {options})'
    same = ["name", "size", "starred", "mime_type"]
    assert eval(form.code(), {"svc": svc})[same].equals(form.result[same])


@pytest.mark.spec("W-01", "W-01b", "A5-01")
@pytest.mark.parametrize("kind", ["spreadsheet", "auto"])
def test_files_become_documents(form, box, tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.csv").write_bytes(b"a,b\n1,2\n")
    send(box, "table.csv", b"a,b\n1,2\n", mime="application/vnd.ms-excel")
    form.controls.language.value = "de"
    form.controls.target.value = kind
    form.upload.click()

    twin = eval(form.code(), {"svc": svc})

    expected = [["table", "application/vnd.svc-apps.spreadsheet"]]
    assert form.last_error is None
    assert form.code() == f"svc.upload('table.csv', convert_to='{kind}', ocr_language='de')"
    assert form.result[["name", "mime_type"]].values.tolist() == expected
    assert twin[["name", "mime_type"]].values.tolist() == expected


def test_hostile_names_stay_text_everywhere(form, box):
    name = '<img src=x onerror="alert(1)">.txt'
    send(box, name, b"x")
    form.upload.click()
    form.controls.files.path.value = name
    form.upload.click()

    shown = [form.table, form.code_area, form.alert, form.status]
    assert [view.value for view in shown if "<img" in view.value] == []
    assert "<img" not in form._repr_mimebundle_()["text/html"]
