"""The file browser in a real JupyterLab: other content, a part of a file, flagged files, viewers who may not copy."""

import pytest

from tests.browser.keyboard import tab_to

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]

CELL = """
import svc_notebooks as svc
lab = svc.sandbox()
plan = svc.upload(b"Feed the ducks on Monday.", name="plan.txt")
evil = svc.upload(b"not for everybody", name="evil.txt")
lab.flag(evil)
browser = svc.file_browser()
browser
"""


@pytest.fixture
def opened(lab):
    lab.write("content.ipynb", CELL)
    page = lab.run("content.ipynb")
    row(page, "plan.txt").wait_for()
    page.set_viewport_size({"width": 1280, "height": 1500})
    return page


def row(page, name):
    return page.get_by_role("grid", name="Files").get_by_role("row").filter(has_text=name)


def press(page, name):
    page.get_by_role("button", name=name, exact=True).click()


def focused(page, role, name):
    page.get_by_role(role, name=name, exact=True).and_(page.locator(":focus")).wait_for()


def says(page, words):
    page.get_by_role("status").get_by_text(words).first.wait_for()


def files(lab):
    return {path.name: path.read_bytes() for path in lab.folder.iterdir() if path.suffix == ".txt"}


@pytest.mark.spec("W-05", "W-05c", "A1-04")
def test_content_from_this_computer(lab, opened, axe):
    page = opened
    row(page, "plan.txt").click()
    page.get_by_text("Details of plan.txt").wait_for()
    press(page, "More")
    press(page, "Replace content")
    page.get_by_label("Choose files").set_input_files(
        {"name": "May.txt", "mimeType": "text/plain", "buffer": b"Feed the ducks on Tuesday, too."}
    )
    page.get_by_text("1 of 1 ready to upload").wait_for()
    page.locator("pre", has_text="The content came from this computer.").wait_for()
    assert axe(page) == []
    lab.screenshot(page, "content-1-replace")
    page.locator(".svc-question:visible").get_by_role("button", name="Replace content").click()
    says(page, "Replaced the content of plan.txt.")
    page.locator(".svc-facts").get_by_text("31 bytes").wait_for()
    lab.screenshot(page, "content-2-replaced")

    assert lab.run_code(page, "print(svc.read(plan), browser.last_error)") == "b'Feed the ducks on Tuesday, too.' None"


@pytest.mark.spec("W-05", "W-05c", "A6-02", "A6-02a")
def test_a_part_by_keyboard(lab, opened, axe):
    page = opened
    row(page, "plan.txt").click()
    page.get_by_text("Details of plan.txt").wait_for()
    tab_to(page, "button", "Download")
    page.keyboard.press("Enter")
    tab_to(page, "button", "More options")
    page.keyboard.press("Enter")
    tab_to(page, "textbox", "First byte")
    page.keyboard.type("25")
    tab_to(page, "button", "Save")
    page.keyboard.press("Enter")
    page.get_by_role("alert").get_by_text("the first byte must be 24 or less").wait_for()
    focused(page, "textbox", "First byte")
    assert axe(page) == []
    lab.screenshot(page, "content-3-part")
    page.keyboard.press("Control+a")
    page.keyboard.type("5")
    tab_to(page, "textbox", "Last byte")
    page.keyboard.type("13")
    tab_to(page, "button", "Save")
    page.keyboard.press("Enter")
    says(page, "Saved 1 file.")

    assert files(lab) == {"plan.txt": b"the ducks"}
    lab.screenshot(page, "content-4-part-saved")


@pytest.mark.spec("W-05", "W-05c", "A6-04", "A6-04a")
def test_a_flagged_file_is_asked_about(lab, opened, axe):
    page = opened
    row(page, "evil.txt").click()
    page.get_by_text("Details of evil.txt").wait_for()
    press(page, "Open")
    page.get_by_text("evil.txt was flagged as abusive.").wait_for()
    focused(page, "button", "Cancel")
    lab.screenshot(page, "content-5-flagged-look")
    page.keyboard.press("Escape")
    says(page, "evil.txt was not fetched.")
    assert page.locator(".svc-form").get_by_text("not for everybody").count() == 0

    press(page, "Download")
    press(page, "Save")
    page.get_by_text("evil.txt was flagged as abusive.").wait_for()
    focused(page, "button", "Cancel")
    assert axe(page) == []
    lab.screenshot(page, "content-6-flagged")
    page.keyboard.press("Enter")
    says(page, "Cancelled. The flagged files were not downloaded.")
    focused(page, "button", "Download")
    assert files(lab) == {}

    page.keyboard.press("Enter")
    press(page, "Save")
    page.get_by_text("evil.txt was flagged as abusive.").wait_for()
    page.keyboard.press("Shift+Tab")
    focused(page, "button", "Download anyway")
    page.keyboard.press("Enter")
    says(page, "Saved 1 file.")
    page.locator("pre", has_text="acknowledge_abuse=True").wait_for()
    assert files(lab) == {"evil.txt": b"not for everybody"}
    assert lab.run_code(page, "print(browser.last_error)") == "None"


@pytest.mark.spec("W-05", "W-05c", "A6-05", "A6-05b")
def test_whether_viewers_may_copy_by_keyboard(lab, opened):
    page = opened
    row(page, "plan.txt").click()
    page.get_by_text("Details of plan.txt").wait_for()
    tab_to(page, "checkbox", "Viewers may download, export and copy")
    page.keyboard.press("Space")
    says(page, "Viewers can no longer download, export and copy plan.txt.")
    focused(page, "checkbox", "Viewers may download, export and copy")
    page.get_by_text("cannot download, export or copy it").wait_for()
    lab.screenshot(page, "content-7-viewers")
    code = "print(svc.file(plan, fields='viewers_can_copy_content').iloc[0, 0], browser.last_error)"
    assert lab.run_code(page, code) == "True None"


@pytest.mark.spec("W-05", "W-05c")
@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_little_room(lab, opened, axe, theme):
    page = opened
    lab.theme(page, theme)
    row(page, "evil.txt").click()
    page.get_by_text("Details of evil.txt").wait_for()
    page.set_viewport_size({"width": 530, "height": 2200})
    press(page, "More")
    press(page, "Replace content")
    page.get_by_label("Notebook file", exact=True).wait_for()
    assert axe(page) == []
    lab.screenshot(page, f"content-8-replace-{theme.lower()}", selector=".svc-form")
    press(page, "Download")
    page.locator(".svc-question :focus").wait_for()  # it is brought there, and would take the keys of another field
    press(page, "More options")
    page.get_by_label("First byte").fill("99")
    page.keyboard.press("Tab")
    page.locator("pre", has_text="byte_range='bytes=99-'").wait_for()
    press(page, "Save")
    page.get_by_role("alert").get_by_text("the first byte must be 16 or less").wait_for()
    assert axe(page) == []
    lab.screenshot(page, f"content-9-part-{theme.lower()}", selector=".svc-form")
    page.get_by_label("First byte").fill("")
    page.keyboard.press("Tab")
    page.get_by_label("Browser download").check()
    page.get_by_label("Path", exact=True).wait_for(state="hidden")
    press(page, "Save")
    page.get_by_text("evil.txt was flagged as abusive.").wait_for()
    assert axe(page) == []
    lab.screenshot(page, f"content-10-flagged-{theme.lower()}", selector=".svc-form")
    with page.expect_download():
        press(page, "Download anyway")
