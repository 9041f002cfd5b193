"""Typing and clicking while the kernel is busy: nothing that was typed or pressed is lost."""

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]

CELL = """
import time
import svc_notebooks as svc
lab = svc.sandbox()
form = svc.upload_form()
form.controls.files.path.value = "letters.txt"
form
"""
SLOW = "form.controls.name.observe(lambda _change: time.sleep(0.3), 'value')"

# A line that appears above the button while it is pressed.
SHIFT = """() => {
  const line = document.createElement('p');
  line.style.height = '80px';
  document.querySelector('.svc-form').prepend(line);
}"""


@pytest.fixture
def form(lab):
    (lab.folder / "letters.txt").write_text("alpha, beta")
    page = lab.show("hurry.ipynb", CELL)
    page.get_by_role("button", name="Upload", exact=True).wait_for()
    return page


def begin_press(page, button):
    """The mouse is down in the middle of the button."""
    button.scroll_into_view_if_needed()
    box = button.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()


def test_a_button_is_not_faster_than_the_last_letter(lab, form):
    lab.run_code(form, SLOW)
    form.get_by_label("Name", exact=True).click()
    form.keyboard.type("greek letters.txt", delay=20)
    form.get_by_role("button", name="Upload", exact=True).click()
    form.get_by_text("Done: 1 file uploaded").wait_for()

    assert lab.run_code(form, "print(svc.files()['name'].tolist())") == "['greek letters.txt']"


def test_a_press_is_of_the_button_where_it_began_and_is_taken_back_by_moving_away(lab, form):
    upload = form.get_by_role("button", name="Upload", exact=True)
    begin_press(form, upload)
    form.mouse.move(5, 5, steps=5)
    form.mouse.up()
    form.get_by_role("button", name="Resume", exact=True).click()
    form.get_by_role("alert").first.wait_for()
    assert lab.run_code(form, "print(len(svc.files()))") == "0"

    begin_press(form, upload)
    form.evaluate(SHIFT)
    form.mouse.up()
    form.get_by_text("Done: 1 file uploaded").wait_for()
