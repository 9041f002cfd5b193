"""Checks the accessibility of every form: axe-core in both themes, tab order, narrow windows."""

import pytest

from tests.browser.keyboard import tab_through
from tests.browser.layout import layout_problems

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]

SANDBOX = """
import svc_notebooks as svc
lab = svc.sandbox()
svc.upload(b"pond,birds\\nMill pond,12\\n", name="Counts", mime_type="text/csv", convert_to="spreadsheet")
plan = svc.upload(b"Feed the ducks on Monday.", name="plan.txt")
form = svc.{form}
form
"""


def add_files(page):
    page.get_by_label("Choose files").set_input_files(
        [{"name": name, "mimeType": "text/plain", "buffer": b"hello"} for name in ("one.txt", "two.txt")]
    )
    page.get_by_text("2 of 2 ready to upload").wait_for()


def fill_upload(page):
    add_files(page)
    page.get_by_role("button", name="Upload", exact=True).click()
    page.get_by_text("Done: 2 files uploaded").wait_for()
    page.get_by_role("button", name="Upload", exact=True).click()
    page.get_by_role("alert").get_by_text("No file is selected").wait_for()
    add_files(page)


def fill_replacement(page):
    page.get_by_label("Choose files").set_input_files({"name": "may.txt", "mimeType": "text/plain", "buffer": b"hello"})
    page.get_by_text("1 of 1 ready to upload").wait_for()
    page.get_by_label("New content for an existing file").check()
    page.get_by_role("button", name="More options", exact=True).click()
    page.get_by_label("Media type").fill("text")
    page.keyboard.press("Tab")
    page.get_by_role("alert").get_by_text("text is not a media type").wait_for()
    page.get_by_label("Media type").fill("text/plain")
    page.keyboard.press("Tab")
    page.get_by_text("text is not a media type").wait_for(state="detached")
    page.get_by_role("button", name="Upload", exact=True).click()
    page.get_by_text("Replace the content of").wait_for()


def fill_byte_range(page):
    page.get_by_role("grid", name="Files").get_by_role("row").filter(has_text="plan.txt").click()
    page.get_by_text("Details of plan.txt").wait_for()
    page.get_by_role("button", name="Download", exact=True).click()
    page.locator(".svc-question :focus").wait_for()  # it is brought there, and would take the keys of another field
    page.get_by_label("Byte range").fill("all")
    page.keyboard.press("Tab")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("alert").get_by_text("byte_range").wait_for()


def preview_export(page):
    page.get_by_label("CSV (first sheet only) (.csv)").check()
    page.get_by_role("button", name="Preview", exact=True).click()
    page.get_by_text("Preview of Counts").wait_for()


def fill_event(page):
    page.get_by_label("Title", exact=True).fill("Seminar")
    page.get_by_label("Repeats").select_option("Weekly")
    page.get_by_text("RRULE:FREQ=WEEKLY").first.wait_for()
    page.get_by_label("Guests", exact=True).fill("bob@svc.example, nobody")
    page.get_by_label("Time zone", exact=True).fill("Mars/Olympus")
    page.keyboard.press("Tab")
    page.get_by_role("alert").get_by_text("is not a time zone of the IANA database").wait_for()
    page.get_by_role("button", name="More options").click()
    page.get_by_role("button", name="Add guest").click()
    page.get_by_label("E-mail").fill("ada@")
    page.get_by_role("button", name="Details").click()
    page.get_by_label("Additional guests").fill("some")
    page.get_by_label("Custom").check()
    page.get_by_label("minutes before").fill("99999")
    page.get_by_role("button", name="Attach", exact=True).click()
    page.get_by_label("Private properties").fill("3")
    page.get_by_label("Sequence").fill("-1")
    page.get_by_label("Sequence").press("Tab")
    page.get_by_role("alert").get_by_text("expected a whole number of 0 or more").wait_for()
    page.get_by_label("Other fields").fill('{"summary": "Tea", "mood": 3}')
    page.get_by_label("Other fields").press("Tab")
    page.get_by_role("alert").get_by_text("The control Title sets this field too").wait_for()
    page.get_by_role("button", name="Create", exact=True).click()
    page.get_by_role("alert").get_by_text("Nothing was created").wait_for()


def fill_calendar(page):
    page.get_by_role("gridcell").first.dblclick()
    page.get_by_label("Title", exact=True).fill("Seminar")
    page.get_by_role("button", name="Create", exact=True).click()
    page.get_by_role("status").get_by_text("Created Seminar.").wait_for()
    page.get_by_role("grid").get_by_role("button", name="Seminar").click()
    page.get_by_role("button", name="Edit", exact=True).wait_for()


def fill_watch(page):
    page.get_by_role("button", name="Watch", exact=True).click()
    message = page.locator("details:has(code)")
    message.get_by_text("sync", exact=True).wait_for()
    message.locator("summary").first.click()
    page.get_by_role("button", name="Stop", exact=True).click()
    page.get_by_text("Stopped: no more notifications").wait_for()
    page.get_by_role("button", name="More options").click()
    page.get_by_label("Expires", exact=True).fill("2h")
    page.get_by_label("Token", exact=True).fill("Bearer abc")
    page.get_by_role("button", name="Watch", exact=True).click()
    page.get_by_role("alert").get_by_text("No channel was opened").wait_for()
    page.get_by_role("alert").get_by_text("token begins with").wait_for()


def leave_unfilled(page):
    """Nothing is filled in."""


def tab(title):
    def opened(page):
        page.get_by_role("tab", name=title, exact=True).click()
        page.locator(".svc-form .svc-form:visible").first.wait_for()

    return opened


# Each form, how it is made, and what fills it.
FORMS = {
    "upload": ("upload_form()", fill_upload),
    "upload-existing": ("upload_form()", fill_replacement),
    "export": ("export_form()", preview_export),
    "event": ("event_form()", fill_event),
    "calendar": ("calendar_view(view='week')", fill_calendar),
    "watch": ("watch_panel()", fill_watch),
    "files": ("file_browser()", leave_unfilled),
    "files-part": ("file_browser()", fill_byte_range),
    "dashboard": ("dashboard()", leave_unfilled),
    "dashboard-wire": ("dashboard()", tab("HTTP")),
    "dashboard-lab": ("dashboard()", tab("Lab controls")),
}
# 400 pixels of form; a window of 1280 in which everything is twice as large
WIDTHS = {"narrow": 530, "zoomed": 640}


@pytest.mark.spec("W-05", "W-05a", "W-05b", "W-05c")
@pytest.mark.parametrize("name", FORMS)
def test_a_form_is_accessible(lab, axe, name):
    """Tab goes through it as the eye does, narrow windows show all of it, and axe reports no violation."""
    made, fill = FORMS[name]
    page = lab.run(lab.write(f"{name}.ipynb", SANDBOX.format(form=made)))
    page.set_viewport_size({"width": 1280, "height": 2200})
    page.locator(".svc-form").first.wait_for()
    violations = axe(page)

    fill(page)
    page.evaluate("() => window.jupyterapp.shell.currentWidget.content.node.focus()")
    problems = {word: found for word, found in tab_through(page).items() if found}
    for word, width in WIDTHS.items():
        page.set_viewport_size({"width": width, "height": 1400})
        problems |= {word: found} if (found := layout_problems(page)) else {}
        lab.screenshot(page, f"form-{name}-{word}", selector=".svc-form")
    page.set_viewport_size({"width": 1280, "height": 2200})
    page.locator(".svc-form details").evaluate_all("all => all.forEach(one => one.open = true)")
    for theme in ("Light", "Dark"):
        lab.theme(page, theme)
        lab.screenshot(page, f"form-{name}-{theme.lower()}", selector=".svc-form")
        violations += axe(page)

    assert problems == {}
    assert violations == []


@pytest.mark.spec("W-05", "W-05c")
def test_axe_would_find_it(lab, axe):
    """A button without a name, and words that can hardly be read: both are in the form, so both are told."""
    wrong = "<button></button><p style='color: #777; background: #888'>hardly to be read</p>"
    code = f"import ipywidgets\nbox = ipywidgets.HTML({wrong!r})\nbox.add_class('svc-form')\nbox"
    page = lab.show("axe-wrong.ipynb", code)
    page.get_by_text("hardly to be read", exact=True).wait_for()

    violations = axe(page)

    assert [violation.rule.partition(":")[0] for violation in violations] == ["button-name", "color-contrast"]
    assert "hardly to be read" in violations[1].element
    assert "contrast of" in violations[1].fix
