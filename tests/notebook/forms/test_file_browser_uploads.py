import asyncio

import pytest

import svc_notebooks as svc

FOLDER = "application/vnd.svc-apps.folder"


@pytest.fixture
def data(lab):
    return svc.create_file(name="Data", mime_type=FOLDER)


@pytest.fixture
def browser(data):
    return svc.file_browser()


def begin(browser, name, size, key=None):
    content = {"kind": "begin", "key": key or name, "name": name, "size": size, "mime": "text/plain"}
    browser.picker.handle_message(content, [])


def drop(browser, name, body, key=None):
    """Send the messages of the page after a person has dropped a file on the form."""
    begin(browser, name, len(body), key)
    if body:
        browser.picker.handle_message({"kind": "slice", "key": key or name, "offset": 0}, [body])


def contents(folder="root"):
    rows = svc.files(f"'{folder}' in parents and mimeType != '{FOLDER}'", order_by="name")
    return [(name, svc.read(file_id)) for name, file_id in zip(rows["name"], rows["id"], strict=True)]


def test_a_dropped_file_goes_to_the_open_folder(browser, data):
    browser.files.handle_message({"kind": "open", "id": browser.result["id"][0]})
    assert "Data" in browser.location.value
    drop(browser, "plan.txt", b"Feed the ducks.")

    assert contents(data["id"].item()) == [("plan.txt", b"Feed the ducks.")]
    assert browser.last_error is None
    assert "Uploaded 1 file to Data." in browser.status.value
    assert browser.selection[["name", "mime_type"]].values.tolist() == [["plan.txt", "text/plain"]]
    assert browser.picker.files == []


@pytest.fixture
def conflicting(browser):
    """The browser after a person has dropped a file whose name a file of the folder has, and one with a free name."""
    svc.upload(b"old", name="plan.txt")
    begin(browser, "plan.txt", 3)
    begin(browser, "notes.txt", 0)
    browser.picker.handle_message({"kind": "slice", "key": "plan.txt", "offset": 0}, [b"new"])
    return browser


@pytest.mark.parametrize(
    "answer, expected, status",
    [
        ("cancel", [("plan.txt", b"old")], "Cancelled. Not uploaded: 1 file."),
        ("replace", [("plan.txt", b"new")], "Uploaded 1 file to My files."),
        ("keep", [("plan (1).txt", b"new"), ("plan.txt", b"old")], "Uploaded 1 file to My files."),
    ],
)
def test_the_answer_replaces_the_file_or_keeps_both_or_cancels(conflicting, answer, expected, status):
    getattr(conflicting.uploads.question, answer).click()

    assert contents() == [("notes.txt", b""), *expected]
    assert status in conflicting.status.value
    assert conflicting.uploads.question.layout.display == "none"
    assert conflicting.picker.files == []
    assert conflicting.last_error is None


def test_two_files_of_one_name_do_not_replace_the_same_file(conflicting):
    """The second file is uploaded after the first one, and after a question of its own."""
    question = conflicting.uploads.question
    drop(conflicting, "plan.txt", b"newer", key="another folder")
    question.replace.click()
    assert dict(contents())["plan.txt"] == b"new"
    assert [conflict.path.name for conflict in question.conflicts] == ["plan.txt"]
    question.keep.click()
    assert contents() == [("notes.txt", b""), ("plan (1).txt", b"newer"), ("plan.txt", b"new")]

    svc.upload([b"1"] * 23, name=[f"plan ({n}).txt" for n in range(2, 25)])
    drop(conflicting, "plan.txt", b"newest")
    assert question.keep.description == "Save as plan (25).txt", "which no file of the folder has"


def test_an_upload_shows_its_progress_and_can_be_cancelled(browser):
    """Other actions go on meanwhile; files that are dropped during an upload follow it."""
    large = bytes(24 * 2**20)

    async def scene():
        drop(browser, "zeros.bin", large)
        assert browser.busy
        assert browser.uploads.work.layout.display is None
        browser.refresh_button.click()
        assert browser.alert.value == ""
        drop(browser, "later.txt", b"later")
        browser.uploads.work.cancel.click()
        while browser.busy:
            await asyncio.sleep(0.01)

    asyncio.run(scene())

    assert contents() == [("later.txt", b"later")]
    assert browser.last_error is None
