import json
from datetime import date

import pytest

import svc_notebooks as svc
from svc_notebooks.core.events.fields import EVENT_FIELDS
from svc_notebooks.forms.event.bindings import BINDINGS, LABELS

EVERYTHING = {
    "summary": "Flight",
    "description": "Bring a passport.",
    "location": "BER",
    "start": {"dateTime": "2026-11-02T10:00:00", "timeZone": "Europe/Berlin"},
    "end": {"dateTime": "2026-11-02T13:00:00", "timeZone": "America/New_York"},
    "originalStartTime": {"dateTime": "2026-11-02T09:00:00", "timeZone": "Asia/Tokyo"},
    "recurrence": ["RRULE:FREQ=WEEKLY;BYDAY=MO;COUNT=3"],
    "anyoneCanAddSelf": True,
    "attachments": [{"fileUrl": "https://svc.example/plan"}],
    "attendees": [
        {
            "email": "bob@svc.example",
            "displayName": "Bob",
            "optional": True,
            "additionalGuests": 2,
            "comment": "With the children",
            "responseStatus": "tentative",
        },
        {"email": "room@svc.example", "resource": True},
    ],
    "colorId": "7",
    "conferenceData": {"createRequest": {"requestId": "seminar-1", "conferenceSolutionKey": {"type": "hangoutsMeet"}}},
    "extendedProperties": {"private": {"room": "3", "floor": ""}, "shared": {"room": "4"}},
    "gadget": {
        "display": "chip",
        "height": 3,
        "width": 4,
        "iconLink": "https://svc.example/icon",
        "link": "https://svc.example/gadget",
        "preferences": {"a": "1", "b": "2"},
        "title": "Weather",
        "type": "application/x",
    },
    "guestsCanInviteOthers": False,
    "guestsCanModify": True,
    "guestsCanSeeOtherGuests": False,
    "id": "flight7",
    "reminders": {"useDefault": False, "overrides": [{"method": "email", "minutes": 60}]},
    "sequence": 3,
    "source": {"title": "Term", "url": "https://svc.example/term"},
    "status": "tentative",
    "transparency": "transparent",
    "visibility": "private",
}
"""An event with every field of the interface that is written."""


@pytest.fixture
def form(lab):
    form = svc.event_form()
    form.controls.summary.value = "Tea"
    form.controls.when.first.value = date(2026, 11, 2)
    form.controls.when.zone.value = "Europe/Berlin"
    return form


def stored(event_id):
    return svc.current_session().call(
        "GET", f"/calendar/v3/calendars/primary/events/{event_id}", query={"supportsAttachments": "true"}
    )


@pytest.mark.spec("W-03", "W-03i")
def test_an_event_with_every_field_fills_the_controls_and_no_json(form):
    form.value = EVERYTHING
    assert form.value == EVERYTHING
    assert "9 h; the end is in America/New_York" in form.controls.when.ends_field.hint.value
    form.value = {**EVERYTHING, "summary": "Flight home"}

    assert "9 h; the end is in America/New_York" in form.controls.when.ends_field.hint.value
    assert form.controls.other_fields.text.value == ""
    assert form.controls.more.shown
    assert [words for field in form.controls.fields() for words in field.problems] == []
    assert "metadata" not in form.code()
    roots = {field.path.partition(".")[0].removesuffix("[]") for field in EVENT_FIELDS if not field.extension}
    writable = {field.path.partition(".")[0].removesuffix("[]") for field in EVENT_FIELDS if field.writable}
    assert set(LABELS) == roots & writable, "each field has a control or is part of one"
    assert len({row.path for row in BINDINGS}) == len(BINDINGS)


ALL_DAY = {"start": {"date": "2026-11-02"}, "end": {"date": "2026-11-03"}}


@pytest.mark.spec("W-03", "W-03i")
@pytest.mark.parametrize(
    "changes",
    [
        {},
        ALL_DAY,
        {**ALL_DAY, "originalStartTime": {"date": "2026-11-01"}},
        {**ALL_DAY, "start": {"date": "2026-11-02", "timeZone": "Asia/Tokyo"}},
        {**ALL_DAY, "end": {"date": "2026-11-03", "timeZone": "Asia/Tokyo"}},
        {"originalStartTime": {"date": "2026-11-01"}},
        {"originalStartTime": {"dateTime": "2026-11-01T10:00:00+00:00"}},
        {"start": {"dateTime": "2026-11-02T10:00:00+01:00"}},
        {"end": {"dateTime": "2026-11-02T19:00:00+01:00"}},
        {"end": {"dateTime": "2026-11-02T19:00:00+00:00"}, "start": {"dateTime": "2026-11-02T18:00:00+00:00"}},
        {"extendedProperties": {"private": {"": "no key"}}},
    ],
)
def test_the_sent_body_is_the_value(form, changes, monkeypatch):
    """`create_event` makes this body of the arguments that the form and its code give it."""
    bodies = []

    def insert_event(session, calendar, body, *, query):
        bodies.append(body)
        raise svc.BadRequest("not sent")

    monkeypatch.setattr("svc_notebooks.notebook.events.events.insert_event", insert_event)
    event = {**EVERYTHING, **changes}
    has_zones = all(event[name].keys() & {"date", "timeZone"} for name in ("start", "end"))
    form.value = {name: value for name, value in event.items() if name != "recurrence" or has_zones}
    form.create.click()
    assert bodies == [form.value], form.alert.value
    with pytest.raises(svc.BadRequest):
        eval(form.code(), {"svc": svc})

    assert bodies[1] == bodies[0]
    assert {name: bodies[0][name] for name in event if name != "recurrence"} == {
        name: event[name] for name in event if name != "recurrence"
    }


@pytest.mark.spec("W-03", "W-03i")
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {**ALL_DAY, "originalStartTime": {"date": "2026-11-01"}},
        {name: {**day, "timeZone": "Asia/Tokyo"} for name, day in ALL_DAY.items()},
        {
            "start": {"dateTime": "2026-11-02T10:00:00+01:00"},
            "end": {"dateTime": "2026-11-02T11:00:00Z"},
            "recurrence": None,
        },
    ],
)
def test_loading_and_saving_an_event_changes_nothing(form, changes):
    event = {name: value for name, value in {**EVERYTHING, **changes}.items() if value is not None}
    session = svc.current_session()
    query = {"supportsAttachments": "true", "conferenceDataVersion": 1}
    session.call("POST", "/calendar/v3/calendars/primary/events", body=event, query=query)
    before = stored("flight7")
    form.value = before
    assert [words for field in form.controls.fields() for words in field.problems] == []
    session.call("PATCH", "/calendar/v3/calendars/primary/events/flight7", body=form.value, query=query)

    after = stored("flight7")
    for clock in ("updated", "etag"):
        del before[clock], after[clock]
    assert after == before
    assert form.value.keys() >= before.keys()


@pytest.mark.spec("W-03", "W-03h", "W-03i", "E-11", "E-11a")
@pytest.mark.parametrize(
    "path, value, words",
    [
        ("id", "NO", "5 to 1024"),
        ("sequence", "-1", "0 or more"),
        ("sequence", "many", "whole number"),
        ("source.url", "ftp://x", "http"),
        ("gadget.height", "0", "1 or more"),
        ("gadget.iconLink", "http://svc.example", "https"),
        ("maxAttendees", "0", "1 or more"),
        ("maxAttendees", "all", "whole number"),
        ("end.timeZone", "Mars/Olympus", "time zone"),
    ],
)
def test_a_wrong_value_is_reported_at_its_control_and_opens_the_options(form, path, value, words):
    more = form.controls.more
    form.controls.option(path).control.value = value
    assert words in " ".join(form.controls.option(path).problems)
    more.shown = False
    form.create.click()

    assert len(svc.events()) == 0
    assert more.shown
    assert "See the message beside the field." in form.alert.value
    assert form.controls.option(path).control.value == value


@pytest.mark.spec("E-07", "E-07b", "W-03", "W-03i")
def test_the_details_of_a_guest_and_lines_of_properties(form):
    guests = form.controls.attendees.details
    guests.value = [{"email": "bob@svc.example"}]
    bob = guests.rows[0]
    bob.toggle.click()
    bob.details["additionalGuests"].value = "two"
    assert "whole number" in bob.problems[0]
    details = {"additionalGuests": 2, "comment": "gladly", "responseStatus": "accepted", "resource": True}
    for name, value in details.items():
        bob.details[name].value = value if value is True else str(value)
    assert form.value["attendees"] == [{"email": "bob@svc.example", **details}]
    bob.toggle.click()
    assert bob.box.layout.display == "none"
    assert form.value["attendees"][0]["comment"] == "gladly"

    private, shared = (form.controls.option(f"extendedProperties.{scope}") for scope in ("private", "shared"))
    private.text.value, shared.text.value = "room=3\n", "room=4"
    assert form.value["extendedProperties"] == {"private": {"room": "3"}, "shared": {"room": "4"}}
    assert "private={'room': '3'}" in form.code()
    private.text.value = "room=3\nroom=4"
    assert private.problems == ("room has several lines. Remove all but one of them.",)
    private.text.value = "room=3\n=4"
    assert private.problems == ("Enter each property as name=value in a line of its own.",)
    form.create.click()
    assert len(svc.events()) == 0
    private.text.value, shared.text.value = "room=3", ""
    form.create.click()
    assert stored(form.result["id"].item())["extendedProperties"] == {"private": {"room": "3"}}


@pytest.mark.spec("W-03", "W-03i")
@pytest.mark.parametrize(
    "event, label",
    [
        ({"summary": "Coffee"}, "Title"),
        ({"start": {"date": "2026-11-02"}}, "Start"),
        ({"status": "confirmed"}, "Status"),
        ({"extendedProperties": {"private": {"b": "2"}}}, "Extended properties"),
        ({"attendees": []}, "Guests"),
    ],
)
def test_json_does_not_replace_what_a_control_sets(form, event, label):
    form.controls.option("status").value = "tentative"
    form.controls.option("extendedProperties.private").value = {"a": "1"}
    form.controls.attendees.value = [{"email": "bob@svc.example"}]
    further = form.controls.other_fields
    further.text.value = json.dumps(event)
    assert f"The control {label} sets this field too: {next(iter(event))}." in further.problems[0]
    form.create.click()
    assert len(svc.events()) == 0
    assert further.text.value == json.dumps(event)
    further.text.value = ""
    form.create.click()

    assert (form.last_error is None, len(svc.events())) == (False, 1)
    assert "Created: Tea." in form.status.value


@pytest.mark.spec("E-17", "W-03", "W-03i")
def test_the_parameters_of_the_request(form):
    form.controls.conference.value = True
    form.controls.attachments.link.value = "https://svc.example/plan"
    form.controls.option("conferenceDataVersion").value = 0
    form.controls.option("supportsAttachments").value = False
    form.controls.option("maxAttendees").value = 1
    form.controls.attendees.value = [{"email": "bob@svc.example"}, {"email": "cleo@svc.example"}]
    form.create.click()

    assert form.last_error is None
    made = stored(form.result["id"].item())
    assert "conferenceData" not in made
    assert "attachments" not in made
    assert len(made["attendees"]) == 2
    assert "conference_data_version=0" in form.code()
    assert "supports_attachments=False" in form.code()
