import pytest

from tests.browser.keyboard import tab_to

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]

CELL = """
import svc_notebooks as svc
lab = svc.sandbox()
plan = svc.upload(b"Feed the ducks on Monday.", name="plan <b>for</b> May.txt")
panel = svc.watch_panel()
panel
"""


def open_panel(lab, name):
    page = lab.show(name, CELL)
    page.get_by_role("button", name="Watch", exact=True).wait_for()
    return page


@pytest.mark.spec("W-04", "W-04a", "W-04b")
def test_by_mouse(lab):
    page = open_panel(lab, "watch-mouse.ipynb")
    lab.screenshot(page, "watch-1-begun")
    messages = page.locator("details:has(code)")

    page.get_by_label("Watch", exact=True).select_option(index=1)
    page.get_by_role("button", name="Watch", exact=True).click()
    messages.get_by_text("sync", exact=True).wait_for()
    lab.run_code(page, "svc.update(plan, name='renamed.txt'); svc.share(plan, 'bob@svc.example'); svc.trash(plan)")
    messages.get_by_text("trash", exact=True).wait_for()
    lab.screenshot(page, "watch-2-messages")
    assert messages.count() == 4
    assert page.get_by_text("plan <b>for</b> May.txt: active", exact=False).count() >= 1

    messages.first.locator("summary").click()
    page.get_by_text("1 for sync, then increasing, with gaps").first.wait_for()
    lab.screenshot(page, "watch-3-explained")

    lab.run_code(page, "svc.update(plan, description='seen by many')")
    messages.nth(4).wait_for()
    assert page.get_by_text("1 for sync, then increasing, with gaps").first.is_visible(), "it stays unfolded"

    page.get_by_label("503 twice, then 200").check()
    page.locator("pre", has_text="times=2").wait_for(state="attached")
    lab.run_code(page, "svc.untrash(plan); lab.deliver()")
    messages.get_by_text("503", exact=True).wait_for()
    lab.run_code(page, "lab.clock.advance('10s')")
    messages.get_by_text("503, 503, 200").wait_for()
    lab.screenshot(page, "watch-4-retried")

    page.get_by_role("button", name="Renew").click()
    page.get_by_text("Renewed").wait_for()
    page.get_by_role("button", name="Stop").click()
    page.get_by_text("Stopped: no more notifications").wait_for()
    lab.screenshot(page, "watch-5-stopped")
    assert lab.run_code(page, "print(svc.channels()['state'].tolist())") == "['stopped', 'stopped']"
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("alert").get_by_text("not found").wait_for()
    lab.screenshot(page, "watch-6-refused")


@pytest.mark.spec("W-04", "W-04a", "W-04b")
def test_by_keyboard_alone(lab):
    page = open_panel(lab, "watch-keys.ipynb")
    tab_to(page, "combobox", "Watch")
    page.keyboard.press("ArrowDown")
    tab_to(page, "button", "Watch")
    page.keyboard.press("Enter")
    page.locator("details:has(code)").get_by_text("sync", exact=True).wait_for()
    lab.screenshot(page, "watch-keys")
    code = "print((svc.channels()['watching'] == plan['id'].item()).tolist(), panel.last_error)"

    assert lab.run_code(page, code) == "[True] None"
