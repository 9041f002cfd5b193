import pytest
from playwright.sync_api import expect

from tests.browser.keyboard import press_keys
from tests.browser.layout import layout_problems

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]

CELL = """
import svc_notebooks as svc
from datetime import date
lab = svc.sandbox()
berlin = dict(time_zone="Europe/Berlin")
term = svc.create_calendar("Term", time_zone="Europe/Berlin")["id"].item()
weekly = dict(recurrence="weekly on Tue, Thu", **berlin)
lecture = svc.create_event("Lecture", start="2026-11-03 09:00", end="2026-11-03 10:30", **weekly)
talk = svc.create_event("Talk", start="2026-11-04 10:00", end="2026-11-04 11:00", location="Room 3", **berlin)
bob = dict(attendees="bob@svc.example", **berlin)
lunch = svc.create_event("Lunch", start="2026-11-04 13:00", end="2026-11-04 13:15", **bob)
clash = svc.create_event("Advisory board", start="2026-11-04 10:15", end="2026-11-04 12:00", calendar=term, **berlin)
trip = svc.create_event("Field trip", start="2026-11-05", end="2026-11-08", color="Banana", calendar=term)
day = svc.create_event("Holiday", start="2026-11-02", end="2026-11-03")
for n in range(5):
    svc.create_event(f"Exam {n + 1}", start=f"2026-11-11 {10 + n}:00", end=f"2026-11-11 {10 + n}:45", **berlin)
view = svc.calendar_view(calendar=["primary", term], view="%s", day=date(2026, 11, 2), time_zone="Europe/Berlin")
view
"""


def open_view(lab, name, view="week", cell=CELL):
    page = lab.show(name, cell % view)
    page.set_viewport_size({"width": 1280, "height": 1250})
    page.get_by_role("grid").wait_for()
    page.get_by_role("grid").scroll_into_view_if_needed()
    return page


def item(page, name):
    return page.get_by_role("grid").get_by_role("button", name=name).first


def cell(page, name):
    return page.get_by_role("gridcell", name=name, exact=True)


def drag(page, source, target, *, at=(0.5, 0.5), to=(0.5, 0.5), drop=True):
    """Press the mouse at a part of an element, and move it to a part of another one."""
    target.scroll_into_view_if_needed()
    begin, end = source.bounding_box(), target.bounding_box()
    page.mouse.move(begin["x"] + begin["width"] * at[0], begin["y"] + begin["height"] * at[1])
    page.mouse.down()
    page.mouse.move(end["x"] + end["width"] * to[0], end["y"] + end["height"] * to[1], steps=5)
    if drop:
        page.mouse.up()


def status(page, text):
    page.get_by_role("status").get_by_text(text).wait_for()


def has_focus(page, locator):
    locator.wait_for()
    page.wait_for_function("element => element === document.activeElement", arg=locator.element_handle())


def test_by_mouse(lab):
    page = open_view(lab, "calendar-mouse.ipynb")

    friday = cell(page, "Friday 6 November 2026, 13:00")
    drag(page, item(page, "Talk"), friday, at=(0.5, 0.1), to=(0.5, 0.1), drop=False)
    page.locator(".svc-proposed", has_text="13:00").wait_for()
    lab.screenshot(page, "calendar-drag", ".svc-form")
    page.keyboard.press("Escape")
    page.mouse.up()
    expect(page.locator(".svc-proposed")).to_have_count(0)
    expect(item(page, "Talk, Wednesday 4 November 2026, 10:00 to 11:00")).to_be_visible()

    drag(page, item(page, "Talk"), friday, at=(0.5, 0.1), to=(0.5, 0.1))
    status(page, "Moved Talk to Friday 6 November 2026, 13:00 to 14:00.")
    drag(page, item(page, "Talk").locator(".svc-handle"), cell(page, "Friday 6 November 2026, 14:30"), to=(0.5, 0.75))
    status(page, "Moved Talk to Friday 6 November 2026, 13:00 to 15:00.")
    page.locator("pre", has_text="end='2026-11-06 15:00'").wait_for()
    page.get_by_role("button", name="Undo").click()
    status(page, "Moved Talk back.")

    drag(page, item(page, "Lecture, Tue"), cell(page, "Monday 2 November 2026, 10:00"), at=(0.5, 0.1), to=(0.5, 0.1))
    page.get_by_role("alert").get_by_text("Change Lecture to Monday 2 November 2026, 10:00 to 11:30?").wait_for()
    lab.screenshot(page, "calendar-question", ".svc-form")
    page.get_by_role("button", name="This and following").click()
    status(page, "Moved all events of Lecture.")

    monday = cell(page, "Monday 2 November 2026, 14:00")
    drag(page, monday, cell(page, "Monday 2 November 2026, 15:00"), at=(0.5, 0.2), to=(0.5, 0.8))
    page.get_by_text("Monday 2 November 2026, 14:00 to 15:30", exact=True).wait_for()
    has_focus(page, page.get_by_role("textbox", name="Title"))
    page.keyboard.type("Tea <b>")
    lab.screenshot(page, "calendar-new", ".svc-form")
    page.keyboard.press("Enter")
    status(page, "Created Tea <b>.")
    item(page, "Tea <b>").click()
    page.get_by_role("button", name="Edit", exact=True).click()
    page.get_by_label("Location").fill("Mill pond")
    lab.screenshot(page, "calendar-editor", ".svc-form")
    page.get_by_role("button", name="Save", exact=True).click()
    status(page, "Saved Tea <b>.")
    item(page, "Tea <b>").click()
    page.get_by_role("cell", name="Mill pond").wait_for()
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_text("Delete Tea <b>?").wait_for()
    page.locator(".svc-over-grid button.mod-danger:visible").click()
    status(page, "Deleted Tea <b>.")

    actions = lab.run_code(page, "print(*view.result['action'], view.last_error, sep=', ')")
    assert actions == "moved, moved, moved back, series moved, created, changed, deleted, None"


def test_an_event_is_dragged_to_the_all_day_row_and_back(lab):
    page = open_view(lab, "calendar-all-day.ipynb")

    all_day = cell(page, "Monday 2 November 2026, 1 event")
    drag(page, item(page, "Talk"), all_day, at=(0.5, 0.1), to=(0.5, 0.9), drop=False)
    page.locator(".svc-proposed.svc-bar", has_text="Talk").wait_for()
    page.mouse.up()
    status(page, "Moved Talk to Monday 2 November 2026, all day.")
    drag(page, item(page, "Talk"), cell(page, "Friday 6 November 2026, 13:00"), to=(0.5, 0.1))

    status(page, "Moved Talk to Friday 6 November 2026, 13:00 to 14:00.")


def test_a_narrow_week_is_a_list_of_days(lab):
    page = open_view(lab, "calendar-list.ipynb")
    page.set_viewport_size({"width": 640, "height": 1250})
    page.locator(".svc-cal-list").wait_for()
    clipped = "titles => titles.filter((title) => title.scrollWidth > title.clientWidth).length"
    assert page.locator(".svc-cal-list .svc-item-title").evaluate_all(clipped) == 0

    cell(page, "Monday 2 November 2026, 1 event").click(position={"x": 20, "y": 10})
    press_keys(page, "ArrowDown", "ArrowDown", "Tab", "ArrowDown")
    has_focus(page, item(page, "Advisory board"))
    press_keys(page, "m", "ArrowRight", "ArrowDown", "Enter")
    status(page, "Moved Advisory board to Thursday 5 November 2026, 10:45 to 12:30.")
    expect(item(page, "Advisory board")).to_be_focused()
    drag(page, item(page, "Talk"), cell(page, "Monday 2 November 2026, 1 event"))
    status(page, "Moved Talk to Monday 2 November 2026, 10:00 to 11:00.")
    page.set_viewport_size({"width": 1280, "height": 1250})
    page.locator(".svc-cal-hours").wait_for()
    expect(item(page, "Talk, Monday 2 November 2026, 10:00 to 11:00")).to_be_visible()


def test_the_month_by_mouse(lab):
    page = open_view(lab, "calendar-month.ipynb", "month")
    lab.screenshot(page, "calendar-month", ".svc-form")

    drag(page, item(page, "Holiday").locator(".svc-handle"), cell(page, "Wednesday 4 November 2026, 3 events"))
    status(page, "Moved Holiday to Monday 2 November 2026 to Wednesday 4 November 2026, all day.")
    drag(page, item(page, "Field trip"), cell(page, "Monday 16 November 2026, no events"), at=(0.5, 0.5))
    status(page, "Moved Field trip to Sunday 15 November 2026 to Tuesday 17 November 2026, all day.")
    drag(page, cell(page, "Friday 20 November 2026, no events"), cell(page, "Sunday 22 November 2026, no events"))
    page.get_by_text("Friday 20 November 2026 to Sunday 22 November 2026, all day").wait_for()
    has_focus(page, page.locator(".svc-new-event").get_by_label("Title"))
    page.keyboard.press("Escape")
    expect(page.locator(".svc-proposed")).to_have_count(0)
    page.get_by_role("button", name="2 more on Wednesday 11 November 2026").click()
    page.get_by_text("Wednesday 11 November 2026", exact=True).wait_for()

    expect(page.get_by_role("grid").get_by_role("button", name="Exam")).to_have_count(5)
    lab.screenshot(page, "calendar-day", ".svc-form")


def test_by_keyboard_alone(lab):
    page = open_view(lab, "calendar-keys.ipynb")
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.getAttribute('role') === 'gridcell'"):
            break

    page.keyboard.press("Home")
    has_focus(page, cell(page, "Monday 2 November 2026, 09:00"))
    press_keys(page, "ArrowRight", "ArrowRight", "ArrowDown", "ArrowDown")
    has_focus(page, cell(page, "Wednesday 4 November 2026, 10:00"))
    press_keys(page, "Tab", "ArrowDown")
    has_focus(page, item(page, "Advisory board"))
    press_keys(page, "Escape", "Tab")
    has_focus(page, item(page, "Talk, "))
    press_keys(page, "m", "ArrowRight", "ArrowDown", "+")
    status(page, "Thursday 5 November 2026, 10:30 to 12:00")
    lab.screenshot(page, "calendar-keys", ".svc-form")
    page.keyboard.press("Escape")
    status(page, "Cancelled")
    expect(item(page, "Talk, Wednesday 4 November 2026, 10:00 to 11:00")).to_be_focused()
    press_keys(page, "m", "ArrowRight", "ArrowDown", "+", "Enter")
    status(page, "Moved Talk to Thursday 5 November 2026, 10:30 to 12:00.")
    expect(item(page, "Talk, ")).to_be_focused()
    page.keyboard.press("Enter")
    has_focus(page, page.get_by_role("button", name="Edit", exact=True))
    page.keyboard.press("Escape")
    expect(item(page, "Talk, ")).to_be_focused()

    press_keys(page, "Escape", "ArrowUp", "ArrowUp", "ArrowUp")
    has_focus(page, cell(page, "Thursday 5 November 2026, 09:00"))
    press_keys(page, "Tab", "-", "Enter")
    page.get_by_text("Change Lecture to Thursday 5 November 2026, 09:00 to 10:00?").wait_for()
    has_focus(page, page.get_by_role("button", name="This event"))
    press_keys(page, "Tab", "Enter")
    status(page, "the old series ends before, a new one begins.")

    press_keys(page, "Escape", "PageDown")
    page.get_by_text("9 to 15 November 2026").wait_for()
    has_focus(page, cell(page, "Thursday 12 November 2026, 09:00"))
    press_keys(page, "ArrowDown", "ArrowDown", "ArrowDown", "Enter")
    has_focus(page, page.get_by_role("textbox", name="Title"))
    page.keyboard.type("Tea")
    page.keyboard.press("Enter")
    status(page, "Created Tea.")
    listed = lab.run_code(page, "print(view.listed['start'].dt.strftime('%d %H:%M').tolist(), view.last_error)")
    assert listed.startswith("['10 09:00', '11 10:00'")
    assert "'12 10:30'" in listed
    assert listed.endswith("None")


def test_looks_and_axe(lab, axe):
    page = open_view(lab, "looks.ipynb", "month")
    violations = axe(page)
    page.get_by_label("Week").check()
    page.locator(".svc-cal-hours").wait_for()
    lab.screenshot(page, "calendar-week", ".svc-form")
    violations += axe(page)
    drag(page, item(page, "Lecture, Tue"), cell(page, "Monday 2 November 2026, 10:00"))
    page.get_by_text("Change Lecture to").wait_for()
    violations += axe(page)
    lab.theme(page, "Dark")
    lab.screenshot(page, "calendar-question-dark", ".svc-form")
    violations += axe(page)
    page.get_by_role("button", name="Cancel", exact=True).click()
    item(page, "Talk, ").click(position={"x": 20, "y": 5})
    page.get_by_role("button", name="Edit", exact=True).wait_for()
    lab.screenshot(page, "calendar-details-dark", ".svc-form")
    violations += axe(page)
    page.get_by_role("button", name="Close").click()
    page.get_by_label("Month").check()
    page.locator(".svc-cal-month").wait_for()
    lab.screenshot(page, "calendar-month-dark", ".svc-form")
    violations += axe(page)
    lab.theme(page, "Light")
    page.set_viewport_size({"width": 636, "height": 1250})  # a form of 520 pixels
    lab.screenshot(page, "calendar-month-narrow", ".svc-form")
    assert layout_problems(page) == []
    page.get_by_label("Week").check()
    page.locator(".svc-cal-list").wait_for()
    lab.screenshot(page, "calendar-week-narrow", ".svc-form")
    assert layout_problems(page) == []
    violations += axe(page)

    assert violations == []
