import asyncio

import pytest

import svc_notebooks as svc

FOLDER = "application/vnd.svc-apps.folder"


@pytest.fixture
def files(lab):
    data = svc.create_file(name="Data", mime_type=FOLDER)
    svc.upload(b"a,b\n1,2\n", name="table.csv", metadata={"parents": [data["id"].item()]})
    svc.upload(b"hello, birds", name="hello <b>.txt", metadata={"description": "Coots and other birds"})
    svc.upload(b"\x89PNG\r\n", name="photo.bin")
    return svc.files()


def names(browser):
    return browser.result["name"].tolist()


def choose(browser, *names):
    rows = browser.result
    browser.files.chosen = rows[rows["name"].isin(names)]["id"].tolist()


def pages(browser):
    return browser.listing.pager.text.replace("\N{EN DASH}", "-")


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


def test_a_large_folder_is_listed_with_one_request(lab):
    svc.upload([b""] * 60, name=[f"{n:03}.txt" for n in range(60)], progress=False)
    before = lab.session.exchanges.last

    browser = svc.file_browser()

    assert (pages(browser), len(svc.exchanges()) - before) == ("1-50 of more than 50", 1)


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

    async def settled(browser):
        while browser.busy:
            await asyncio.sleep(0.01)

    error, second, third, first_name = asyncio.run(scene())

    assert error == "There is no next page, or the page is loading."
    assert (second[0].split(" of ")[0], second[1]) == ("51-100", "050.txt")
    assert (third, first_name) == ("101-130 of 130", "100.txt")


def enabled(browser):
    return {key for key, button in browser.toolbar.buttons.items() if not button.disabled}


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

    assert enabled(browser) == {"folder", *expected}
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

    async def settle(browser):
        assert browser.busy
        while browser.busy:
            await asyncio.sleep(0.01)

    async def scene():
        browser = svc.file_browser(session=session)
        assert names(browser) == []
        await settle(browser)
        browser.search.text.value = "photo"
        await settle(browser)
        assert names(browser) == ["photo.bin"]
        choose(browser, "photo.bin")
        browser.trash.click()
        browser.search.text.value = ""  # the person goes on before the action has ended
        await settle(browser)
        seen = [names(browser), browser.status.value]
        browser.picker.handle_message({"kind": "begin", "key": "k", "name": "new.txt", "size": 0, "mime": ""}, [])
        await settle(browser)
        return [*seen, browser.selection["name"].tolist(), browser.status.value, browser.last_error]

    listed, trashed, selected, uploaded, error = asyncio.run(scene())

    assert listed == ["Data", "hello <b>.txt"]
    assert "Moved 1 file to the trash." in trashed
    assert selected == ["new.txt"]
    assert "Uploaded 1 file to My files." in uploaded
    assert error is None
