"""Rules for the controls of all forms, which keep ipywidgets working in a browser.

ipywidgets randomly loses a first option whose value is None, in one kernel of four. It also holds back letters that a
busy kernel has not handled yet, but sends the click on a button at once.
"""

import ipywidgets as widgets
import pytest

import svc_notebooks as svc


def widgets_below(widget):
    """The widgets in it, however deep."""
    yield widget
    for child in getattr(widget, "children", ()):
        yield from widgets_below(child)


NAMED = widgets.Button | widgets.Text | widgets.Textarea | widgets.IntText | widgets.Checkbox | widgets.Dropdown
NAMED |= widgets.RadioButtons | widgets.Select | widgets.SelectMultiple | widgets.DatePicker | widgets.TimePicker


@pytest.mark.spec("W-05", "W-05b")
def test_text_is_sent_when_the_field_is_left_and_every_control_has_a_label_and_a_tooltip(lab):
    svc.upload(b"pond,birds\n", name="Counts", mime_type="text/csv", convert_to="spreadsheet")
    board = svc.dashboard()  # whose tabs make the forms
    for page in ("files", "upload", "export", "events", "notifications", "wire", "lab"):
        board.show(page)
    event = svc.event_form()
    event.controls.attendees.details.add.click()
    controls = [*widgets_below(board), *widgets_below(event)]

    fields = [control for control in controls if isinstance(control, widgets.Text | widgets.Textarea | widgets.IntText)]
    assert len(fields) > 25
    # Filters go with every letter.
    expected = {"The list is updated while you type", "List only exchanges whose path or query contains this text"}
    assert {control.tooltip.split(",")[0] for control in fields if control.continuous_update} == expected
    named = [control for control in controls if isinstance(control, NAMED)]
    hidden = [inner for control in controls if control.layout.display == "none" for inner in widgets_below(control)]
    assert len(named) > 100
    # A question that nobody has asked yet has no words on its buttons.
    without_text = [control for control in named if not (control.description and control.tooltip)]
    assert [control for control in without_text if control not in hidden] == []
