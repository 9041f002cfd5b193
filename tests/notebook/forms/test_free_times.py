import pytest

import svc_notebooks as svc
from svc_notebooks.forms.event.form import EventForm

BOB, EVE = "bob@svc.example", "eve@svc.example"


@pytest.fixture
def form(lab: svc.Sandbox) -> EventForm:
    """A form with Bob as the guest, who is busy until 11:30 on the day of the event."""
    bob = lab.sign_in(BOB)
    svc.share_calendar("primary", "ada@svc.example", role="freeBusyReader", session=bob)
    svc.create_event("Busy", start="today 09:00", end="11:30", time_zone="UTC", session=bob)
    form = svc.event_form()
    form.controls.attendees.list.value = f"Bob <{BOB}>"
    return form


def labels(form: EventForm) -> list[str]:
    return [label for label, _ in form.free_times.slots.options]


def test_selecting_a_time_sets_start_and_end_with_the_length_and_the_zone_of_the_event(form: EventForm) -> None:
    form.free_times.find.click()
    assert labels(form)[:3] == ["No time selected", "Mon 05 Jan 11:30-12:30", "Mon 05 Jan 12:30-13:30"]
    assert len(labels(form)) == 9
    form.free_times.slots.index = 1
    assert form.controls.when.value.start.isoformat() == "2026-01-05T11:30:00"
    assert "start='2026-01-05 11:30'" in form.code()
    assert "end='2026-01-05 12:30'" in form.code()

    tokyo = {"timeZone": "Asia/Tokyo"}
    times = {"start": {"dateTime": "2026-01-07T10:00:00", **tokyo}, "end": {"dateTime": "2026-01-07T12:30:00", **tokyo}}
    form.value = {**times, "attendees": [{"email": BOB}]}
    form.free_times.find.click()
    form.free_times.slots.index = 2
    assert labels(form)[1:4] == ["Wed 07 Jan 09:00-11:30", "Wed 07 Jan 11:30-14:00", "Wed 07 Jan 14:00-16:30"]
    assert form.value["end"] == {"dateTime": "2026-01-07T14:00:00", **tokyo}


@pytest.mark.parametrize("first, message", [("all day", ""), ("Eve", EVE), ("no time", "no common free time")])
def test_what_the_field_shows(form: EventForm, first: str, message: str) -> None:
    if first == "all day":
        form.controls.when.all_day.value = True
    elif first == "Eve":
        form.controls.attendees.list.value = EVE
    else:
        svc.create_event("Away", start="today", end="2026-01-20", transparency="opaque")

    form.free_times.find.click()

    shown = " ".join(form.free_times.problems) + form.free_times.hint.value
    assert message in shown
    assert (len(labels(form)) > 1) == (not message)
    assert not form.alert.value
