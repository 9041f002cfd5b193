import pytest

from tests.browser.keyboard import press_keys

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]

CELL = """
import svc_notebooks as svc
lab = svc.sandbox()
svc.upload(b"pond,birds\\nMill pond,12\\n", name="counts.csv")
svc.upload(b"<h1>Birds</h1>", name="Birds", mime_type="text/html", convert_to="document")
"""
BOARD = "board = svc.dashboard()\nboard"
TITLES = ["Files", "Upload", "Export", "Events", "Notifications", "HTTP", "Lab controls"]


@pytest.fixture
def opened(lab):
    page = lab.show("board.ipynb", CELL, BOARD)
    listed(page, "counts.csv").wait_for()
    return page


def tab(page, title):
    return page.locator(".svc-dashboard").get_by_role("tab", name=title, exact=True)


def listed(page, name, grid="Files"):
    return page.get_by_role("grid", name=grid).get_by_role("row").filter(has_text=name).first


def press(page, name):
    page.locator("button:visible", has_text=name).and_(page.get_by_role("button", name=name, exact=True)).click()


@pytest.mark.spec("W-01", "W-01a", "W-05", "W-05c")
def test_an_upload_is_in_the_files_and_on_the_wire(lab, opened):
    page = opened
    tab(page, "HTTP").click()
    listed(page, "GET /storage/v3/files", "Exchanges").wait_for()
    tab(page, "Upload").click()
    page.get_by_text("No files selected").filter(visible=True).wait_for()  # Files has a hidden chooser, too
    page.get_by_label("Choose files").filter(visible=True).set_input_files(
        {"name": "mine.txt", "mimeType": "text/plain", "buffer": b"hello"}
    )
    page.get_by_text("1 of 1 ready to upload").wait_for()
    press(page, "Upload")
    page.get_by_text("Done: 1 file uploaded").wait_for()

    tab(page, "Files").click()
    listed(page, "mine.txt").wait_for()
    tab(page, "HTTP").click()
    listed(page, "POST /upload/storage/v3/files", "Exchanges").click()
    page.get_by_text("Content-Type").first.wait_for()
    assert lab.run_code(page, "print(svc.read(svc.files(\"name = 'mine.txt'\")), board.last_error)") == "b'hello' None"


@pytest.mark.spec("W-05", "W-05a", "W-05c")
def test_by_keyboard_alone(lab, opened):
    """One stop for all tabs, arrows between them; from the open one Tab leads into its form."""
    page = opened
    tab(page, "Files").focus()
    for title in TITLES[1:]:
        page.keyboard.press("ArrowRight")
        tab(page, title).and_(page.locator(":focus")).wait_for()
    page.keyboard.press("Enter")
    page.get_by_label("Forward by").wait_for()
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.get_by_label("Forward by").evaluate("e => e === document.activeElement"):
            break
    page.keyboard.press("Control+a")
    page.keyboard.type("2h")
    press_keys(page, "Tab", "Enter")
    page.get_by_text("Clock frozen at 2026-01-05 11:00:00 UTC.").wait_for()

    assert lab.run_code(page, "print(lab.clock.now().hour, board.code())") == "11 lab.clock.advance('2h')"
