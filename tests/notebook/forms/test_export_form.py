"""The export form without a browser. Tests set controls, click buttons and send the messages of a browser."""

import asyncio
import importlib.util
import time
import zipfile
from pathlib import Path
from threading import Event, Thread

import pytest

import svc_notebooks as svc
from svc_notebooks.core.policy import Policy
from svc_notebooks.forms.export.form import ExportForm
from svc_notebooks.forms.widgets.download_widget import DownloadWidget
from svc_notebooks.forms.widgets.file_download import LARGEST_LINK, LinkDownload
from svc_notebooks.forms.widgets.preview import MAX_SIZE, preview
from tests.patience import PATIENCE

PAGE = "<h1>Ponds</h1><p>Rīga, 東京</p>".encode()
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><rect width="40" height="20" fill="teal"/></svg>'


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
        controls.document.chooser.value = document["id"].item()
    if extension is not None:
        controls.format.value = next(kind for label, kind in controls.format.options if f"(.{extension})" in label)


@pytest.mark.spec("W-02", "W-02a")
def test_documents_are_listed_newest_first_and_nothing_else(lab, page, table):
    svc.upload(b"plain", name="plain.txt")
    svc.trash(svc.upload(b"gone", name="gone.txt", convert_to="document"))

    form = svc.export_form()

    assert [label.split(" (")[0] for label, _ in form.controls.document.chooser.options] == ["birds.csv", "ponds.html"]
    assert form.controls.document.chooser.options[0][0] == "birds.csv (spreadsheet, 2026-01-05 10:00 UTC)"


@pytest.mark.spec("W-02", "W-02b", "A7-05", "A7-05b")
def test_only_formats_of_the_document_are_listed(form, page, table):
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
    assert form.bar.text == "Done: birds.csv, 21 bytes, saved as birds.csv"
    assert repr(form) == "<ExportForm: 1 file exported>"


@pytest.mark.spec("W-02", "W-02c")
@pytest.mark.parametrize("path,made", [("other.txt", "other.txt"), ("sub", "sub/ponds.txt")])
def test_a_path_or_a_folder(form, page, tmp_path, path, made):
    (tmp_path / "sub").mkdir()
    choose(form, page, "txt")
    form.controls.path.value = path

    form.export.click()

    assert "Rīga, 東京" in (tmp_path / made).read_text(encoding="utf-8-sig")


@pytest.mark.spec("W-02", "W-02c")
def test_the_code_does_what_the_form_does(form, table, tmp_path):
    choose(form, table, "tsv")
    form.controls.path.value = "out.tsv"
    form.export.click()
    (tmp_path / "out.tsv").unlink()

    twin = eval(form.code(), {"svc": svc})

    assert form.code() == f"svc.export('{table['id'].item()}', 'tsv', 'out.tsv')"
    assert twin[list(form.result)].equals(form.result)
    assert (tmp_path / "out.tsv").exists()


def test_the_code_has_the_media_type_if_two_formats_share_an_extension():
    with svc.sandbox(policy=Policy(extended_formats=True)):
        form = svc.export_form(svc.upload(b"a", name="a.csv", convert_to="spreadsheet"))
        codes = set()
        for _label, kind in form.controls.format.options:
            form.controls.format.value = kind
            codes.add(form.code())

        assert len(codes) == len(form.controls.format.options)
        assert any("vnd.oasis.opendocument.spreadsheet'" in code for code in codes)


def sent(widget):
    """What the browser would get: the facts, and the slices put together."""
    messages = []
    widget.send = lambda content, buffers=(): messages.append((content, b"".join(map(bytes, buffers))))
    return messages


@pytest.mark.spec("W-02", "W-02c")
def test_a_browser_download(form, table, tmp_path):
    messages = sent(form.browser_download)
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
    assert "sending to the browser" in form.bar.text
    form.browser_download.taken = begun["n"]
    assert form.bar.text.endswith("received by the browser")


def test_a_browser_that_has_the_file_at_once_is_shown_to_have_it(form, table):
    """The message of the browser comes in another thread of the kernel, before the form shows that the file is sent."""
    choose(form, table, "xlsx")
    form.controls.target.value = "browser"
    widget, threads = form.browser_download, []

    def take(content, buffers=()):
        if content["kind"] == "save":
            threads.append(Thread(target=setattr, args=(widget, "taken", content["n"])))
            threads[-1].start()
            threads[-1].join(0.2)  # long enough for a thread that does not wait

    widget.send = take

    form.export.click()

    threads[0].join(PATIENCE)
    assert form.bar.text.endswith("received by the browser")


def test_large_results_go_in_slices():
    widget = DownloadWidget()
    messages = sent(widget)

    widget.save("big.bin", "application/octet-stream", bytes(2_500_000))

    assert [len(data) for _, data in messages] == [0, 1_048_576, 1_048_576, 402_848]


@pytest.mark.spec("W-02", "W-02c")
def test_without_anywidget_small_results_are_a_link(lab, page, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    form = ExportForm(make_download=LinkDownload)
    choose(form, page, "txt")
    form.controls.target.value = "browser"

    form.export.click()

    assert 'download="ponds.txt"' in form.browser_download.value
    assert "click the link" in form.bar.text
    with pytest.raises(ValueError, match="Install anywidget, or save the file in the notebook folder"):
        form.browser_download.save("big.bin", "application/octet-stream", bytes(LARGEST_LINK + 1))


@pytest.mark.parametrize(
    "extension,words",
    [("txt", "東京"), ("html", "sandbox"), ("zip", "<li>"), ("docx", "has no preview here")],
)
def test_a_preview_saves_nothing(form, page, tmp_path, extension, words):
    choose(form, page, extension)

    form.preview.click()

    assert form.last_error is None
    assert words in form.view.value
    assert (list(tmp_path.iterdir()), len(form.result)) == ([], 0)
    assert "nothing was saved" in form.bar.text


def test_a_pdf_is_shown_by_the_browser(form, table):
    choose(form, table, "pdf")
    messages = sent(form.browser_download)

    form.preview.click()

    assert [content["kind"] for content, _ in messages] == ["clear", "show", "slice"]
    assert messages[-1][1].startswith(b"%PDF-")


def test_another_document_clears_the_preview(form, page, table):
    choose(form, table, "csv")
    form.preview.click()
    assert "<table" in form.view.value

    choose(form, page)

    assert form.view.value == ""


def test_the_messages_of_an_export_vanish_when_a_control_changes(form, table):
    choose(form, table, "csv")
    form.preview.click()
    form.controls.path.value = "nowhere/at/all.csv"
    assert form.bar.text == "Idle"
    assert "<table" in form.view.value, "the preview of the same format stays"
    form.export.click()
    assert "the folder does not exist" in form.alert.value
    form.controls.path.value = ""
    assert form.alert.value == ""
    form.export.click()
    form.refresh()
    assert form.bar.text.startswith("Done: birds.csv"), "nothing has changed"
    choose(form, extension="tsv")

    assert (form.bar.text, form.view.value) == ("Idle", "")
    assert "birds.csv" in form.table.value, "what was exported stays"


@pytest.mark.parametrize("extension", ["png", "jpg", "svg"])
def test_a_drawing_is_shown_as_a_picture(lab, extension):
    form = svc.export_form(svc.upload(SVG, name="teal.svg", convert_to="drawing"))
    choose(form, extension=extension)

    form.preview.click()

    assert '<img src="data:image/' in form.view.value


HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>"


@pytest.mark.parametrize(
    "kind", ["text/plain", "text/csv", "text/tab-separated-values", "application/json", "text/html"]
)
def test_a_hostile_export_stays_text_or_in_its_frame(kind):
    view = preview(kind, HOSTILE.encode())

    assert "<img" not in view
    assert "<script" not in view
    if kind == "text/html":
        assert 'sandbox=""' in view
        assert "default-src" in view


def test_a_long_preview_is_cut_with_a_note(tmp_path):
    with zipfile.ZipFile("many.zip", "w") as archive:
        for n in range(60):
            archive.writestr(f"{n}.txt", "x")

    assert "more bytes" in preview("text/plain", b"x" * 10_000_000)
    assert "more bytes" in preview("text/csv", b"x" * 200_000), "one cell, larger than csv takes"
    assert "and 150 more rows" in preview("text/csv", b"a\r\n" * 200)
    assert "and 10 more columns" in preview("text/csv", b",".join([b"a"] * 30))
    assert "and 10 more files" in preview("application/zip", (tmp_path / "many.zip").read_bytes())
    assert "not shown here" in preview("image/png", bytes(MAX_SIZE + 1))
    assert "not shown here" in preview("text/html", bytes(MAX_SIZE + 1))
    assert "cannot be read" in preview("application/zip", b"PK")


def test_the_kernel_handles_other_messages_during_an_export(form, table, monkeypatch):
    choose(form, table, "csv")
    handle = form._session or svc.current_session()
    send = handle.send

    def slow(request, *bound):
        time.sleep(0.3 if "/export" in request.url else 0)
        return send(request, *bound)

    monkeypatch.setattr(handle, "send", slow)

    async def press():
        form.export.click()
        form.export.click()
        assert "is running" in form.alert.value
        turns = 0
        while form.busy:
            turns += 1
            await asyncio.sleep(0.01)
        return turns

    assert asyncio.run(press()) > 10
    assert len(form.result) == 1


@pytest.mark.spec("W-02", "W-02c")
@pytest.mark.parametrize("target", ["kernel", "browser"])
def test_an_export_that_is_cancelled_saves_nothing(form, table, monkeypatch, target):
    choose(form, table, "csv")
    form.controls.target.value = target
    answered = Event()
    send = svc.current_session().send
    monkeypatch.setattr(svc.current_session(), "send", lambda *sent: answered.wait(PATIENCE) and send(*sent))

    async def scene():
        form.export.click()
        form.cancel.click()
        status = form.bar.text
        answered.set()
        await form.work._task
        return status

    assert asyncio.run(scene()).startswith("Stopping")
    assert form.bar.text == "Cancelled: nothing was saved"
    assert form.last_error is None
    assert form.result.empty
    assert not list(Path().iterdir())
    form.cancel.click()
    assert "Nothing is running" in form.alert.value
    form.export.click()
    assert form.bar.text.startswith("Done: ")


def test_the_error_message_of_the_service_is_shown(page, table):
    form = svc.export_form(page)
    choose(form, extension="txt")
    svc.delete(page)

    form.export.click()

    assert type(form.last_error).__name__ == "NotFound"
    assert 'role="alert"' in form.alert.value
    assert "File not found" in form.alert.value
    assert form.bar.text == "Failed"


def test_a_missing_folder_is_reported_and_nothing_is_exported(form):
    form.export.click()
    assert form.bar.text.startswith("Done: ")
    form.controls.path.value = "nowhere/at/all.pdf"

    form.export.click()

    assert "the folder does not exist" in form.alert.value
    assert form.bar.text == "Idle"


def test_nothing_to_export_yet(lab):
    form = svc.export_form()
    assert "There is no native document yet" in form.controls.document.note.value
    form.export.click()
    assert "No document is selected" in form.alert.value

    svc.upload(PAGE, name="ponds.html", convert_to="document")
    form.controls.document.refresh.click()

    assert form.controls.document.note.value == ""
    assert form.controls.format.layout.display is None
    assert formats(form)


def test_refreshing_keeps_the_selection(form, page, lab):
    choose(form, page, "epub")
    lab.clock.advance("1h")
    svc.upload(b"newer", name="newer.txt", convert_to="document")

    form.controls.document.refresh.click()

    assert form.controls.document.facts["name"] == "ponds.html"
    assert form.controls.format.value == "application/epub+zip"


def test_without_a_session_the_form_explains_what_to_do():
    form = svc.export_form()

    assert "There is no session yet" in form.alert.value


def test_a_file_that_is_not_a_document_is_refused(lab):
    with pytest.raises(
        svc.NotAllowed, match=r"plain\.txt has the type text/plain, which cannot be exported\. Use download"
    ):
        svc.export_form(svc.upload(b"x", name="plain.txt"))


def test_hostile_names_stay_text_everywhere(lab, tmp_path):
    name = '<img src=x onerror="alert(1)">.txt'
    form = svc.export_form(svc.upload(b"x", name=name, mime_type="text/plain", convert_to="document"))
    choose(form, extension="txt")
    form.export.click()
    form.preview.click()

    shown = [form.table, form.code_area, form.alert, form.view, form.controls.document.note, *form.bar.children]
    assert form.last_error is None
    assert [view.value for view in shown if "<img" in view.value] == []
    assert "<img" not in form._repr_mimebundle_()["text/html"]
    assert [path.name for path in tmp_path.iterdir()] == ["_img src=x onerror=_alert(1)__.txt"]


def test_a_page_without_a_kernel_shows_what_the_form_is(form):
    bundle = form._repr_mimebundle_()

    assert bundle["text/plain"] == "<ExportForm: nothing exported yet>"
    assert "svc.export(" in bundle["text/html"]


@pytest.mark.spec("W-05", "W-05b")
def test_every_control_has_a_label_and_a_tooltip(form):
    controls = form.controls
    every = [controls.document.chooser, controls.document.refresh, controls.format, controls.target, controls.path]
    every += [form.export, form.preview]

    assert all(control.description and control.tooltip for control in every)


def test_anywidget_is_preferred_for_downloads(form):
    assert isinstance(form.browser_download, DownloadWidget)


# -- an export to a path that is taken


def test_an_export_with_equal_content_is_unchanged(form, table, tmp_path):
    choose(form, table, "csv")
    form.export.click()
    before = (tmp_path / "birds.csv").stat()
    form.export.click()

    assert form.result["outcome"].tolist() == ["saved", "unchanged"]
    assert form.bar.text == "Unchanged: birds.csv already has this content, 21 bytes"
    after = (tmp_path / "birds.csv").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


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
    assert form.bar.text == "Not saved: birds.csv exists with other content"
    assert form.cancel.description != form.question.cancel.description
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


def test_another_export_closes_the_question(form, table, tmp_path):
    (tmp_path / "birds.csv").write_bytes(b"mine")
    choose(form, table, "csv")
    form.export.click()
    choose(form, table, "tsv")

    assert form.question.layout.display == "none"
    form.question.replace.click()
    assert (tmp_path / "birds.csv").read_bytes() == b"mine"


def test_a_folder_with_the_name_of_the_export_is_an_error(form, table, tmp_path):
    (tmp_path / "birds.csv").mkdir()
    choose(form, table, "csv")
    sent = len(svc.exchanges())
    form.export.click()

    assert "is a folder, and a file cannot replace a folder" in form.alert.value
    assert len(svc.exchanges()) == sent
