"""The dashboard in JupyterLab: every tab, changes made elsewhere, by mouse and by keyboard alone."""

import pytest

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
    lab.write("board.ipynb", CELL, BOARD)
    page = lab.run("board.ipynb")
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


def test_what_a_cell_does_is_seen_at_once(lab, opened):
    page = opened
    lab.run_code(page, "svc.upload(b'x', name='from a cell.txt')")
    listed(page, "from a cell.txt").wait_for()


def test_lab_controls(lab, opened):
    page = opened
    tab(page, "Lab controls").click()
    page.get_by_label("Forward by").fill("8d")
    press(page, "Advance")
    page.get_by_text("Clock frozen at 2026-01-13 09:00:00 UTC.").wait_for()
    press(page, "Take snapshot")
    page.get_by_text("Snapshot saved.").wait_for()
    lab.run_code(page, "svc.delete(svc.files())")
    press(page, "Restore")
    page.get_by_text("Restored: snapshot 1").wait_for()
    page.get_by_label("Fault preset").select_option("lost receipt")
    press(page, "Arm")
    page.get_by_text("Armed: lost receipt.").wait_for()
    press(page, "Disarm all")
    page.get_by_text("No fault is armed.").wait_for()
    page.get_by_label("E-mail").fill("bob@svc.example")
    press(page, "Sign in")
    page.get_by_text("Signed in as bob@svc.example.").first.wait_for()
    lab.screenshot(page, "board-lab")
    tab(page, "Files").click()
    page.get_by_text("This folder is empty.").wait_for()

    code = "print(len(svc.files()), lab.fault_plans().empty, str(lab.clock.now())[:10], board.last_error)"
    assert lab.run_code(page, code) == "2 True 2026-01-13 None"


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
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_text("Clock frozen at 2026-01-05 11:00:00 UTC.").wait_for()

    assert lab.run_code(page, "print(lab.clock.now().hour, board.code())") == "11 lab.clock.advance('2h')"


def test_long_work_leaves_the_page_free_and_can_be_cancelled(lab, opened):
    """A slow download: meanwhile the kernel does other things, and Cancel ends it."""
    page = opened
    lab.run_code(
        page,
        "import threading\n"
        "gate = threading.Event()\n"
        "svc.upload(bytes(4 * 2**20), name='large.bin', progress=False)\n"
        "send = board.session.send\n"
        "def slowly(request, *bound):\n"
        "    'alt=media' not in request.url or gate.wait(90)\n"
        "    return send(request, *bound)\n"
        "board.session.send = slowly\n",
    )
    listed(page, "large.bin").click()
    page.get_by_text("Details of large.bin").wait_for()
    press(page, "Download")
    page.get_by_label("Path", exact=True).locator("visible=true").fill("large-out.bin")
    press(page, "Save")
    page.locator(".svc-dashboard progress:visible").wait_for()
    assert lab.run_code(page, "print(board.busy, 1 + 1)") == "True 2"
    press(page, "Cancel")
    page.get_by_text("Stopping …").wait_for()
    lab.run_code(page, "gate.set()")
    page.get_by_role("status").get_by_text("Cancelled").wait_for()

    assert not (lab.folder / "large-out.bin").exists()
    assert lab.run_code(page, "print(board.busy, board.form.last_error)") == "False None"


@pytest.mark.spec("W-05", "W-05b", "W-05c")
@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_axe_and_pictures(lab, axe, opened, theme):
    page, violations = opened, []
    lab.theme(page, theme)
    for title in TITLES:
        page.set_viewport_size({"width": 1600, "height": 2400})
        tab(page, title).click()
        page.locator(".svc-dashboard .svc-form:visible").first.wait_for()
        if title == "HTTP":
            listed(page, "GET", "Exchanges").click()
            page.get_by_text("Authorization").first.wait_for()
        for width in (400, 1600):
            page.set_viewport_size({"width": width, "height": 2400})
            lab.screenshot(page, f"board-{title.split()[0].lower()}-{theme.lower()}-{width}")
            violations += [(title, width, violation) for violation in axe(page)]

    assert violations == []
