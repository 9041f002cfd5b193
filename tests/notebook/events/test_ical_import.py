"""Tests of import_events: events, series with changed instances, time zones, and events that cannot be read."""

from pathlib import Path

import pandas as pd
import pytest

import svc_notebooks as svc
from svc_notebooks.core.errors.errors import NotFound

BERLIN = "Europe/Berlin"


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def term(lab: svc.Sandbox) -> str:
    return svc.create_calendar("Term", time_zone=BERLIN)["id"].item()


def file(*events: str, head: str = "") -> str:
    entries = "".join(f"BEGIN:VEVENT\n{event.strip()}\nEND:VEVENT\n" for event in events)
    return f"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//other//EN\n{head}{entries}END:VCALENDAR\n"


SEMINAR = """
UID:seminar@other.example
SUMMARY:Seminar\\, all
LOCATION:Library
DTSTART;TZID=W. Europe Standard Time:20261019T100000
DURATION:PT1H30M
RRULE:FREQ=WEEKLY;UNTIL=20261130T100000
EXDATE;TZID=W. Europe Standard Time:20261026T100000
SEQUENCE:2
STATUS:TENTATIVE
TRANSP:TRANSPARENT
CLASS:PRIVATE
ORGANIZER;CN=Carl:mailto:carl@other.example
ATTENDEE;CN=Bob;PARTSTAT=ACCEPTED;ROLE=OPT-PARTICIPANT:mailto:bob@svc.example
ATTENDEE;CUTYPE=ROOM:urn:room:7
BEGIN:VALARM
ACTION:DISPLAY
TRIGGER:-PT15M
END:VALARM
"""
MOVED = """
UID:seminar@other.example
RECURRENCE-ID;TZID=W. Europe Standard Time:20261102T100000
DTSTART;TZID=W. Europe Standard Time:20261102T150000
DTEND;TZID=W. Europe Standard Time:20261102T160000
SUMMARY:Later
"""
CANCELLED = """
UID:seminar@other.example
RECURRENCE-ID:20261109T090000Z
DTSTART:20261109T090000Z
STATUS:CANCELLED
"""


def test_a_series_is_imported_with_its_fields_and_its_changed_instances(lab: svc.Sandbox, term: str):
    imported = svc.import_events(file(MOVED, SEMINAR, CANCELLED), calendar=term)

    assert imported[["i_cal_uid", "outcome", "changed_instances"]].values.tolist() == [
        ["seminar@other.example", "done", 2]
    ]
    event = svc.event(imported, calendar=term).iloc[0]
    assert (event["time_zone"], event["organizer"], event["sequence"]) == (BERLIN, "carl@other.example", 2)
    assert event[["summary", "location", "status", "transparency", "visibility"]].tolist() == [
        "Seminar, all", "Library", "tentative", "transparent", "private",
    ]  # fmt: skip
    assert event["reminders"] == {"useDefault": False, "overrides": [{"method": "popup", "minutes": 15}]}
    [guest] = event["attendees"]
    assert (guest["email"], guest["responseStatus"], guest["optional"]) == ("bob@svc.example", "accepted", True)
    starts = svc.events(single_events=True, limit=9, calendar=term)["start"]
    assert [f"{start:%m-%d %H}" for start in starts] == ["10-19 10", "11-02 15", "11-16 10", "11-23 10", "11-30 10"]


def test_a_file_that_is_imported_again_replaces_its_events(lab: svc.Sandbox, term: str):
    text = file(SEMINAR, MOVED, CANCELLED)
    first = svc.import_events(text, calendar=term)

    again = svc.import_events(text.replace("Later", "Much later"), calendar=term)

    assert again[["id", "outcome"]].values.tolist() == [[first["id"].item(), "done"]]
    assert svc.events(single_events=True, limit=9, calendar=term)["summary"].tolist()[1] == "Much later"


def test_an_export_is_imported_with_the_same_instances(lab: svc.Sandbox, term: str):
    times = {"start": "2026-10-19 10:00", "duration": "1h", "time_zone": "Africa/Casablanca"}
    series = svc.create_event("Series", **times, recurrence="weekdays, 30 times", attendees="bob@svc.example")
    every = svc.instances(series)
    svc.update_event(every.iloc[3], summary="Other", start="2026-10-22 15:00", end="16:00")
    svc.delete_event(every.iloc[5])
    svc.create_event("Days", start="2026-12-24", end="2026-12-27", recurrence="yearly, 3 times")

    imported = svc.import_events(Path(svc.export_events(to="all.ics")["path"].item()), calendar=term)

    assert imported["outcome"].tolist() == ["done", "done"]
    columns = ["summary", "start", "end", "all_day", "time_zone"]
    before, after = (
        svc.events(single_events=True, limit=50, time_zone=BERLIN, calendar=calendar)[columns]
        for calendar in ("primary", term)
    )
    assert len(before) == 32
    pd.testing.assert_frame_equal(before, after)


@pytest.mark.parametrize("head, hour", [("", 10), ("X-WR-TIMEZONE:America/New_York\n", 16)])
def test_a_time_without_a_zone_is_in_the_zone_of_the_file_or_the_calendar(lab, term: str, head: str, hour: int):
    text = file("UID:a@b\nSUMMARY:Tea\nDTSTART:20261224T100000\nDTEND:20261224T110000", head=head)

    start = svc.import_events(text.encode(), calendar=term)["start"].item()

    assert start == pd.Timestamp(f"2026-12-24 {hour}:00", tz=BERLIN)


VTIMEZONE = """BEGIN:VTIMEZONE
TZID:{name}
TZUNTIL:20401231T000000Z
TZID-ALIAS-OF:A long name,
  in two lines
BEGIN:STANDARD
DTSTART:20001029T030000
RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU
TZOFFSETFROM:{summer}
TZOFFSETTO:{winter}
END:STANDARD
BEGIN:DAYLIGHT
DTSTART:20000326T020000
RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU
TZOFFSETFROM:{winter}
TZOFFSETTO:{summer}
END:DAYLIGHT
END:VTIMEZONE
"""


@pytest.mark.parametrize(
    "winter, summer, time_zone, hour",
    [("+0100", "+0200", "Europe/Paris", 9), ("+0200", "+0300", "Europe/Kiev", 8)],
)
def test_a_zone_that_the_file_defines_becomes_the_iana_zone_with_the_same_offsets(
    lab: svc.Sandbox, term: str, winter: str, summer: str, time_zone: str, hour: int
):
    """Both files define the name Campus. The library keeps the zone of the first file for the second."""
    head = VTIMEZONE.format(name="Campus", winter=winter, summer=summer)
    event = "UID:a@b\nDTSTART;TZID=Campus:20270104T100000\nDURATION:PT1H\nRRULE:FREQ=MONTHLY;COUNT=12"

    imported = svc.import_events(file(event, head=head), calendar=term)

    assert imported["outcome"].tolist() == ["done"]
    instances = svc.events(calendar=term, single_events=True, limit=12, time_zone="UTC")
    assert instances["time_zone"].unique().tolist() == [time_zone]
    assert instances["start"].dt.hour.tolist() == [hour] * 3 + [hour - 1] * 7 + [hour] * 2


@pytest.mark.parametrize(
    "name, time_zone, hour",
    [("W. Europe Standard Time", BERLIN, 9), ("pacific standard time", "America/Los_Angeles", 18)],
)
def test_the_name_of_a_windows_zone_is_imported_as_the_zone_of_the_cldr(
    lab: svc.Sandbox, term: str, name: str, time_zone: str, hour: int
):
    event = f"UID:a@b\nDTSTART;TZID={name}:20270104T100000\nDURATION:PT1H\nRRULE:FREQ=MONTHLY;COUNT=12"

    imported = svc.import_events(file(event), calendar=term)

    assert imported[["outcome", "time_zone"]].values.tolist() == [["done", time_zone]]
    instances = svc.events(calendar=term, single_events=True, limit=12, time_zone="UTC")
    assert instances["time_zone"].unique().tolist() == [time_zone]
    assert instances["start"].dt.hour.tolist()[::6] == [hour, hour - 1]


def test_a_file_can_name_its_zone_as_windows_does(lab: svc.Sandbox, term: str):
    text = file("UID:a@b\nDTSTART:20270104T100000\nDURATION:PT1H", head="X-WR-TIMEZONE:Tokyo Standard Time\n")

    imported = svc.import_events(text, calendar=term)

    assert imported["time_zone"].tolist() == ["Asia/Tokyo"]
    assert imported["start"].item() == pd.Timestamp("2027-01-04 10:00", tz="Asia/Tokyo")


@pytest.mark.parametrize(
    "winter, summer, time_zone, hour",
    [("+0100", "+0200", BERLIN, 9), ("+0200", "+0300", "Europe/Kiev", 8)],
)
def test_a_windows_zone_that_the_file_defines_has_the_offsets_of_the_file(
    lab: svc.Sandbox, term: str, winter: str, summer: str, time_zone: str, hour: int
):
    name = "W. Europe Standard Time"
    head = VTIMEZONE.format(name=name, winter=winter, summer=summer)
    event = f"UID:a@b\nDTSTART;TZID={name}:20270104T100000\nDURATION:PT1H\nRRULE:FREQ=MONTHLY;COUNT=12"

    imported = svc.import_events(file(event, head=head), calendar=term)

    assert imported["time_zone"].tolist() == [time_zone]
    instances = svc.events(calendar=term, single_events=True, limit=12, time_zone="UTC")
    assert instances["start"].dt.hour.tolist()[::6] == [hour, hour - 1]


def test_an_import_is_continued_with_a_ledger(lab: svc.Sandbox, term: str):
    tea, lunch = ("UID:1@b\nSUMMARY:Tea\nDTSTART;VALUE=DATE:20261224", "UID:2@b\nSUMMARY:Lunch")
    with pytest.warns(UserWarning, match="1 of 2 rows failed"):
        first = svc.import_events(file(tea, lunch), calendar=term, resume="term")
    lunch += "\nDTSTART;VALUE=DATE:20261225"

    second = svc.import_events(file(tea, lunch), calendar=term, resume="term")
    third = svc.import_events(file(tea.replace("Tea", "Cake"), lunch), calendar=term, resume="term")

    assert [frame["outcome"].tolist() for frame in (first, second, third)] == [
        ["done", "failed"],
        ["skipped", "done"],
        ["done", "skipped"],
    ]
    assert second.loc[0, ["id", "start"]].tolist() == first.loc[0, ["id", "start"]].tolist()
    assert svc.events(calendar=term)["summary"].tolist() == ["Cake", "Lunch"]
    with pytest.raises(ValueError, match="calendar"):
        svc.import_events(file(tea), resume="term")


@pytest.mark.parametrize(
    "start, message",
    [
        (
            "DTSTART;TZID=Campus:20270104T100000",
            "the time zone Campus is not in the IANA database",
        ),
        ("DTSTART:20270104T100000Z\nDTSTART:20270105T100000Z", "DTSTART occurs 2 times"),
    ],
)
def test_a_start_that_cannot_be_read_is_refused(lab: svc.Sandbox, term: str, start: str, message: str):
    with pytest.raises(ValueError, match=message):
        svc.import_events(file(f"UID:a@b\n{start}\nDURATION:PT1H"), calendar=term)


def test_an_event_that_cannot_be_read_does_not_stop_the_others(lab: svc.Sandbox, term: str):
    text = file(
        "UID:1@b\nSUMMARY:Tea\nDTSTART;VALUE=DATE:20261224",
        "UID:2@b\nSUMMARY:No start",
        "UID:3@b\nDTSTART:2026oops",
        "UID:4@b\nDTSTART:20261224T100000Z\nDTEND:20261224T090000Z",
        "UID:5@b\nDTSTART:20261224T100000Z\nRECURRENCE-ID:20261224T090000Z",
        "DTSTART;VALUE=DATE:20261225\nRRULE:FREQ=DAILY;UNTIL=20261226T120000Z",
    )

    with pytest.warns(UserWarning, match="4 of 6 rows failed"):
        imported = svc.import_events(text, calendar=term)

    assert imported["outcome"].tolist() == ["done", "failed", "failed", "failed", "failed", "done"]
    assert "DTSTART is missing" in imported["error"][1]
    assert "2026oops" in imported["error"][2]
    assert imported["error"][3:5].str.contains("timeRangeEmpty").all()  # RFC 5545 lets the fifth end at once


@pytest.mark.parametrize(
    "source, error, message",
    [
        ("nothing.ics", FileNotFoundError, "nothing.ics"),
        (b"PK\x03\x04", ValueError, "source is not an iCalendar file"),
        ("BEGIN:VCARD\nEND:VCARD\n", ValueError, "source is not an iCalendar file"),
        ("BEGIN:VCALENDAR\nBEGIN:VEVENT\n", ValueError, "source is not an iCalendar file"),
        (5, TypeError, "source must be a path"),
    ],
)
def test_a_source_without_a_calendar_is_refused(lab: svc.Sandbox, source: object, error: type, message: str):
    with pytest.raises(error, match=message):
        svc.import_events(source)


def test_a_calendar_that_does_not_exist_is_refused(lab: svc.Sandbox):
    with pytest.raises(NotFound):
        svc.import_events(file(SEMINAR), calendar="nowhere")


def test_a_time_zone_with_two_names_is_an_error_of_the_file(lab: svc.Sandbox) -> None:
    zone = VTIMEZONE.replace("TZID:", "TZID:First\nTZID:", 1)

    with pytest.raises(ValueError, match="not an iCalendar file that can be read"):
        svc.import_events(f"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\n{zone.strip()}\nEND:VCALENDAR\n")
