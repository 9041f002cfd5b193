"""The event form in JupyterLab: by mouse, by keyboard, in the dark theme and in a narrow window."""

import json

import pytest
from playwright.sync_api import expect

from svc_notebooks.core.time_zones import zone_names
from svc_notebooks.forms.event.time.start_and_end import matching_zones
from tests.browser.keyboard import tab_to

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]

CELL = """
import svc_notebooks as svc
lab = svc.sandbox()
plan = svc.upload(b"Feed the ducks on Monday.", name="plan <b>for</b> May.txt")
form = svc.event_form()
form
"""

VALUE = "import json; print(json.dumps(form.value))"


@pytest.fixture
def open_form(lab):
    """Runs a notebook with the form in it."""

    def opened(name, *cells):
        lab.write(name, CELL, *cells)
        page = lab.run(name)
        create(page).wait_for()
        return page

    return opened


def create(page):
    return page.get_by_role("button", name="Create", exact=True)


def value(lab, page):
    """What the form would send."""
    return json.loads(lab.run_code(page, VALUE))


def type_until(page, keys, value):
    """Type into a field of parts until it shows this: after a second without a key the browser begins a part anew."""
    for _ in range(20):
        page.keyboard.type(keys, delay=60)  # a year that is half typed is a year, too
        if page.evaluate("document.activeElement.value").startswith(value):
            return
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Tab")
    raise AssertionError(f"the field never shows {value}")


@pytest.mark.spec("W-03", "W-03a", "W-03b", "W-03c", "W-03d", "W-03e", "W-03f", "W-03g", "W-03h")
def test_by_mouse(lab, open_form):
    page = open_form("event-mouse.ipynb")
    page.set_viewport_size({"width": 1280, "height": 1500})
    lab.screenshot(page, "event-1-begun")

    page.get_by_label("Title").fill("Seminar <b>")
    page.get_by_label("Start", exact=True).fill("2026-10-19")
    page.get_by_label("Time zone").fill("berl")
    page.get_by_role("option", name="Europe/Berlin").wait_for()
    lab.screenshot(page, "event-2-zone")
    page.get_by_role("option", name="Europe/Berlin").click()
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
    page.get_by_text("1 hour before").wait_for()
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
    assert sent["attendees"] == [
        {"email": "ada@svc.example", "optional": True},
        {"email": "bob@svc.example", "displayName": "Bob"},
    ]
    assert (sent["colorId"], sent["visibility"], sent["guestsCanModify"]) == ("7", "private", True)
    page.get_by_text("Call lab.serve() to open its page").wait_for()
    assert lab.run_code(page, "print(form.last_error, len(form.result), len(svc.events()))").split()[:2] == [
        "None",
        "1",
    ]


@pytest.mark.spec("W-03", "W-03b", "W-03c", "W-03d", "W-03e")
def test_by_keyboard_alone(lab, open_form):
    page = open_form("event-keys.ipynb")
    tab_to(page, "textbox", "Title")
    page.keyboard.type("Tea")
    page.keyboard.press("Tab")
    type_until(page, "10192026", "2026-10-19")
    page.keyboard.press("Tab")
    type_until(page, "0330PM", "15:30")
    page.locator("pre", has_text="end='2026-10-19 16:30'").wait_for()
    tab_to(page, "textbox", "Time zone")
    page.keyboard.press("Control+A")
    page.keyboard.type("new york")
    page.get_by_role("option", name="America/New_York").wait_for()
    page.keyboard.press("Enter")
    page.get_by_text("UTC-4 at the start").wait_for()
    page.keyboard.press("Control+A")
    page.keyboard.type("argentina")
    matching = matching_zones("argentina", zone_names())
    expect(page.get_by_label("Zones found").get_by_role("option")).to_have_count(len(matching))
    page.keyboard.press("Tab")  # into the list
    for name in matching[:2]:
        page.keyboard.press("ArrowDown")
        expect(page.get_by_role("textbox", name="Time zone")).to_have_value(name)
    page.get_by_text("UTC-3 at the start").wait_for()
    assert page.get_by_label("Zones found").is_visible(), "the arrows go on from here"
    tab_to(page, "combobox", "Repeats")
    page.keyboard.press("ArrowDown")
    page.get_by_text("RRULE:FREQ=DAILY").first.wait_for()
    tab_to(page, "combobox", "Ends")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
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
    assert sent["start"]["timeZone"] == "America/Argentina/Catamarca"


ESSENTIALS = ("Title", "Start", "End", "Time zone", "Repeats", "Guests", "Location", "Description")


@pytest.mark.spec("W-03", "W-03b", "W-05", "W-05a")
@pytest.mark.parametrize("width, height", [(1280, 800), (520, 800)], ids=["wide", "narrow"])
def test_what_everybody_needs_is_on_one_screen(lab, open_form, width, height):
    page = open_form(f"event-screen-{width}.ipynb")
    page.set_viewport_size({"width": width, "height": height})
    page.get_by_label("Title").evaluate("e => e.closest('.svc-field').scrollIntoView({block: 'start'})")
    lab.screenshot(page, f"event-screen-{width}")

    for label in ESSENTIALS:
        expect(page.get_by_label(label, exact=True)).to_be_in_viewport(ratio=1)
    expect(create(page)).to_be_in_viewport(ratio=1)


def test_create_stays_on_the_screen_when_the_event_repeats(lab, axe, open_form):
    page = open_form("event-screen-weekly.ipynb")
    page.set_viewport_size({"width": 1280, "height": 800})
    page.get_by_label("Repeats").select_option("Weekly")
    page.get_by_text("No end; the first 8:").wait_for()
    page.get_by_label("Title").evaluate("e => e.closest('.svc-field').scrollIntoView({block: 'start'})")
    lab.screenshot(page, "event-screen-weekly")

    expect(create(page)).to_be_in_viewport(ratio=1)
    assert axe(page) == []


@pytest.mark.spec("W-03", "W-03b", "W-05", "W-05a")
def test_tab_goes_from_the_title_to_create_in_13_presses_and_back(lab, open_form):
    page = open_form("event-tab.ipynb")
    page.get_by_label("Title").focus()
    for _ in range(13):
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.innerText") == "Create"
    for _ in range(13):
        page.keyboard.press("Shift+Tab")

    assert page.evaluate("document.activeElement.labels[0].innerText") == "Title"


@pytest.mark.spec("W-03", "W-03h")
def test_what_is_wrong_stands_beside_its_field_and_nothing_is_lost(lab, open_form):
    page = open_form("event-wrong.ipynb")
    page.set_viewport_size({"width": 1280, "height": 1500})
    page.get_by_label("Title").fill("Half done")
    page.get_by_label("End", exact=True).fill("2025-01-01")
    page.get_by_label("Guests", exact=True).fill("ada@")
    page.get_by_label("Repeats").select_option("Custom")
    page.get_by_label("In words").fill("whenever I like")
    page.get_by_role("button", name="More options").click()
    page.get_by_label("Other fields").fill('{"status": ')
    create(page).click()
    page.get_by_role("alert").get_by_text("Nothing was created").wait_for()
    lab.screenshot(page, "event-5-wrong")

    for label, text in (
        ("Title", "Half done"),
        ("Guests", "ada@"),
        ("In words", "whenever I like"),
        ("Other fields", '{"status": '),
    ):
        assert page.get_by_label(label, exact=True).input_value() == text
    wrong = page.locator(".svc-field", has=page.get_by_role("alert"))
    assert wrong.count() == 4
    assert "ada@ is not" in wrong.filter(has=page.get_by_label("Guests")).get_by_role("alert").inner_text()
    assert page.evaluate("document.activeElement.labels[0].innerText") == "End", "the first one that is wrong"

    zone = page.get_by_label("Time zone", exact=True)
    zone.fill("Mars/Olympus")
    page.get_by_role("alert").get_by_text("is not a time zone of the IANA database").wait_for()
    page.get_by_label("Title", exact=True).focus()
    zone.fill("Europe/Berlin")
    page.get_by_text("is not a time zone of the IANA database").wait_for(state="detached")


@pytest.mark.spec("W-05", "W-05b", "W-05c")
def test_every_control_has_a_name_and_a_tooltip(lab, open_options):
    page = open_options("event-names.ipynb")
    page.get_by_label("Repeats").select_option("Monthly")
    page.get_by_label("Custom").check()
    page.get_by_label("minutes before").wait_for()

    unnamed = (
        page.locator(".svc-event")
        .locator("input, select, textarea, button")
        .evaluate_all(
            """all => all.filter(e => {
          const named = e.getAttribute('aria-label') || e.labels?.length || e.innerText.trim();
          const own = e.closest('.jupyter-widgets, .widget-radio');
          const tip = e.title || own?.querySelector('label[title], label [title], span[title]')?.title;
          return !named || !tip || tip === 'null';
        }).map(e => e.outerHTML)"""
        )
    )

    assert unnamed == []


HINTS = """() => [...document.querySelectorAll('.svc-form :is(input, textarea)[placeholder]')]
  .filter((e) => e.placeholder)
  .map((e) => [getComputedStyle(e, '::placeholder').color, getComputedStyle(e).color])"""


def test_a_hint_looks_like_a_hint_and_not_like_what_is_typed(lab, open_form):
    hints = open_form("event-hints.ipynb").evaluate(HINTS)

    assert len(hints) >= 4
    assert len({hint for hint, _ in hints}) == 1, "all of them alike"
    assert all(hint != typed for hint, typed in hints)


def test_narrow_and_dark(lab, open_form):
    page = open_form("event-dark.ipynb")
    page.evaluate("window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})")
    page.set_viewport_size({"width": 640, "height": 2000})
    page.get_by_label("Repeats").select_option("Weekly")
    page.get_by_role("button", name="More options").click()
    page.get_by_role("button", name="Add guest").click()
    page.get_by_label("E-mail").fill("ada@svc.example")
    page.get_by_label("Custom").check()
    page.get_by_label("minutes before").fill("99999")
    page.keyboard.press("Enter")
    page.get_by_text("40320, not 99999").wait_for()
    lab.screenshot(page, "event-dark-narrow")
    wide = page.locator(".svc-event").evaluate("e => e.scrollWidth - e.clientWidth")

    assert wide <= 0, "nothing has to be scrolled to the side"


# The kernel brings the focus to a new row: what is typed elsewhere before that would lose it.
KEY_HAS_FOCUS = """(n) => [...document.querySelectorAll('.svc-form label')]
  .filter((label) => label.innerText === 'Key')[n]?.control === document.activeElement"""


@pytest.fixture
def open_options(open_form):
    """Like `open_form`, with "More options" and the details of a guest open."""

    def opened(name):
        page = open_form(name)
        page.set_viewport_size({"width": 1280, "height": 2400})
        page.get_by_role("button", name="More options").click()
        page.get_by_role("heading", name="Gadget").wait_for()
        page.get_by_role("button", name="Add guest").click()
        page.get_by_label("E-mail").fill("ada@svc.example")
        page.get_by_role("button", name="Details").click()
        page.get_by_label("Additional guests").wait_for()
        page.get_by_role("button", name="Add property").click()
        page.get_by_label("Visible to").wait_for()
        page.wait_for_function(KEY_HAS_FOCUS, arg=0)
        page.get_by_role("button", name="Add preference").click()
        page.wait_for_function(KEY_HAS_FOCUS, arg=1)
        return page

    return opened


@pytest.mark.spec("W-03", "W-03b")
def test_more_options_by_mouse(lab, axe, open_options):
    page = open_options("event-options.ipynb")
    lab.screenshot(page, "event-options-1-open")
    page.get_by_label("Title", exact=True).fill("Flight")
    page.get_by_label("Response").select_option("Accepted")
    page.get_by_label("Additional guests").fill("2")
    page.get_by_label("End time zone").fill("new york")
    page.get_by_role("option", name="America/New_York").click()
    page.get_by_text("the end is in America/New_York").wait_for()
    page.get_by_label("Status", exact=True).select_option("Tentative")
    page.get_by_label("Event ID").fill("flight7")
    page.get_by_label("Source URL").fill("ftp://svc.example")
    page.get_by_label("Gadget height").fill("0")
    page.get_by_label("Key").first.fill("room")
    page.get_by_label("Value").first.fill("3")
    page.get_by_label("Visible to").select_option("shared")
    page.get_by_label("Other fields").fill('{"summary": "Coffee"}')
    page.get_by_role("button", name="Fewer options").click()
    page.get_by_role("button", name="More options (8 set)").wait_for()
    create(page).click()

    page.get_by_role("alert").get_by_text("Nothing was created").wait_for()
    page.get_by_label("Source URL").wait_for()
    violations = {}
    for theme in ("Light", "Dark"):
        lab.theme(page, theme)
        lab.screenshot(page, f"event-options-2-wrong-{theme.lower()}")
        violations[theme] = axe(page)
    assert violations == {"Light": [], "Dark": []}
    wrong = page.locator(".svc-field", has=page.get_by_role("alert"))
    assert wrong.count() == 3
    assert "Title" in wrong.filter(has=page.get_by_label("Other fields")).get_by_role("alert").inner_text()

    page.get_by_label("Source URL").fill("https://svc.example")
    page.get_by_label("Gadget height").fill("10")
    page.get_by_role("button", name="Move to controls").click()
    page.locator("pre", has_text="create_event('Coffee'").or_(page.locator("pre", has_text="'Coffee',")).wait_for()
    wrong.first.wait_for(state="detached")  # the button moves when the last error goes
    create(page).click()
    page.get_by_text("Created: Coffee.").wait_for()
    lab.screenshot(page, "event-options-3-created")
    assert page.get_by_text("6 h; the end is in America/New_York").is_visible()
    sent = value(lab, page)
    assert sent["attendees"] == [{"email": "ada@svc.example", "responseStatus": "accepted", "additionalGuests": 2}]
    assert (sent["id"], sent["status"], sent["gadget"]) == ("flight7", "tentative", {"height": 10})
    assert sent["extendedProperties"] == {"shared": {"room": "3"}}


@pytest.mark.spec("W-03", "W-03b")
def test_more_options_by_keyboard_alone(lab, open_form):
    page = open_form("event-options-keys.ipynb")
    tab_to(page, "textbox", "Title")
    page.keyboard.type("Flight")
    tab_to(page, "button", "More options")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Gadget").wait_for()
    tab_to(page, "button", "Add guest")
    page.keyboard.press("Enter")
    page.wait_for_function("document.activeElement.placeholder?.startsWith('ada@')")
    page.keyboard.type("ada@svc.example")
    tab_to(page, "button", "Details")
    page.keyboard.press("Enter")
    page.get_by_label("Additional guests").wait_for()
    tab_to(page, "combobox", "Response")
    page.keyboard.press("ArrowDown")
    tab_to(page, "textbox", "Comment")
    page.keyboard.type("gladly")
    tab_to(page, "textbox", "End time zone")
    page.keyboard.type("new york")
    page.get_by_role("option", name="America/New_York").wait_for()
    page.keyboard.press("Enter")
    page.get_by_text("the end is in America/New_York").wait_for()
    tab_to(page, "combobox", "Status")
    page.keyboard.press("ArrowDown")
    tab_to(page, "checkbox", "anyone can add themselves")
    page.keyboard.press("Space")
    tab_to(page, "button", "Add property")
    page.keyboard.press("Enter")
    page.get_by_label("Visible to").wait_for()
    page.wait_for_function("document.activeElement.labels?.[0]?.innerText === 'Key'")
    page.keyboard.type("room")
    page.keyboard.press("Tab")
    page.keyboard.type("3")
    tab_to(page, "button", "Create")
    page.keyboard.press("Enter")

    page.get_by_text("Created: Flight.").wait_for()
    sent = value(lab, page)
    assert sent["attendees"] == [{"email": "ada@svc.example", "responseStatus": "accepted", "comment": "gladly"}]
    assert (sent["status"], sent["anyoneCanAddSelf"]) == ("tentative", True)
    assert sent["end"]["timeZone"] == "America/New_York"
    assert sent["extendedProperties"] == {"private": {"room": "3"}}


def test_a_free_time_of_all_guests_becomes_the_time_of_the_event(lab, open_form):
    page = open_form(
        "event-free-times.ipynb",
        "bob = lab.sign_in('bob@svc.example')\n"
        "given = svc.share_calendar('primary', 'ada@svc.example', role='freeBusyReader', session=bob)\n"
        "busy = svc.create_event('Busy', start='today 09:00', end='11:30', time_zone='UTC', session=bob)",
    )
    page.get_by_label("Guests").fill("bob@svc.example")
    page.get_by_role("button", name="Find free times").click()
    slots = page.get_by_label("Select", exact=True)
    expect(slots).to_be_visible()
    slots.select_option(index=1)
    lab.screenshot(page, "event-free-times", ".svc-event")

    expect(page.locator(".svc-event .svc-code")).to_contain_text("11:30")
    assert value(lab, page)["start"]["dateTime"].endswith("T11:30:00")
