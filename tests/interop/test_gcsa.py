"""gcsa from PyPI, unmodified, driven by the description that its own client ships, with only the address changed."""

from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from gcsa.attachment import Attachment
from gcsa.attendee import Attendee, ResponseStatus
from gcsa.calendar import Calendar
from gcsa.conference import ConferenceSolution, ConferenceSolutionCreateRequest, EntryPoint, SolutionType
from gcsa.event import Event, Transparency, Visibility
from gcsa.google_calendar import SendUpdatesMode
from gcsa.recurrence import MO, WE, Recurrence
from gcsa.reminders import EmailReminder, PopupReminder
from googleapiclient.errors import HttpError

from svc_notebooks.core.http.messages import Headers, Request

pytestmark = pytest.mark.interop

BERLIN = "Europe/Berlin"
ZONE = ZoneInfo(BERLIN)
TEN, NOON = datetime(2026, 11, 2, 10, tzinfo=ZONE), datetime(2026, 11, 2, 12, tzinfo=ZONE)
WINTER = {"time_min": date(2026, 11, 1), "time_max": date(2027, 3, 1), "timezone": BERLIN}


def seminar(**more: Any) -> Event:
    return Event("Seminar", start=TEN, end=NOON, timezone=BERLIN, **more)


@pytest.mark.spec("E-01", "E-01a", "E-02", "E-02a", "E-02b", "E-02c", "E-18", "E-18a")
def test_an_event_is_created_and_read(calendar):
    made = calendar.add_event(seminar(description="Bring a laptop", location="Room 5", color_id="3"))

    read = calendar.get_event(made.event_id)

    for event in (made, read):
        assert (event.summary, event.description, event.location) == ("Seminar", "Bring a laptop", "Room 5")
        assert (event.start, event.end, event.timezone, event.color_id) == (TEN, NOON, BERLIN, "3")
        assert event.creator.email == event.organizer.email == "ada@svc.example"
        assert event.other["htmlLink"].startswith("http")
    assert made.created <= made.updated
    holiday = calendar.add_event(Event("Holiday", start=date(2026, 12, 24), end=date(2026, 12, 27)))
    assert (holiday.start, holiday.end) == (date(2026, 12, 24), date(2026, 12, 27))
    assert calendar.get_event(holiday.event_id) == holiday


DATES = [
    Recurrence.rule(freq="DAILY", count=3),
    Recurrence.exclude_times([datetime(2026, 11, 3, 10, tzinfo=ZONE)], timezone=BERLIN),
    Recurrence.times([datetime(2026, 11, 20, 10, tzinfo=ZONE)], timezone=BERLIN),
]


@pytest.mark.spec("E-04", "E-04b", "E-12", "E-12a")
@pytest.mark.parametrize(
    "lines, days",
    [([Recurrence.rule(freq="WEEKLY", by_week_day=[MO, WE], count=4)], [2, 4, 9, 11]), (DATES, [2, 4, 20])],
    ids=["rule", "dates that are added and taken out"],
)
def test_a_series_and_its_instances(calendar, lines, days):
    made = calendar.add_event(seminar(recurrence=lines))

    events = list(calendar.get_instances(made, **WINTER, maxResults=3))

    assert made.recurrence == lines
    assert [event.start.astimezone(ZONE) for event in events] == [TEN.replace(day=day) for day in days]
    assert {event.recurring_event_id for event in events} == {made.event_id}


@pytest.mark.spec("E-06", "E-06a", "E-07", "E-07b", "E-16", "E-16a")
def test_guests_and_their_invitations(calendar, service):
    first = Attendee("bob@elsewhere.example", display_name="Bob", additional_guests=2, optional=True)
    guests = seminar(attendees=[first, "eve@elsewhere.example"])

    bob, eve = calendar.add_event(guests, send_updates=SendUpdatesMode.ALL).attendees
    assert (bob.email, bob.display_name) == ("bob@elsewhere.example", "Bob")
    assert (bob.additional_guests, bob.optional) == (2, True)
    assert (eve.response_status, eve.optional) == (ResponseStatus.NEEDS_ACTION, None)
    assert [mail["to"] for mail in service.outbox()] == ["bob@elsewhere.example", "eve@elsewhere.example"]


@pytest.mark.spec("E-09", "E-09c")
def test_a_conference_is_made(calendar):
    request = ConferenceSolutionCreateRequest(solution_type=SolutionType.HANGOUTS_MEET)

    made = calendar.add_event(seminar(conference_solution=request))

    conference = made.conference_solution
    assert isinstance(conference, ConferenceSolution)
    assert conference.solution_type == SolutionType.HANGOUTS_MEET
    videos = [entry.uri for entry in conference.entry_points if entry.entry_point_type == EntryPoint.VIDEO]
    assert videos == [made.other["hangoutLink"]]
    assert calendar.get_event(made.event_id).conference_solution == conference


@pytest.mark.spec("E-06", "E-06a", "E-09", "E-09b", "E-13", "E-13b", "E-17", "E-22")
def test_other_fields(calendar):
    video = EntryPoint(EntryPoint.VIDEO, uri="https://meet.example/abc")
    kind = {"solution_type": SolutionType.ADD_ON, "name": "Meet example", "conference_id": "abc"}
    fields = {
        "conference_solution": ConferenceSolution(entry_points=video, **kind),
        "reminders": [EmailReminder(minutes_before_start=60), PopupReminder(minutes_before_start=10)],
        "attachments": [Attachment("https://elsewhere.example/a.pdf", title="A", mime_type="application/pdf")],
        "visibility": Visibility.PRIVATE,
        "transparency": Transparency.TRANSPARENT,
        "guests_can_invite_others": False,
        "guests_can_modify": True,
        "guests_can_see_other_guests": False,
    }

    made = calendar.add_event(seminar(**fields), supportsAttachments=True)

    for event in (made, calendar.get_event(made.event_id)):
        assert {name: getattr(event, name) for name in fields} == fields
    assert calendar.add_event(seminar(default_reminders=True)).default_reminders
    plain = calendar.add_event(seminar(attachments=fields["attachments"]))
    assert (plain.reminders, plain.attachments) == ([], [])


def test_events_are_listed_in_a_window_and_in_order(calendar):
    calendar.add_event(Event("Later", start=datetime(2026, 12, 1, 9, tzinfo=ZONE), timezone=BERLIN))
    calendar.add_event(seminar(recurrence=Recurrence.rule(freq="WEEKLY", count=2)))
    calendar.add_event(Event("Last year", start=datetime(2025, 12, 1, 9, tzinfo=ZONE), timezone=BERLIN))

    ordered = list(calendar.get_events(**WINTER, single_events=True, order_by="startTime"))

    assert [event.summary for event in ordered] == ["Seminar", "Seminar", "Later"]
    assert sorted(event.summary for event in calendar.get_events(**WINTER)) == ["Later", "Seminar"]
    assert [event.summary for event in calendar.get_events(**WINTER, query="later")] == ["Later"]
    assert [event.summary for event in calendar[date(2026, 11, 30) : date(2026, 12, 2)]] == ["Later"]


def test_an_event_is_updated_as_it_came(calendar):
    made = calendar.add_event(seminar(attendees="bob@elsewhere.example", color_id="3"))
    made.summary, made.location, made.color_id = "Colloquium", "Room 6", "5"

    changed = calendar.update_event(made)

    assert changed.event_id == made.event_id
    assert (changed.summary, changed.location, changed.color_id) == ("Colloquium", "Room 6", "5")
    assert [attendee.email for attendee in changed.attendees] == ["bob@elsewhere.example"]
    assert calendar.get_event(made.event_id) == changed


def test_one_instance_is_updated_alone(calendar):
    made = calendar.add_event(seminar(recurrence=Recurrence.rule(freq="WEEKLY", count=3)))
    second = list(calendar.get_instances(made, **WINTER))[1]
    second.summary = "Colloquium"

    calendar.update_event(second)

    assert [event.summary for event in calendar.get_instances(made, **WINTER)] == ["Seminar", "Colloquium", "Seminar"]


def test_an_event_is_deleted(calendar):
    made = calendar.add_event(seminar())

    calendar.delete_event(made)

    assert list(calendar.get_events(**WINTER)) == []
    with pytest.raises(HttpError) as error:
        calendar.delete_event(made)
    assert error.value.status_code == 410


@pytest.mark.spec("E-11", "E-11b")
def test_an_event_is_moved_and_imported(calendar):
    course = calendar.add_calendar(Calendar("Course", timezone=BERLIN))
    made = calendar.add_event(seminar())

    moved = calendar.move_event(made, destination_calendar_id=course.id)
    imported = calendar.import_event(seminar(iCalUID="abc@elsewhere.example"))

    assert moved.event_id == made.event_id
    assert [event.event_id for event in calendar.get_events(**WINTER, calendar_id=course.id)] == [made.event_id]
    assert [event.event_id for event in calendar.get_events(**WINTER)] == [imported.event_id]


@pytest.mark.spec("E-24")
def test_colours(calendar):
    assert list(calendar.list_event_colors()) == [str(n) for n in range(1, 12)]
    assert calendar.list_calendar_colors()["24"]["background"] == "#a47ae2"


def test_calendars(calendar):
    course = calendar.add_calendar(Calendar("Course", timezone=BERLIN, description="All of it"))

    listed = {entry.id: entry for entry in calendar.get_calendar_list()}

    assert [entry.primary for entry in listed.values() if entry.primary] == [True]
    assert (listed[course.id].summary, listed[course.id].timezone) == ("Course", BERLIN)
    assert calendar.get_calendar(course.id).description == "All of it"
    course.summary = "Term"
    assert calendar.update_calendar(course).summary == "Term"
    calendar.delete_calendar(course)
    assert course.id not in {entry.id for entry in calendar.get_calendar_list()}


@pytest.mark.spec("X-01", "E-24")
def test_the_client_understands_our_errors(calendar):
    with pytest.raises(HttpError) as error:
        calendar.add_event(seminar(color_id="99"))

    (details,) = error.value.error_details
    assert (error.value.status_code, details["reason"], details["location"]) == (400, "invalid", "colorId")


@pytest.mark.spec("E-18", "E-18b")
def test_the_link_of_an_event_opens(calendar, service, token):
    link = calendar.add_event(seminar()).other["htmlLink"]

    page = service.handle(Request("GET", link, Headers([("Authorization", f"Bearer {token}")])))

    assert page.status == 200
    assert b"Seminar" in page.content()
