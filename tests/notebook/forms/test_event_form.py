from datetime import date
from types import SimpleNamespace

import pytest
from hypothesis import given, strategies as st

import svc_notebooks as svc
from svc_notebooks.core.errors.errors import AlreadyExists
from svc_notebooks.core.events.fields import EVENT_FIELDS
from svc_notebooks.core.events.rrule import Freq
from svc_notebooks.core.events.validation import problems, with_defaults
from svc_notebooks.notebook.events.body import LENIENT
from tests.examples import examples

WEEKLY = {
    "summary": "Seminar",
    "start": {"dateTime": "2026-11-02T10:00:00", "timeZone": "Europe/Berlin"},
    "end": {"dateTime": "2026-11-02T11:30:00", "timeZone": "Europe/Berlin"},
    "recurrence": ["RRULE:FREQ=WEEKLY;BYDAY=MO,WE;UNTIL=20270212T225959Z"],
}

FIELDS = sorted({field.path.partition(".")[0].removesuffix("[]") for field in EVENT_FIELDS if field.writable})
PARTS = sorted({field.path.rpartition(".")[2].removesuffix("[]") for field in EVENT_FIELDS if field.writable})


@pytest.fixture
def file(lab):
    return svc.upload(b"draft", name="draft <b>.txt")


@pytest.fixture
def form(lab, file):
    form = svc.event_form()
    form.controls.summary.value = "Tea"
    form.controls.when.first.value = date(2026, 11, 2)
    form.controls.when.zone.value = "Europe/Berlin"
    return form


def problems_of(form):
    return [words for field in form.controls.fields() for words in field.problems]


@pytest.mark.spec("E-01", "E-01a")
def test_create_creates_the_event_and_shows_it_with_escaped_names(form):
    form.create.click()
    assert form.last_error is None
    assert form.result["summary"].tolist() == ["Tea"]
    assert svc.event(form.result["id"].item())["summary"].item() == "Tea"
    assert "Created: Tea." in form.status.value
    assert "lab.serve()" in form.status.value  # no browser comes to a kernel
    assert form.result["id"].item() in form.table.value

    form.controls.summary.value = "<img src=x>"
    form.controls.attachments.attach.click()
    form.create.click()
    for shown in (form.status, form.code_area, form.table, form.controls.attachments.rows[0].controls[0]):
        assert "<img" not in shown.value
        assert "<b>" not in shown.value


@pytest.mark.spec("W-03", "W-03d", "W-03f", "W-03g", "W-03i")
def test_every_part_of_the_form_reaches_the_service(form, file):
    parts = form.controls
    parts.location.value = "Mill pond"
    parts.description.value = "Bring bread."
    parts.attendees.value = [{"email": "bob@svc.example", "displayName": "Bob", "optional": True}]
    parts.option("guestsCanModify").control.value = True
    parts.reminders.value = {"useDefault": False, "overrides": [{"method": "email", "minutes": 60}]}
    parts.conference.value = True
    parts.attachments.attach.click()
    parts.color.value = "7"
    parts.visibility.value = "private"
    parts.transparency.value = "transparent"
    parts.repeats.frequency.value = Freq.DAILY
    parts.other_fields.value = {"status": "tentative", "extendedProperties": {"private": {"room": "3"}}}
    form.create.click()

    assert (form.last_error, problems_of(form)) == (None, [])
    path = f"/calendar/v3/calendars/primary/events/{form.result['id'].item()}"
    made = svc.current_session().call("GET", path, query={"supportsAttachments": "true"})
    assert made["location"] == "Mill pond"
    assert made["attendees"][0]["displayName"] == "Bob"
    assert made["guestsCanModify"] is True
    assert made["reminders"] == {"useDefault": False, "overrides": [{"method": "email", "minutes": 60}]}
    assert "hangoutLink" in made
    assert made["attachments"][0]["title"] == "draft <b>.txt"
    assert (made["colorId"], made["visibility"], made["transparency"]) == ("7", "private", "transparent")
    assert made["recurrence"] == ["RRULE:FREQ=DAILY"]
    assert (made["status"], made["extendedProperties"]) == ("tentative", {"private": {"room": "3"}})


@pytest.mark.spec("W-03", "W-03b", "W-03c", "W-03d", "W-03e")
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"recurrence": ["RRULE:FREQ=MONTHLY"]},
        {"recurrence": ["RRULE:FREQ=MONTHLY;BYDAY=2TU;COUNT=3"]},
        {"recurrence": ["RRULE:FREQ=MONTHLY;BYMONTHDAY=-1"]},
        {"recurrence": ["RRULE:FREQ=DAILY;COUNT=3", "EXDATE;TZID=Europe/Berlin:20261103T100000"]},
        {"attendees": [{"email": "bob@svc.example", "responseStatus": "tentative", "additionalGuests": 2}]},
        {"reminders": {"useDefault": False}},
        {"reminders": {"useDefault": False, "overrides": [{"method": "popup", "minutes": 0}]}},
        {"reminders": {"useDefault": True, "overrides": [{"method": "sms", "minutes": 5}]}},
        {"guestsCanInviteOthers": False, "guestsCanSeeOtherGuests": False},
        {"guestsCanInviteOthers": False, "guestsCanModify": []},
        {"colorId": "99", "visibility": "secret", "transparency": "transparent"},
        {"id": "abc123", "sequence": 3, "source": {"title": "Term", "url": "https://svc.example/term"}},
        {"extendedProperties": {"shared": {"room": "3"}}, "gadget": {"height": 3}},
    ],
)
def test_setting_value_round_trips(form, more):
    form.value = {**WEEKLY, **more}

    assert form.value == {**WEEKLY, **more}


@pytest.mark.spec("W-03", "W-03a")
def test_all_day_by_dates(form):
    form.controls.when.all_day.value = True
    form.controls.when.last.value = date(2026, 11, 4)

    assert form.value["start"] == {"date": "2026-11-02"}
    assert form.value["end"] == {"date": "2026-11-05"}
    form.value = {"start": {"date": "2026-12-24"}, "end": {"date": "2026-12-27"}}
    assert form.controls.when.last.value == date(2026, 12, 26)
    assert form.code() == "svc.create_event(start='2026-12-24', end='2026-12-27')"


TEXTS = ["2026-11-02", "Europe/Berlin", "RRULE:FREQ=DAILY", "bob@svc.example", "popup", "private"]
scalars = st.none() | st.booleans() | st.integers(-5, 50_000) | st.text(max_size=5)
anything = st.recursive(
    scalars | st.sampled_from(TEXTS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(PARTS), inner, max_size=3),
    max_leaves=5,
)


@pytest.mark.spec("W-03", "W-03b", "W-03h")
def test_any_value_is_kept_and_its_problems_are_shown(form):
    taken = SimpleNamespace(create_event=lambda summary=None, **rest: rest)

    @examples(0.5)
    @given(st.dictionaries(st.sampled_from(FIELDS), anything, max_size=4))
    def check(more):
        event = {**WEEKLY, **more}
        form.value = event

        kept, meant = with_defaults(form.value), with_defaults(event)
        assert {name: value for name, value in kept.items() if value} == {
            name: value for name, value in meant.items() if value
        }
        assert bool(problems_of(form)) == bool(problems(event, LENIENT))
        assert eval(form.code(), {"svc": taken}).items() <= form.draft.arguments.items()
        assert form.alert.value == ""

    check()


@pytest.mark.spec("W-03", "W-03b", "W-03h", "E-11", "E-11b")
def test_an_end_before_the_start_and_an_error_of_the_service_are_reported_at_their_fields(form):
    form.controls.when.last.value = date(2026, 11, 1)
    assert form.controls.when.ends_field.problems
    form.create.click()
    assert "Nothing was created" in form.alert.value
    assert len(svc.events()) == 0
    form.controls.when.last.value = date(2026, 11, 3)
    assert problems_of(form) == []

    form.controls.other_fields.value = {"id": "abc123"}
    form.create.click()
    form.create.click()
    assert isinstance(form.last_error, AlreadyExists)
    assert len(form.result) == 1
    assert form.controls.other_fields.problems
    assert "beside the field" in form.alert.value


@pytest.mark.spec("W-03", "W-03c", "E-21")
def test_the_preview_follows_every_change(form):
    form.value = WEEKLY
    preview = form.controls.preview
    assert "30 instances" in preview.list.value
    assert "Mon 02 Nov 2026, 10:00 to 11:30" in preview.list.value
    assert preview.months.value.count("<mark") == 9 + 9
    form.controls.when.first.value = date(2026, 12, 7)
    assert "December 2026" in preview.months.value
    form.controls.repeats.frequency.value = "never"

    assert preview.layout.display == "none"
