"""Who sees nothing, or little, or has no mouse: axe-core on every form, light and dark, begun and filled."""

import pytest

from tests.browser.forms.test_event_form import KEY_HAS_FOCUS
from tests.browser.keys import walk
from tests.browser.room import squeezed

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
    page.get_by_label("Choose files of this computer").set_input_files(
        [{"name": name, "mimeType": "text/plain", "buffer": b"hello"} for name in ("one.txt", "two.txt")]
    )
    page.get_by_text("2 of 2 ready to upload").wait_for()


def uploaded(page):
    add_files(page)
    page.get_by_role("button", name="Upload", exact=True).click()
    page.get_by_text("Done: 2 files uploaded").wait_for()
    page.get_by_role("button", name="Upload", exact=True).click()
    page.get_by_role("alert").get_by_text("No file is chosen").wait_for()
    add_files(page)


def replacing(page):
    page.get_by_label("Choose files of this computer").set_input_files(
        {"name": "may.txt", "mimeType": "text/plain", "buffer": b"hello"}
    )
    page.get_by_text("1 of 1 ready to upload").wait_for()
    page.get_by_label("new content of an existing file").check()
    page.get_by_role("button", name="More options", exact=True).click()
    page.get_by_label("Media type").fill("text")
    page.keyboard.press("Tab")
    page.get_by_role("alert").get_by_text("text is not a media type").wait_for()
    page.get_by_label("Media type").fill("text/plain")
    page.keyboard.press("Tab")
    page.get_by_text("text is not a media type").wait_for(state="detached")
    page.get_by_role("button", name="Upload", exact=True).click()
    page.get_by_text("Replace the content of").wait_for()


def part_chosen(page):
    page.get_by_role("grid", name="Files").get_by_role("row").filter(has_text="plan.txt").click()
    page.get_by_text("About plan.txt").wait_for()
    page.get_by_role("button", name="Download", exact=True).click()
    page.locator(".svc-question :focus").wait_for()  # it is brought there, and would take the keys of another field
    page.get_by_role("button", name="More options", exact=True).click()
    page.get_by_label("First byte").fill("99")
    page.keyboard.press("Tab")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("alert").get_by_text("the first byte must be").wait_for()


def exported(page):
    page.get_by_label("CSV (first sheet only) (.csv)").check()
    page.get_by_role("button", name="Preview", exact=True).click()
    page.get_by_text("Preview of Counts").wait_for()


def event_filled(page):
    page.get_by_label("Title").fill("Seminar")
    page.get_by_label("Repeats").select_option("weekly")
    page.get_by_text("RRULE:FREQ=WEEKLY").first.wait_for()
    page.get_by_role("button", name="Add guest").click()
    page.get_by_label("E-mail").fill("ada@")
    page.get_by_role("button", name="Details").click()
    page.get_by_label("Additional guests").fill("some")
    page.get_by_label("my own").check()
    page.get_by_label("minutes before").fill("99999")
    page.get_by_role("button", name="Attach", exact=True).click()
    page.get_by_label("Time zone").fill("Mars/Olympus")
    page.get_by_role("alert").get_by_text("is no time zone of the IANA database").wait_for()
    page.get_by_role("button", name="More options").click()
    for n, name in enumerate(("Add property", "Add preference")):
        page.get_by_role("button", name=name).click()
        page.wait_for_function(KEY_HAS_FOCUS, arg=n)
    page.get_by_label("Value").first.fill("3")
    page.get_by_label("Sequence").fill("-1")
    page.get_by_label("Sequence").press("Tab")
    page.get_by_role("alert").get_by_text("expected a whole number of 0 or more").wait_for()
    page.get_by_label("Other fields").fill('{"summary": "Tea", "mood": 3}')
    page.get_by_label("Other fields").press("Tab")
    page.get_by_role("alert").get_by_text("The control Title sets this field too").wait_for()
    page.get_by_role("button", name="Create", exact=True).click()
    page.get_by_role("alert").get_by_text("Nothing was created").wait_for()


def watched(page):
    page.get_by_role("button", name="Watch", exact=True).click()
    message = page.locator("details:has(code)")
    message.get_by_text("sync", exact=True).wait_for()
    message.locator("summary").first.click()
    page.get_by_role("button", name="Stop", exact=True).click()
    page.get_by_text("Stopped: nothing more is told").wait_for()
    page.get_by_role("button", name="More options").click()
    page.get_by_label("Expires", exact=True).select_option("At a date and time")
    page.get_by_label("Token", exact=True).fill("Bearer abc")
    page.get_by_role("button", name="Watch", exact=True).click()
    page.get_by_role("alert").get_by_text("No channel was opened").wait_for()
    page.get_by_role("alert").get_by_text("token begins with").wait_for()


def as_it_is(page):
    """Nothing is filled in."""


def tab(title):
    """What opens this tab of the dashboard."""

    def opened(page):
        page.get_by_role("tab", name=title, exact=True).click()
        page.locator(".svc-form .svc-form:visible").first.wait_for()

    return opened


# Each form, how it is made, and what fills it.
FORMS = {
    "upload": ("upload_form()", uploaded),
    "upload-existing": ("upload_form()", replacing),
    "export": ("export_form()", exported),
    "event": ("event_form()", event_filled),
    "watch": ("watch_panel()", watched),
    "files": ("file_browser()", as_it_is),
    "files-part": ("file_browser()", part_chosen),
    "dashboard": ("dashboard()", as_it_is),
    "dashboard-wire": ("dashboard()", tab("Wire")),
    "dashboard-lab": ("dashboard()", tab("Lab controls")),
}
# 400 pixels of form; a window of 1280 in which everything is twice as large
WIDTHS = {"narrow": 530, "zoomed": 640}


def begin(lab, name):
    """The page with this form in it."""
    made, _fill = FORMS[name]
    page = lab.run(lab.write(f"{name}.ipynb", SANDBOX.format(form=made)))
    page.set_viewport_size({"width": 1280, "height": 2200})
    page.locator(".svc-form").first.wait_for()
    return page


@pytest.mark.spec("W-05", "W-05b", "W-05c")
@pytest.mark.parametrize("name", FORMS)
def test_axe_finds_nothing(lab, axe, name):
    page = begin(lab, name)
    found = {"begun": axe(page)}

    FORMS[name][1](page)
    page.locator(".svc-form details").evaluate_all("all => all.forEach(one => one.open = true)")
    for theme in ("Light", "Dark"):
        lab.theme(page, theme)
        lab.shot(page, f"form-{name}-{theme.lower()}", of=".svc-form")
        found[theme] = axe(page)

    assert [one for state in found.values() for one in state] == []


@pytest.mark.spec("W-05", "W-05a", "W-05c")
@pytest.mark.parametrize("name", FORMS)
def test_tab_goes_through_it_as_the_eye_does(lab, name):
    page = begin(lab, name)
    FORMS[name][1](page)
    page.evaluate("() => window.jupyterapp.shell.currentWidget.content.node.focus()")

    wrong = walk(page)

    assert {word: found for word, found in wrong.items() if found} == {}


@pytest.mark.spec("W-05", "W-05c")
@pytest.mark.parametrize("name", FORMS)
def test_little_room(lab, name):
    page = begin(lab, name)
    FORMS[name][1](page)

    found = {}
    for word, width in WIDTHS.items():
        page.set_viewport_size({"width": width, "height": 1400})
        found[word] = squeezed(page)
        lab.shot(page, f"form-{name}-{word}", of=".svc-form")

    assert found == {"narrow": [], "zoomed": []}


@pytest.mark.spec("W-05", "W-05c")
def test_axe_would_find_it(lab, axe):
    """A button without a name, and words that can hardly be read: both are in the form, so both are told."""
    wrong = "<button></button><p style='color: #777; background: #888'>hardly to be read</p>"
    lab.write("axe-wrong.ipynb", f"import ipywidgets\nbox = ipywidgets.HTML({wrong!r})\nbox.add_class('svc-form')\nbox")
    page = lab.run("axe-wrong.ipynb")
    page.get_by_text("hardly to be read", exact=True).wait_for()

    found = axe(page)

    assert [one.rule.partition(":")[0] for one in found] == ["button-name", "color-contrast"]
    assert "hardly to be read" in found[1].element
    assert "contrast of" in found[1].mend
