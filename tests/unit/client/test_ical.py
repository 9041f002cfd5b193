"""Events in an .ics file have the same content and times when vobject reads them."""

import io
import re
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import vobject
from dateutil.rrule import rrulestr
from dateutil.tz import tzical
from hypothesis import given, strategies as st

from svc_notebooks.client.events.ical import calendar_file, observances
from svc_notebooks.core.events.event_times import read_time
from svc_notebooks.core.events.instances import occurrences
from svc_notebooks.core.events.rrule import Recurrence

BERLIN = "Europe/Berlin"


@pytest.fixture(autouse=True)
def _zones_of_no_other_file():
    """vobject would read the zones of a file as those of the file before."""
    vars(vobject.icalendar)["__tzidMap"].clear()
    vobject.icalendar.registerTzid("UTC", UTC)


def timed(start: str, end: str, zone: str = BERLIN, **more: Any) -> dict[str, Any]:
    times = {"start": {"dateTime": start, "timeZone": zone}, "end": {"dateTime": end, "timeZone": zone}}
    return {"id": "seminar", "iCalUID": "seminar@svc.example", "summary": "Seminar"} | times | more


def seminar(**more: Any) -> dict[str, Any]:
    return timed("2026-10-19T10:00:00", "2026-10-19T11:30:00", **more)


def read(*events: dict[str, Any], **options: Any) -> Any:
    return vobject.readOne(calendar_file(events, **options).decode())


def starts(vevent: Any) -> list[datetime]:
    return list(islice(vevent.rruleset, 60))


def test_an_event_that_begins_in_one_zone_and_ends_in_another_brings_both():
    flight = timed("2026-11-02T10:00:00", "2026-11-02T13:00:00")
    flight["end"]["timeZone"] = "America/New_York"

    calendar = read(flight)

    assert [component.tzid.value for component in calendar.vtimezone_list] == ["America/New_York", BERLIN]
    assert calendar.vevent.dtend.value - calendar.vevent.dtstart.value == timedelta(hours=9)


@pytest.mark.parametrize("until", ["99991231", "09991231", "10000101T000000Z"])
def test_until_may_be_any_day_that_there_is(until):
    event = timed("2026-11-02T10:00:00", "2026-11-02T11:00:00", "UTC", recurrence=[f"RRULE:FREQ=DAILY;UNTIL={until}"])

    assert read(event).vevent.rrule.value == f"FREQ=DAILY;UNTIL={until if 'T' in until else until + 'T235959Z'}"


def test_an_instance_may_have_a_length_of_its_own():
    event = seminar(recurrence=["RDATE;VALUE=PERIOD:20261026T090000Z/PT3H,20261102T090000Z/20261102T100000Z"])

    start, periods = read(event).vevent.rdate_list

    assert start.value == [read_time(event["start"])]
    assert periods.value == [
        (datetime(2026, 10, 26, 9, tzinfo=UTC), timedelta(hours=3)),
        (datetime(2026, 11, 2, 9, tzinfo=UTC), timedelta(hours=1)),
    ]


def test_a_cancelled_instance_is_left_out():
    series = seminar(recurrence=["RRULE:FREQ=WEEKLY;COUNT=3"])
    original = {"dateTime": "2026-10-26T09:00:00Z", "timeZone": "UTC"}
    cancelled = {"id": "seminar_1", "iCalUID": series["iCalUID"], "summary": "Seminar", "status": "cancelled"}

    vevents = read(series, {**cancelled, "recurringEventId": "seminar", "originalStartTime": original}).vevent_list

    assert len(vevents) == 1
    assert [start.day for start in starts(vevents[0])] == [19, 2]


def test_line_breaks_in_texts_and_names_are_escaped():
    evil = "x\r\nEND:VEVENT\r\nBEGIN:VEVENT"
    guest = {"email": f"ada@example.org{evil}", "displayName": evil, "comment": evil}
    paper = {"fileUrl": f"https://files.example/{evil}", "title": evil, "mimeType": evil}

    calendar = read(seminar(summary=evil, attendees=[guest], attachments=[paper], htmlLink=evil), name=evil)

    assert len(calendar.vevent_list) == 1
    assert calendar.vevent.uid.value == "seminar@svc.example"


def test_values_are_those_of_rfc_5545():
    fields = {"status": "tentative", "transparency": "transparent", "visibility": "private", "sequence": 3}
    ada = {"email": "ada@example.org", "displayName": "Ada Lovelace", "responseStatus": "accepted", "optional": True}
    room = {"email": "room@example.org", "resource": True, "additionalGuests": 2}
    organizer = {"email": "grace@example.org", "displayName": "Grace"}

    vevent = read(seminar(attendees=[ada, room], organizer=organizer, **fields)).vevent

    assert (vevent.status.value, vevent.transp.value) == ("TENTATIVE", "TRANSPARENT")
    assert (vevent.contents["class"][0].value, vevent.sequence.value) == ("PRIVATE", "3")
    assert (vevent.organizer.value, vevent.organizer.params["CN"]) == ("mailto:grace@example.org", ["Grace"])
    first, second = vevent.attendee_list
    assert first.value == "mailto:ada@example.org"
    expected = {"CN": ["Ada Lovelace"], "CUTYPE": ["INDIVIDUAL"], "PARTSTAT": ["ACCEPTED"], "ROLE": ["OPT-PARTICIPANT"]}
    assert first.params == expected
    assert second.params == {
        "CUTYPE": ["RESOURCE"],
        "PARTSTAT": ["NEEDS-ACTION"],
        "ROLE": ["REQ-PARTICIPANT"],
        "X-NUM-GUESTS": ["2"],
    }


def test_the_conference_and_the_attachments_are_links():
    conference = {"entryPoints": [{"entryPointType": "video", "uri": "https://meet.example/abc", "label": "abc"}]}
    paper = {"fileUrl": "https://files.example/1?a=1,2;b", "title": "Paper, one", "mimeType": "application/pdf"}

    vevent = read(seminar(htmlLink="https://c.example/1", conferenceData=conference, attachments=[paper])).vevent

    assert vevent.url.value == "https://c.example/1"
    assert (vevent.conference.value, vevent.conference.params["FEATURE"]) == ("https://meet.example/abc", ["VIDEO"])
    assert (vevent.attach.value, vevent.attach.params["FMTTYPE"]) == (paper["fileUrl"], ["application/pdf"])


POPUP, EMAIL = {"method": "popup", "minutes": 10}, {"method": "email", "minutes": 1440}


def alarms(event: dict[str, Any], **options: Any) -> list[tuple[str, timedelta]]:
    vevent = read(event, **options).vevent
    return [(alarm.action.value, alarm.trigger.value) for alarm in vevent.contents.get("valarm", [])]


def test_reminders_are_alarms_before_the_start_and_those_of_the_calendar_where_an_event_has_none():
    own = {"useDefault": False, "overrides": [POPUP, EMAIL]}
    me = {"email": "grace@example.org", "self": True}
    reminders = alarms(seminar(reminders=own, organizer=me), reminders=[{"method": "popup", "minutes": 5}])

    assert reminders == [("DISPLAY", -timedelta(minutes=10)), ("EMAIL", -timedelta(days=1))]
    assert alarms(seminar(), reminders=[POPUP]) == [("DISPLAY", -timedelta(minutes=10))]
    assert alarms(seminar(reminders={"useDefault": True}), reminders=[POPUP]) == [("DISPLAY", -timedelta(minutes=10))]
    [none] = alarms(seminar(reminders={"useDefault": False}), reminders=[POPUP])
    assert none[0] == "NONE"


def test_control_characters_that_the_format_forbids_are_shown_as_pictures():
    event = seminar(summary="a\x00b\x07c\x7f", description="one\r\ntwo\rthree\tfour\x0b")
    event["attendees"] = [{"email": "bob@svc.example", "displayName": "Bob\x1b[1m"}]

    file = calendar_file([event], name="Term\x08")

    assert not re.search(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", file)
    vevent = vobject.readOne(file.decode()).vevent
    assert vevent.summary.value == "a\u2400b\u2407c\u2421"
    assert vevent.description.value == "one\ntwo\nthree\tfour\u240b"


@pytest.mark.parametrize(
    "exrule, is_kept",
    [
        ("EXRULE:FREQ=WEEKLY;COUNT=2", False),
        ("EXRULE:FREQ=DAILY;INTERVAL=3;UNTIL=20261030T235959Z", False),
        ("EXRULE:FREQ=WEEKLY;BYDAY=SU;COUNT=1", False),
        ("EXRULE:FREQ=WEEKLY", True),
        ("EXRULE:FREQ=SECONDLY;UNTIL=20280101T000000Z", True),
    ],
)
def test_an_exrule_that_ends_becomes_exdates(exrule, is_kept):
    event = seminar(recurrence=["RRULE:FREQ=DAILY;COUNT=20", exrule])

    text = calendar_file([event]).decode()

    assert ("EXRULE" in text) == is_kept
    if not is_kept:
        start, end = read_time(event["start"]), read_time(event["end"])
        expected = occurrences(Recurrence.parse(event["recurrence"], start), start, end)
        assert starts(vobject.readOne(text).vevent) == [occurrence.start for occurrence in expected]


BEGIN, BEHIND = datetime(2026, 1, 12, tzinfo=UTC), datetime(2036, 1, 1, tzinfo=UTC)
RULED = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Europe/Dublin", "America/St_Johns")
LISTED = ("Asia/Gaza", "Asia/Jerusalem", "Africa/Cairo", "America/Nuuk")
STEADY = ("Asia/Kathmandu", "America/Sao_Paulo", "Asia/Kolkata")


def written(zone: str) -> str:
    """The file of a daily event of ten years in this zone."""
    start, end = ({"dateTime": f"2026-01-12T{hour}:00:00", "timeZone": zone} for hour in (12, 13))
    return calendar_file([{"id": "daily", "start": start, "end": end, "recurrence": ["RRULE:FREQ=DAILY"]}]).decode()


@pytest.mark.parametrize("zone", RULED + LISTED + STEADY)
def test_another_library_reads_the_offsets_of_the_zone(zone):
    read = tzical(io.StringIO(written(zone))).get(zone)

    @given(st.datetimes(BEGIN.replace(tzinfo=None), BEHIND.replace(tzinfo=None), timezones=st.just(UTC)))
    def agree(instant):
        shown = instant.astimezone(ZoneInfo(zone))
        assert read.utcoffset(shown.replace(tzinfo=None)) == shown.utcoffset()

    agree()


@pytest.mark.parametrize("zone", RULED + LISTED)
def test_clocks_change_at_the_right_second(zone):
    """The VTIMEZONE of the icalendar library puts clocks forward an hour late."""
    count = 0
    for each in observances(ZoneInfo(zone), BEGIN, BEHIND)[1:]:
        for onset in rrulestr(each.rule, dtstart=each.onsets[0])[:10] if each.rule else each.onsets:
            change, count = onset.replace(tzinfo=UTC) - each.before, count + 1
            moments = (change - timedelta(seconds=1), change)
            offsets = [moment.astimezone(ZoneInfo(zone)).utcoffset() for moment in moments]
            assert offsets == [each.before, each.clock.offset]
    assert count >= 20


@pytest.mark.parametrize("zone", RULED)
def test_yearly_changes_are_a_rule_without_end(zone):
    summer_and_winter = observances(ZoneInfo(zone), BEGIN, BEGIN)[1:]

    assert len(summer_and_winter) == 2
    assert all(observance.rule and len(observance.onsets) == 1 for observance in summer_and_winter)


@pytest.mark.parametrize("zone", ["Africa/Casablanca", "Africa/Cairo", "Asia/Gaza"])
def test_the_first_of_several_onsets_is_also_an_rdate(zone):
    """ical.js ignores the DTSTART of an observance that has an RDATE."""
    parts = re.findall(r"DTSTART:(\S+)(?:\r\n(?!END).*)*?\r\nRDATE:(\S+)", written(zone))

    assert parts
    assert all(start == first for start, first in parts)
