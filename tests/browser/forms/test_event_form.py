import json

import pytest
from playwright.sync_api import expect

from tests.browser.keyboard import press_keys, tab_to

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]

CELL = """
import svc_notebooks as svc
lab = svc.sandbox()
plan = svc.upload(b"Feed the ducks on Monday.", name="plan <b>for</b> May.txt")
form = svc.event_form()
form
"""

VALUE = "import json; print(json.dumps(form.value))"


def open_form(lab, name):
    page = lab.show(name, CELL)
    create(page).wait_for()
    return page


def create(page):
    return page.get_by_role("button", name="Create", exact=True)


def value(lab, page):
    return json.loads(lab.run_code(page, VALUE))


def type_until(page, keys, value):
    """Type into a field of parts until it shows this: after a second without a key the browser begins a part anew."""
    for _ in range(20):
        page.keyboard.type(keys, delay=60)  # a year that is half typed is a year, too
        if page.evaluate("document.activeElement.value").startswith(value):
            return
        press_keys(page, "Shift+Tab", "Tab")
    raise AssertionError(f"the field never shows {value}")


@pytest.mark.spec("W-03", "W-03a", "W-03b", "W-03c", "W-03d", "W-03e", "W-03f", "W-03g", "W-03h")
def test_by_mouse(lab):
    page = open_form(lab, "event-mouse.ipynb")
    page.set_viewport_size({"width": 1280, "height": 1500})
    lab.screenshot(page, "event-1-begun")

    page.get_by_label("Title", exact=True).fill("Seminar <b>")
    page.get_by_label("Start", exact=True).fill("2026-10-19")
    page.get_by_label("Time zone", exact=True).fill("berl")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Time zone", exact=True)).to_have_value("Europe/Berlin")
    page.get_by_label("Repeats").select_option("Weekly")
    page.get_by_label("Wed").check()
    page.get_by_text("Mon 19 Oct 2026").wait_for()
    page.locator("mark", has_text="28").first.wait_for()
    page.get_by_role("button", name="Later").click()
    page.get_by_text("December 2026").wait_for()
    page.get_by_label("Guests", exact=True).fill("ada@svc.example; Bob <bob@svc.example>")
    page.get_by_role("button", name="More options").click()
    page.get_by_role("button", name="Edit listed guests").click()
    page.get_by_label("Optional").first.check()
    page.get_by_label("Custom").check()
    page.get_by_label("minutes before").fill("60")
    page.keyboard.press("Tab")
    page.get_by_role("button", name="Attach", exact=True).click()
    page.get_by_label("Add a video conference").check()
    page.get_by_label("Peacock").check()
    page.get_by_label("change the event").check()
    page.get_by_label("Visibility").select_option("Private")
    page.locator("pre", has_text="visibility='private'").wait_for()
    lab.screenshot(page, "event-3-filled")
    create(page).click()

    page.get_by_text("Created: Seminar <b>.").wait_for()
    lab.screenshot(page, "event-4-created")
    sent = value(lab, page)
    assert sent["recurrence"] == ["RRULE:FREQ=WEEKLY;BYDAY=MO,WE"]
    expected = [{"email": "ada@svc.example", "optional": True}, {"email": "bob@svc.example", "displayName": "Bob"}]
    assert sent["attendees"] == expected
    assert (sent["colorId"], sent["visibility"], sent["guestsCanModify"]) == ("7", "private", True)
    page.get_by_text("Call lab.serve() to open its page").wait_for()
    assert lab.run_code(page, "print(form.last_error, len(form.result))") == "None 1"


@pytest.mark.spec("W-03", "W-03b", "W-03c", "W-03d", "W-03e")
def test_by_keyboard_alone(lab):
    page = open_form(lab, "event-keys.ipynb")
    tab_to(page, "textbox", "Title")
    page.keyboard.type("Tea")
    page.keyboard.press("Tab")
    type_until(page, "10192026", "2026-10-19")
    page.keyboard.press("Tab")
    type_until(page, "0330PM", "15:30")
    page.locator("pre", has_text="end='2026-10-19 16:30'").wait_for()
    tab_to(page, "combobox", "Time zone")
    page.keyboard.press("Control+A")
    page.keyboard.type("new york")
    page.keyboard.press("Enter")
    page.get_by_text("UTC-4 at the start").wait_for()
    tab_to(page, "combobox", "Repeats")
    page.keyboard.press("ArrowDown")
    page.get_by_text("RRULE:FREQ=DAILY").first.wait_for()
    tab_to(page, "combobox", "Ends")
    press_keys(page, "ArrowDown", "ArrowDown")
    page.get_by_label("times", exact=True).wait_for()
    tab_to(page, "spinbutton", "times")
    page.keyboard.press("Control+A")
    page.keyboard.type("3")
    page.keyboard.press("Enter")
    page.get_by_text("3 instances:").wait_for()
    tab_to(page, "textbox", "Guests")
    page.keyboard.type("ada@svc.example")
    tab_to(page, "button", "More options")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Gadget").wait_for()
    tab_to(page, "radio", "Default")
    page.keyboard.press("ArrowRight")
    tab_to(page, "combobox", "Show as")
    page.keyboard.press("Tab")  # to the default of the colors
    for _ in range(7):
        page.keyboard.press("ArrowRight")
    page.locator("pre", has_text="color='Peacock'").wait_for()
    tab_to(page, "button", "Create")
    page.keyboard.press("Enter")

    page.get_by_text("Created: Tea.").wait_for()
    lab.screenshot(page, "event-keys")
    sent = value(lab, page)
    assert sent["recurrence"] == ["RRULE:FREQ=DAILY;COUNT=3"]
    assert sent["reminders"] == {"useDefault": False}
    assert sent["start"]["timeZone"] == "America/New_York"


ESSENTIALS = ("Title", "Start", "End", "Time zone", "Repeats", "Guests", "Location", "Description")


@pytest.mark.spec("W-03", "W-03b", "W-05", "W-05a")
@pytest.mark.parametrize("width, height", [(1280, 800), (520, 800)], ids=["wide", "narrow"])
def test_what_everybody_needs_is_on_one_screen(lab, width, height):
    page = open_form(lab, f"event-screen-{width}.ipynb")
    page.set_viewport_size({"width": width, "height": height})
    page.get_by_label("Title", exact=True).evaluate("e => e.closest('.svc-field').scrollIntoView({block: 'start'})")
    lab.screenshot(page, f"event-screen-{width}")

    for label in ESSENTIALS:
        expect(page.get_by_label(label, exact=True)).to_be_in_viewport(ratio=1)
    expect(create(page)).to_be_in_viewport(ratio=1)


@pytest.mark.spec("W-03", "W-03b", "W-05", "W-05a")
def test_tab_goes_from_the_title_to_create_in_13_presses_and_back(lab):
    page = open_form(lab, "event-tab.ipynb")
    page.get_by_label("Title", exact=True).focus()
    for _ in range(13):
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.innerText") == "Create"
    for _ in range(13):
        page.keyboard.press("Shift+Tab")

    assert page.evaluate("document.activeElement.labels[0].innerText") == "Title"
