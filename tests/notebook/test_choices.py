"""What a chooser offers: ipywidgets loses a first choice whose value is None in one kernel of four, at random."""

import ipywidgets as widgets
import pytest

import svc_notebooks as svc


@pytest.fixture
def choosers():
    """Every chooser of every form; the tabs of the dashboard make the forms."""
    with svc.sandbox():
        svc.upload(b"pond,birds\n", name="Counts", mime_type="text/csv", convert_to="spreadsheet")
        board = svc.dashboard()
        for page in ("files", "upload", "export", "events", "notifications", "wire", "lab"):
            board.show(page)
        yield [*found(board), *found(svc.event_form())]


def found(widget):
    """The choosers in it, however deep."""
    if isinstance(widget, widgets.Dropdown | widgets.RadioButtons | widgets.Select):
        yield widget
    for child in getattr(widget, "children", ()):
        yield from found(child)


@pytest.mark.spec("W-01", "W-05")
def test_no_choice_is_none(choosers):
    assert len(choosers) > 20
    assert [one.description for one in choosers if None in one._options_values] == []
