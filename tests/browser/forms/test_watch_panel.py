"""The notification panel in a real JupyterLab: by mouse and by keyboard, with messages that come by themselves."""

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


@pytest.fixture
def open_panel(lab):
    """Runs a notebook with the panel in it."""

    def opened(name, *cells):
        lab.write(name, CELL, *cells)
        page = lab.run(name)
        page.get_by_role("button", name="Watch", exact=True).wait_for()
        return page

    return opened


@pytest.mark.spec("W-04", "W-04a", "W-04b")
def test_by_mouse(lab, open_panel):
    page = open_panel("watch-mouse.ipynb")
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
    page.get_by_role("button", name="10 seconds later").click()
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
def test_by_keyboard_alone(lab, open_panel):
    page = open_panel("watch-keys.ipynb")
    tab_to(page, "combobox", "Watch")
    page.keyboard.press("ArrowDown")
    tab_to(page, "button", "Watch")
    page.keyboard.press("Enter")
    page.locator("details:has(code)").get_by_text("sync", exact=True).wait_for()
    lab.screenshot(page, "watch-keys")
    code = "print((svc.channels()['watching'] == plan['id'].item()).tolist(), panel.last_error)"

    assert lab.run_code(page, code) == "[True] None"


def test_narrow_and_dark(lab, open_panel):
    page = open_panel("watch-dark.ipynb")
    page.evaluate("window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})")
    page.set_viewport_size({"width": 640, "height": 900})
    page.get_by_role("button", name="Watch", exact=True).click()
    page.locator("details:has(code)").get_by_text("sync", exact=True).wait_for()
    lab.screenshot(page, "watch-dark-narrow")


@pytest.mark.spec("A8-02", "A8-02c", "A8-06", "A8-07", "A8-07a", "W-04", "W-04a")
def test_a_channel_with_an_id_a_token_and_an_end_of_its_own_by_keyboard(lab, open_panel):
    """What is wrong is said beside the field as soon as it is left, and what was typed stays."""
    page = open_panel("watch-fields.ipynb")
    tab_to(page, "button", "More options")
    page.keyboard.press("Enter")
    tab_to(page, "textbox", "Channel ID")
    page.keyboard.type("x" * 65)
    tab_to(page, "textbox", "Token")
    page.get_by_role("alert").get_by_text("at most 64 characters").wait_for()
    page.keyboard.type("Bearer abc")
    tab_to(page, "combobox", "Expires")
    page.get_by_role("alert").get_by_text("token begins with").wait_for()
    lab.screenshot(page, "watch-fields-1-wrong")
    page.get_by_label("Channel ID", exact=True).fill("ducks")
    page.get_by_label("Token", exact=True).fill("ponds of the north")
    page.get_by_label("Token", exact=True).press("Enter")
    page.get_by_role("alert").first.wait_for(state="detached")

    page.get_by_label("Expires", exact=True).focus()
    page.keyboard.press("End")
    page.get_by_label("on", exact=True).fill("2026-01-05")
    page.get_by_label("at (UTC)", exact=True).fill("09:30:15")
    page.get_by_text("expiration='2026-01-05T09:30:15+00:00'").first.wait_for(state="attached")
    tab_to(page, "button", "Watch")
    page.keyboard.press("Enter")
    page.locator("details:has(code)").get_by_text("sync", exact=True).wait_for()
    page.get_by_text("until 05 Jan, 09:30:15").first.wait_for()
    lab.screenshot(page, "watch-fields-2-open")

    code = "print(svc.channels()[['id', 'token']].values.tolist(), panel.last_error)"
    assert lab.run_code(page, code) == "[['ducks', 'pond… (18 characters)']] None"
    assert page.get_by_text("ponds of the north").count() == 0, "the token is nowhere on the page"


@pytest.mark.spec("A8-07", "A8-07a", "W-04", "W-04a")
def test_a_channel_on_a_file_for_some_minutes_by_mouse(lab, open_panel):
    page = open_panel("watch-minutes.ipynb")
    page.get_by_label("Watch", exact=True).select_option(index=1)
    page.get_by_role("button", name="More options").click()
    page.get_by_text("At most 1 day for a file").wait_for()
    page.get_by_label("Expires", exact=True).select_option("After a time")
    page.get_by_label("after", exact=True).fill("45")
    page.get_by_label("after", exact=True).press("Enter")
    page.get_by_label("unit", exact=True).select_option("minutes")
    page.get_by_text("expires_in='45m'").first.wait_for(state="attached")
    page.get_by_role("button", name="Watch", exact=True).click()
    page.get_by_text("until 05 Jan, 09:45:00").first.wait_for()
    for theme in ("Light", "Dark"):
        lab.theme(page, theme)
        lab.screenshot(page, f"watch-minutes-{theme.lower()}", selector=".svc-form")
