import asyncio
from pathlib import Path

import pytest

import svc_notebooks as svc
from svc_notebooks.forms.file_browser.browser import FileBrowser
from svc_notebooks.forms.file_browser.listing import EVERYWHERE, HERE, PAGE_SIZE, QUERY, SHARED, TEXT, TRASH
from tests.notebook.one_line import one_line

FOLDER = "application/vnd.svc-apps.folder"


@pytest.fixture
def files(lab):
    data = svc.create_file(name="Data", mime_type=FOLDER)
    svc.upload(b"a,b\n1,2\n", name="table.csv", metadata={"parents": [data["id"].item()]})
    svc.upload(b"hello, birds", name="hello <b>.txt", metadata={"description": "Coots and other birds"})
    svc.upload(b"\x89PNG\r\n", name="photo.bin")
    return svc.files()


@pytest.fixture
def browser(lab, files):
    return FileBrowser(lab.session)


def names(browser):
    return browser.result["name"].tolist()


def choose(browser, *names):
    rows = browser.result
    browser.files.chosen = rows[rows["name"].isin(names)]["id"].tolist()


@pytest.mark.spec("D-01")
def test_the_list_begins_with_the_folders_of_my_files(browser):
    assert names(browser) == ["Data", "hello <b>.txt", "photo.bin"]
    assert browser.code() == "svc.files(\"'root' in parents and trashed = false\", order_by='folder,name_natural')"
    assert browser.last_error is None
    assert repr(browser) == browser._repr_mimebundle_()["text/plain"] == "<FileBrowser: My files, 3 files>"
    assert "hello &lt;b&gt;.txt" in browser._repr_mimebundle_()["text/html"], "a page without a kernel shows the list"


def test_a_folder_is_opened_and_left(browser):
    choose(browser, "Data")
    browser.open.click()
    assert names(browser) == ["table.csv"]
    assert "My files / Data" in browser.location.value

    browser.up.click()
    assert names(browser)[0] == "Data"
    browser.up.click()
    assert "no parent folder" in browser.alert.value


@pytest.mark.parametrize(
    "place, way, words,expected",
    [
        (EVERYWHERE, "name", "table", ["table.csv"]),
        (HERE, "name", "table", []),
        (EVERYWHERE, TEXT, "birds", ["hello <b>.txt"]),
        (HERE, QUERY, "mimeType = 'text/csv'", ["table.csv"]),
        (TRASH, "name", "", ["photo.bin"]),
        (SHARED, "name", "", ["from bob"]),
        (EVERYWHERE, "name", "it's", []),
    ],
)
def test_searching(lab, browser, place, way, words, expected):
    svc.trash(svc.files("name = 'photo.bin'"))
    bob = lab.sign_in("bob@svc.example")
    svc.share(svc.upload(b"x", name="from bob", session=bob), "ada@svc.example", session=bob)

    browser.search.scope.value, browser.search.field.value, browser.search.text.value = place, way, words

    assert names(browser) == expected
    assert browser.last_error is None
    assert eval(browser.code(), {"svc": svc})["name"].tolist() == expected


def pages(browser):
    return browser.listing.pager.text.replace("\N{EN DASH}", "-")


def test_pages(lab):
    svc.upload([b"x"] * (PAGE_SIZE + 3), name=[f"{n:02}.txt" for n in range(PAGE_SIZE + 3)])
    before = len(svc.exchanges())
    browser = svc.file_browser()
    assert len(browser.result) == PAGE_SIZE
    assert (pages(browser), len(svc.exchanges()) - before) == ("1-50 of more than 50", 1)

    browser.next.click()
    assert names(browser) == ["50.txt", "51.txt", "52.txt"]
    assert pages(browser) == "51-53 of 53"
    browser.next.click()
    assert "no next page" in browser.alert.value
    browser.before.click()
    assert names(browser)[0] == "00.txt"
    assert pages(browser) == "1-50 of more than 50"


def ask(browser, key, **fields):
    browser.ask[key].click()
    for name, value in fields.items():
        getattr(browser.question, name).value = value
    code = browser.code()
    browser.question.yes.click()
    assert browser.last_error is None
    assert browser.code() == code
    return one_line(code)


def test_a_new_folder_and_a_move(browser):
    code = ask(browser, "folder", name="Later")
    assert code == f"svc.create_file(name='Later', mime_type='{FOLDER}', parents=['root'])"
    assert "Created the folder Later." in browser.status.value

    svc.create_folder("2026", parent=svc.files("name = 'Data'"))
    choose(browser, "photo.bin", "hello <b>.txt")
    browser.ask["move"].click()
    folders = dict(browser.question.folder.options)
    assert list(folders) == ["Data", "Data / 2026", "Later"], "not where they are"
    code = ask(browser, "move", folder=folders["Data / 2026"])
    assert names(browser) == ["Data", "Later"]
    assert "Moved 2 files to Data / 2026." in browser.status.value
    assert eval(code, {"svc": svc})["parents"].tolist() == [[folders["Data / 2026"]]] * 2


def test_the_details_have_the_link_and_who_has_access(lab, browser):
    svc.share(browser.result.query("name == 'photo.bin'"), "bob@svc.example")
    browser.refresh_button.click()
    choose(browser, "photo.bin")
    before = browser.about.facts.value
    with lab.serve() as server:
        browser.refresh_button.click()
        choose(browser, "photo.bin")
        browser.ask["share"].click()

        assert "Call lab.serve() for a link that opens" in before
        assert f'<a href="{server.base_url}/file/d/' in browser.about.facts.value
        assert "Copy link</button>" in browser.about.facts.value
        for html in (browser.about.facts.value, browser.question.head.value):
            assert "ada@svc.example (owner), bob@svc.example (reader)" in html


@pytest.mark.parametrize(
    "press, code, listed",
    [
        (lambda b: b.share("bob@svc.example", role="writer"), "share({}, 'bob@svc.example', role='writer')", 3),
        (lambda b: b.share(["a@b.c", "d@e.f"]), "share({}, ['a@b.c', 'd@e.f'], role='reader')", 3),
        (lambda b: b.rename("b.bin"), "update({}, name='b.bin')", 3),
        (lambda b: b.move("Data"), "move({}, to='DATA')", 2),
        (lambda b: b.copy("b.bin"), "copy({}, 'b.bin')", 4),
        (lambda b: b.trash(), "trash({})", 2),
        (lambda b: b.delete(), "delete({})", 2),
        (lambda b: b.download(), "download({})", 3),
        (lambda b: b.download(Path("b.bin"), byte_range="0-1"), "download({}, 'b.bin', byte_range='bytes=0-1')", 3),
    ],
)
def test_a_method_fills_and_confirms_the_dialog_of_a_button(browser, press, code, listed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data, file = (svc.files(f"name = '{name}'")["id"].item() for name in ("Data", "photo.bin"))
    choose(browser, "photo.bin")

    press(browser)

    assert one_line(browser.code()) == "svc." + code.format(repr(file)).replace("DATA", data)
    assert (len(browser.result), browser.question.is_open) == (listed, False)


@pytest.mark.parametrize(
    "press, words",
    [
        (lambda b: b.share("bob"), "Share with has 'bob'"),
        (lambda b: b.share("bob@svc.example", role="owner"), "role is 'owner'"),
        (lambda b: b.move("Later"), "no folder 'Later'"),
        (lambda b: b.download(), r"photo.bin exists with other content; .*keep\(\) saves photo \(1\).bin"),
    ],
)
def test_a_method_raises_the_error_of_the_form(browser, press, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("photo.bin").write_bytes(b"mine")
    choose(browser, "photo.bin")

    with pytest.raises((ValueError, svc.NotFound), match=words):
        press(browser)
    assert Path("photo.bin").read_bytes() == b"mine"


def test_download_trash_restore_and_delete_which_asks_first(browser):
    saved = []
    browser.browser_download.save = lambda *file: saved.append(file)
    choose(browser, "hello <b>.txt")
    ask(browser, "download", target="browser")
    assert saved == [("hello <b>.txt", "text/plain", b"hello, birds")]

    choose(browser, "photo.bin")
    browser.trash.click()
    assert "photo.bin" not in names(browser)
    assert browser.code().startswith("svc.trash('")
    browser.search.scope.value = TRASH
    choose(browser, "photo.bin")
    browser.untrash.click()
    assert names(browser) == []
    assert not svc.files("name = 'photo.bin'")["trashed"].item()

    browser.search.scope.value = HERE
    choose(browser, "photo.bin")
    browser.ask["delete"].click()
    assert "photo.bin" in browser.question.head.value
    browser.question.no.click()
    assert len(svc.files("name = 'photo.bin'")) == 1
    ask(browser, "delete")
    assert len(svc.files("name = 'photo.bin'")) == 0


def test_previews_of_text_a_table_and_a_document(lab, browser):
    svc.upload(b"<h1>Birds</h1>", name="Birds", mime_type="text/html", convert_to="document")
    browser.refresh()
    for name, shown, code in (
        ("hello <b>.txt", "hello, birds", "svc.read('"),
        ("Birds", "srcdoc", "svc.export('"),
        ("photo.bin", "has no preview", "svc.read('"),
    ):
        choose(browser, name)
        browser.open.click()
        assert shown in browser.view.value
        assert browser.code().startswith(code)


@pytest.mark.parametrize(
    "press, words",
    [
        (lambda b: b.open.click(), "No file is selected"),
        (lambda b: b.trash.click(), "No file is selected"),
        (lambda b: b.ask["share"].click(), "No file is selected"),
        (lambda b: (b.ask["folder"].click(), b.question.yes.click()), "Name is empty"),
        (lambda b: (choose(b, "Data", "photo.bin"), b.ask["rename"].click()), "Several files are selected"),
        (lambda b: (choose(b, "Data"), b.ask["share"].click(), b.question.yes.click()), "Share with is empty"),
    ],
)
def test_a_click_without_effect_shows_a_message(browser, press, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    press(browser)

    assert words in browser.alert.value
    assert 'role="alert"' in browser.alert.value


async def settled(browser):
    while browser.busy:
        await asyncio.sleep(0.01)


def test_a_download_runs_in_a_thread_and_can_be_cancelled(lab, tmp_path):
    """In a loop the kernel stays free; what has come before Cancel is kept, and the same download goes on from it."""
    svc.upload(bytes(24 * 2**20), name="zeros.bin", progress=False)

    async def scene():
        browser = svc.file_browser()
        choose(browser, "zeros.bin")
        browser.ask["download"].click()
        browser.question.path.value = str(tmp_path)
        browser.question.yes.click()
        assert browser.busy
        browser.trash.click()
        assert "A task is running" in browser.alert.value
        browser.work.cancel.click()
        await settled(browser)
        return browser

    browser = asyncio.run(scene())
    assert "Cancelled" in browser.status.value
    assert not (tmp_path / "zeros.bin").exists()
    assert svc.download(svc.files(), tmp_path, progress=False)["size"].tolist() == [24 * 2**20]
    assert Path(tmp_path / "zeros.bin").exists()


def test_a_path_with_other_content_is_asked_about(browser, tmp_path):
    path = tmp_path / "photo.bin"
    path.write_bytes(b"mine")
    choose(browser, "photo.bin")
    browser.ask["download"].click()
    browser.question.path.value = str(tmp_path)
    browser.question.yes.click()
    question = browser.downloads.replace

    assert question.layout.display is None
    assert "photo.bin exists with other content." in question.head.value
    for text in ("Existing file", "New file", "4 bytes", "6 bytes", "2026-01-05 09:00 UTC", "application/octet-stream"):
        assert text in question.files.value
    buttons = [question.replace, question.keep, question.cancel]
    assert [button.description for button in buttons] == ["Replace", "Save as photo (1).bin", "Cancel"]
    assert "Not saved: 1 file." in browser.status.value
    assert path.read_bytes() == b"mine"
    assert "overwrite" not in browser.code()


@pytest.mark.parametrize(
    "column, first, second",
    [
        ("name", ["Data", "scan 10.txt", "scan 9.txt"], ["Data", "scan 9.txt", "scan 10.txt"]),
        ("size", ["scan 10.txt", "scan 9.txt", "Data"], ["Data", "scan 9.txt", "scan 10.txt"]),
        ("changed", ["Data", "scan 9.txt", "scan 10.txt"], ["scan 10.txt", "scan 9.txt", "Data"]),
    ],
)
def test_a_heading_sorts_and_reverses(lab, column, first, second):
    svc.upload([b"bb", b"a"], name=["scan 10.txt", "scan 9.txt"])
    lab.clock.advance(60)
    svc.update(svc.files("name = 'scan 9.txt'"), starred=True)
    lab.clock.advance(60)
    svc.create_file(name="Data", mime_type=FOLDER)
    browser = svc.file_browser()
    assert names(browser) == ["Data", "scan 9.txt", "scan 10.txt"], "numbers in names are sorted as numbers"
    orders = []
    for _ in range(2):
        browser.files.handle_message({"kind": "sort", "column": column})
        orders.append((names(browser), browser.files.order["column"], browser.files.order["descending"]))
        assert eval(browser.code(), {"svc": svc})["name"].tolist() == names(browser)

    assert orders == [(first, column, True), (second, column, False)]


def test_a_second_click_on_next_while_the_page_loads_shows_no_wrong_page(lab):
    svc.upload([b""] * 130, name=[f"{n:03}.txt" for n in range(130)], progress=False)

    async def scene():
        with lab.serve() as server:
            browser = svc.file_browser(session=svc.connect(server.base_url, token=lab.access_token))
            await settled(browser)
            browser.next.click()
            browser.next.click()
            error = str(browser.last_error)
            await settled(browser)
            second = pages(browser), names(browser)[0]
            browser.next.click()
            await settled(browser)
            return error, second, pages(browser), names(browser)[0]

    error, second, third, first_name = asyncio.run(scene())

    assert error == "There is no next page, or the page is loading."
    assert (second[0].split(" of ")[0], second[1]) == ("51-100", "050.txt")
    assert (third, first_name) == ("101-130 of 130", "100.txt")


FOR_ONE = {"open", "download", "rename", "share", "trash", "move", "copy", "replace", "delete"}


@pytest.mark.parametrize(
    "chosen, expected",
    [
        ((), set()),
        (("photo.bin",), FOR_ONE),
        (("photo.bin", "hello <b>.txt"), FOR_ONE - {"open", "rename", "replace"}),
        (("Data",), FOR_ONE - {"copy", "replace"}),
        (("Data", "photo.bin"), FOR_ONE - {"open", "rename", "replace"}),
    ],
)
def test_buttons_that_can_do_nothing_are_disabled(lab, files, chosen, expected):
    browser = svc.file_browser()
    choose(browser, *chosen)

    enabled = {key for key, button in browser.toolbar.buttons.items() if not button.disabled}
    assert enabled == {"folder", *expected}
    assert browser.up.disabled


def test_a_closed_browser_requests_nothing(lab, files):
    async def scene():
        browser = svc.file_browser()
        browser.search.text.value = "h"
        before = len(svc.exchanges())
        browser.close()
        assert not browser.busy
        return len(svc.exchanges()) - before

    assert asyncio.run(scene()) == 0


def test_over_a_network_the_kernel_stays_free(lab, files):
    """Lists, actions and uploads run in threads; each shows its result in the end."""
    session = svc.connect(lab.serve().base_url, lab.service.sign_in())

    async def scene():
        browser = svc.file_browser(session=session)
        assert (names(browser), browser.busy) == ([], True)
        await settled(browser)
        browser.search.text.value = "photo"
        assert browser.busy
        await settled(browser)
        assert names(browser) == ["photo.bin"]
        choose(browser, "photo.bin")
        browser.trash.click()
        browser.search.text.value = ""  # the person goes on before the action has ended
        assert browser.busy
        await settled(browser)
        seen = [names(browser), browser.status.value]
        browser.picker.handle_message({"kind": "begin", "key": "k", "name": "new.txt", "size": 0, "mime": ""}, [])
        assert browser.busy
        await settled(browser)
        return [*seen, browser.selection["name"].tolist(), browser.status.value, browser.last_error]

    listed, trashed, selected, uploaded, error = asyncio.run(scene())

    assert listed == ["Data", "hello <b>.txt"]
    assert "Moved 1 file to the trash." in trashed
    assert selected == ["new.txt"]
    assert "Uploaded 1 file to My files." in uploaded
    assert error is None
