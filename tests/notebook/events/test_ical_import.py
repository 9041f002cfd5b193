from pathlib import Path

import pandas as pd
import pytest

import svc_notebooks as svc

pytestmark = pytest.mark.usefixtures("in_folder")

BERLIN = "Europe/Berlin"


@pytest.fixture
def term(lab: svc.Sandbox) -> str:
    return svc.create_calendar("Term", time_zone=BERLIN)["id"].item()


def starts_in(term: str) -> list[str]:
    found = svc.events(calendar=term, single_events=True, limit=9)["start"]
    return [f"{start:%m-%d %H:%M}" for start in found]


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


def test_a_series_is_imported_with_its_fields_and_its_changed_instances(term: str):
    imported = svc.import_events(file(MOVED, SEMINAR, CANCELLED), calendar=term)

    expected = [["seminar@other.example", "done", 2]]
    assert imported[["i_cal_uid", "outcome", "changed_instances"]].values.tolist() == expected
    event = svc.event(imported, calendar=term).iloc[0]
    assert (event["time_zone"], event["organizer"], event["sequence"]) == (BERLIN, "carl@other.example", 2)
    assert event[["summary", "location", "status", "transparency", "visibility"]].tolist() == [
        "Seminar, all", "Library", "tentative", "transparent", "private",
    ]  # fmt: skip
    assert event["reminders"] == {"useDefault": False, "overrides": [{"method": "popup", "minutes": 15}]}
    [guest] = event["attendees"]
    assert (guest["email"], guest["responseStatus"], guest["optional"]) == ("bob@svc.example", "accepted", True)
    assert starts_in(term) == ["10-19 10:00", "11-02 15:00", "11-16 10:00", "11-23 10:00", "11-30 10:00"]


@pytest.mark.parametrize("head, hour", [("", 10), ("X-WR-TIMEZONE:America/New_York\n", 16)])
def test_a_time_without_a_zone_is_in_the_zone_of_the_file_or_the_calendar(term: str, head: str, hour: int):
    text = file("UID:a@b\nSUMMARY:Tea\nDTSTART:20261224T100000\nDTEND:20261224T110000", head=head)

    start = svc.import_events(text.encode(), calendar=term)["start"].item()

    assert start == pd.Timestamp(f"2026-12-24 {hour}:00", tz=BERLIN)


VTIMEZONE = """BEGIN:VTIMEZONE
TZID:Campus
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
# Both files define the name Campus. The library keeps the zone of the first file for the second.
PARIS, KIEV = (VTIMEZONE.format(winter=f"+0{n}00", summer=f"+0{n + 1}00") for n in (1, 2))


@pytest.mark.parametrize(
    "head, name, time_zone, hour",
    [
        (PARIS, "Campus", "Europe/Paris", 9),
        (KIEV, "Campus", "Europe/Kiev", 8),
        ("", "W. Europe Standard Time", BERLIN, 9),
        ("", "pacific standard time", "America/Los_Angeles", 18),
    ],
)
def test_a_zone_of_the_file_or_of_windows_becomes_the_iana_zone(term, head, name, time_zone, hour):
    event = f"UID:a@b\nDTSTART;TZID={name}:20270104T100000\nDURATION:PT1H\nRRULE:FREQ=MONTHLY;COUNT=12"

    imported = svc.import_events(file(event, head=head), calendar=term)

    assert imported[["outcome", "time_zone"]].values.tolist() == [["done", time_zone]]
    instances = svc.events(calendar=term, single_events=True, limit=12, time_zone="UTC")
    assert instances["time_zone"].unique().tolist() == [time_zone]
    hours = instances["start"].dt.hour.tolist()
    assert hours[:10] + hours[11:] == [hour] * 3 + [hour - 1] * 7 + [hour]  # clocks go back in November or before


def test_an_import_is_continued_with_a_ledger(term: str):
    tea, lunch = ("UID:1@b\nSUMMARY:Tea\nDTSTART;VALUE=DATE:20261224", "UID:2@b\nSUMMARY:Lunch")
    with pytest.warns(UserWarning, match="1 of 2 rows failed"):
        first = svc.import_events(file(tea, lunch), calendar=term, resume="term")
    lunch += "\nDTSTART;VALUE=DATE:20261225"

    second = svc.import_events(file(tea, lunch), calendar=term, resume="term")
    third = svc.import_events(file(tea.replace("Tea", "Cake"), lunch), calendar=term, resume="term")

    expected = [["done", "failed"], ["skipped", "done"], ["done", "skipped"]]
    assert [frame["outcome"].tolist() for frame in (first, second, third)] == expected
    assert second.loc[0, ["id", "start"]].tolist() == first.loc[0, ["id", "start"]].tolist()
    assert svc.events(calendar=term)["summary"].tolist() == ["Cake", "Lunch"]
    with pytest.raises(ValueError, match="calendar"):
        svc.import_events(file(tea), resume="term")


def test_an_event_that_cannot_be_read_does_not_stop_the_others(term: str):
    text = file(
        "UID:1@b\nSUMMARY:Tea\nDTSTART;VALUE=DATE:20261224",
        "UID:2@b\nSUMMARY:No start",
        "UID:3@b\nDTSTART:2026oops",
        "UID:4@b\nDTSTART:20261224T100000Z\nDTEND:20261224T090000Z",
        "DTSTART;VALUE=DATE:20261225\nRRULE:FREQ=DAILY;UNTIL=20261226T120000Z",
    )

    with pytest.warns(UserWarning, match="2 of 5 rows failed"):
        imported = svc.import_events(text, calendar=term)

    assert imported["outcome"].tolist() == ["done", "failed", "failed", "done", "done"]
    assert "DTSTART is missing" in imported["error"][1]
    assert "2026oops" in imported["error"][2]
    assert imported["notes"].tolist() == ["", "", "", "the event ends before its start; it lasts 0:01:00 now", ""]


@pytest.mark.parametrize(
    "source, error, message",
    [
        ("nothing.ics", FileNotFoundError, "nothing.ics"),
        (b"PK\x03\x04", ValueError, "source is not an iCalendar file"),
        ("BEGIN:VCARD\nEND:VCARD\n", ValueError, "source is not an iCalendar file"),
        ("BEGIN:VCALENDAR\nBEGIN:VEVENT\n", ValueError, "DTSTART is missing"),
        (5, TypeError, "source must be a path"),
    ],
)
def test_a_source_without_a_calendar_is_refused(lab: svc.Sandbox, source: object, error: type, message: str):
    with pytest.raises(error, match=message):
        svc.import_events(source)


HOUR = "DTSTART;TZID=Europe/Berlin:20270104T100000\nDTEND;TZID=Europe/Berlin:20270104T110000"
DAYS = "DTSTART;VALUE=DATE:20270104\nRRULE:FREQ=DAILY;COUNT=3"
DAILY = f"{HOUR}\nRRULE:FREQ=DAILY;COUNT=3"
FOUR, FIVE, SIX = "01-04 10:00", "01-05 10:00", "01-06 10:00"
DAY_4, DAY_5, DAY_6 = "01-04 00:00", "01-05 00:00", "01-06 00:00"


@pytest.mark.parametrize(
    "event, starts, note",
    [
        ("DTSTART;VALUE=DATE:20270104\nDTEND;VALUE=DATE:20270104", [DAY_4], ""),
        ("DTSTART:20270104T090000Z", [FOUR], "has no length; it lasts 0:01:00 now"),
        ("DTSTART:20270104T090000Z\nDURATION:PT0S", [FOUR], "has no length"),
        ("DTSTART:20270104T090000Z\nDTEND;VALUE=DATE:20270105", [FOUR], "DTEND was converted to the type of DTSTART"),
        ("DTSTART;VALUE=DATE:20270104\nDTEND:20270104T090000Z", [DAY_4], "DTEND was converted"),
        ("DTSTART:20270104T090000Z\nDTEND:never", [FOUR], "the end was left out: 'never' is not a date"),
        (f"{HOUR}\nSUMMARY:One\nSUMMARY;LANGUAGE=de:Eins", [FOUR], "SUMMARY occurs more than once"),
        ("DTSTART;TZID=Nowhere:20270104T100000\nDURATION:PT1H", [FOUR], "the time zone 'Nowhere' is unknown"),
        ("DTSTART;TZID=/a.org/1/Europe/Berlin:20270104T100000\nDURATION:PT1H", [FOUR], ""),
        ('DTSTART;TZID="(UTC-05:00) Eastern Time (US & Canada)":20270104T040000\nDURATION:PT1H', [FOUR], ""),
        ("DTSTART;TZID=(UTC+01:00) Rom, Berlin:20270104T100000\nDURATION:PT1H", [FOUR], ""),
        (f"{DAYS}\nEXDATE:20270105T000000", [DAY_4, DAY_6], ""),
        (f"{DAYS}\nEXDATE:20270104T230000Z", [DAY_4, DAY_6], ""),
        (f"{DAYS}\nRDATE:20270110T000000", [DAY_4, DAY_5, DAY_6, "01-10 00:00"], ""),
        (f"{DAILY}\nEXDATE;VALUE=DATE:20270105", [FOUR, SIX], ""),
        (f"{DAILY}\nEXDATE:20270105T100000", [FOUR, SIX], ""),
        (f"{DAILY}\nEXDATE:", [FOUR, FIVE, SIX], ""),
        (f"{DAILY}\nEXDATE:tomorrow,20270105T090000Z", [FOUR, SIX], "EXDATE was left out: 'tomorrow' is not"),
        (f"{HOUR}\nRDATE;VALUE=DATE:20270105", [FOUR, FIVE], ""),
        (f"{HOUR}\nRRULE:FREQ=DAILY;UNTIL=20270105T100000", [FOUR, FIVE], ""),
        (f"{HOUR}\nRRULE:FREQ=DAILY;UNTIL=20270105;COUNT=9", [FOUR, FIVE], "COUNT of RRULE was left out"),
        (f"{HOUR}\nRRULE:FREQ=DAILY;COUNT=2;UNTIL=", [FOUR, FIVE], "UNTIL of RRULE was left out"),
        (f"{HOUR}\nRRULE:FREQ=DAILY;BYSETPOS=1;COUNT=2", [FOUR, FIVE], "BYSETPOS of RRULE was left out"),
        (f"{HOUR}\nRRULE:FREQ=SOMETIMES", [FOUR], "RRULE was left out"),
        (f"{HOUR}\nRRULE:FREQ=DAILY;BYDAY=WE;COUNT=2", [FOUR, SIX], "it counts as the first of COUNT=2"),
        (f"{HOUR}\nSEQUENCE:many\nURL:not a page", [FOUR], "source.url"),
        (f"{HOUR}\nATTACH:nothing\nATTACH;ENCODING=BASE64;VALUE=BINARY:AAAA", [FOUR], "its content is in the file"),
        (f"{HOUR}\n\n\nDESCRIPTION:one\ntwo lines", [FOUR], ""),
        (f"{HOUR}\nCATEGORIES:Work\nGEO:1;2\nPRIORITY:5", [FOUR], "no such fields: CATEGORIES, GEO"),
        (f"{HOUR}\nCLASS:SECRET", [FOUR], "CLASS 'SECRET' is unknown"),
        ("DTSTART;VALUE=DATE:20270104\nDURATION:PT6H", [DAY_4], "DURATION of an event without times"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_left_out_and_noted(term: str, event: str, starts, note: str):
    imported = svc.import_events(file(f"UID:a@b\n{event}"), calendar=term)

    assert imported["outcome"].tolist() == ["done"]
    assert note in imported["notes"].item()
    assert bool(note) == bool(imported["notes"].item())
    assert starts_in(term) == starts


@pytest.mark.parametrize("rule", ["", "RRULE:FREQ=SECONDLY\n"])
def test_a_zone_of_many_changes_is_read_in_part(term: str, rule: str):
    change = f"BEGIN:STANDARD\nDTSTART:19700101T000000\nTZOFFSETFROM:+0100\nTZOFFSETTO:+0100\n{rule}END:STANDARD\n"
    zone = f"BEGIN:VTIMEZONE\nTZID:Odd\n{change * 11_000}END:VTIMEZONE\n"
    text = file("UID:a@b\nDTSTART;TZID=Odd:20270104T100000\nDURATION:PT1H", head=zone)

    assert svc.import_events(text, calendar=term)["start"].item().tz_convert("UTC").hour == 9


def test_guests_and_alarms_that_the_service_refuses_are_left_out(term: str):
    alarms = "".join(f"BEGIN:VALARM\nTRIGGER:-PT{n}M\nEND:VALARM\n" for n in (5, 60, 99, 15, 30, 45, 60480))
    guests = "ATTENDEE;CN=Bob:mailto:First Last\nATTENDEE:MAILTO:ann@x.example\nATTENDEE;EMAIL=c@x.example:urn:1\n"
    late = "BEGIN:VALARM\nTRIGGER:PT5M\nEND:VALARM\nBEGIN:VALARM\nTRIGGER:20270104T085900Z\nEND:VALARM\n"

    imported = svc.import_events(file(f"UID:a@b\n{HOUR}\n{guests}{alarms}{late}"), calendar=term)

    event = svc.event(imported, calendar=term).iloc[0]
    assert [guest["email"] for guest in event["attendees"]] == ["ann@x.example", "c@x.example"]
    assert [each["minutes"] for each in event["reminders"]["overrides"]] == [5, 15, 30, 45, 1]
    assert imported["notes"].item().split("; ") == [
        "the guest 'Bob' was left out: not an e-mail address",
        "the alarm 60480 minutes before the start is 40320 minutes before it now",
        "the alarm 'PT5M' was left out: it is not at or before the start",
        "of 8 alarms the 5 nearest to the start were kept",
    ]


def test_the_length_of_an_event_without_one_can_be_chosen(term: str):
    event = "UID:a@b\nDTSTART:20270104T090000Z"

    imported = svc.import_events(file(event), calendar=term, min_duration="30 min")

    assert (imported["end"] - imported["start"]).item() == pd.Timedelta("30 min")
    with pytest.raises(ValueError, match="min_duration must be at least one second"):
        svc.import_events(file(event), min_duration=0)


@pytest.mark.parametrize(
    "encode",
    [
        lambda text: text.encode(),
        lambda text: text.encode("utf-8-sig").replace(b"\n", b"\r"),
        lambda text: text.encode("utf-16"),
        lambda text: text.encode("cp1252").replace(b"\n", b"\r\n"),
        lambda text: text.encode().replace(b"M\xc3\xbc", b"M\xc3\r\n \xbc"),
        lambda text: b"\n \n\t" + text.replace("\n", "\n\n").encode(),
        lambda text: "    " + text.replace("\n", "\n    "),
        lambda text: "\ufeff" + text,
    ],
    ids=["utf-8", "mark and CR", "utf-16", "windows-1252", "folded in a letter", "blank", "indented", "text"],
)
def test_the_characters_of_a_file_are_found(term: str, encode):
    imported = svc.import_events(encode(file(f"UID:a@b\n{HOUR}\nSUMMARY:Müller Straße")), calendar=term)

    assert imported[["summary", "outcome"]].values.tolist() == [["Müller Straße", "done"]]


def version(sequence: int, stamp: str, summary: str, more: str = "") -> str:
    return f"UID:a@b\n{HOUR}\nSEQUENCE:{sequence}\nDTSTAMP:{stamp}T000000Z\nSUMMARY:{summary}\n{more}"


NEW = version(2, "20240201", "New")


@pytest.mark.parametrize("head, more", [("METHOD:CANCEL\n", ""), ("", "STATUS:CANCELLED")])
def test_a_change_in_the_calendar_is_kept_unless_the_event_is_cancelled(term: str, head: str, more: str):
    svc.update_event(svc.import_events(file(NEW), calendar=term), summary="Mine", calendar=term)
    again = svc.import_events(file(NEW), calendar=term)
    assert again[["summary", "outcome"]].values.tolist() == [["Mine", "unchanged"]]

    cancelled = file(version(3, "20240301", "New", more), head=head)
    outcomes = [svc.import_events(cancelled, calendar=term)["outcome"].item() for _ in range(2)]
    assert outcomes == ["cancelled", "cancelled"]
    assert svc.events(calendar=term).empty


@pytest.mark.parametrize("step", ["export", "again"])
def test_an_export_that_is_imported_changes_nothing(term: str, step: str):
    times = {"start": "2026-10-19 10:00", "duration": "1h", "time_zone": BERLIN}
    series = svc.create_event("Series", **times, recurrence=["RDATE:20261101T100000"], color="11", calendar=term)
    svc.update_event(svc.instances(series, calendar=term).iloc[1], summary="Other", calendar=term)
    svc.create_event("Talk", **times, source="https://a.example", attachments=["https://a.example/b"], calendar=term)
    other = svc.create_calendar("Other", time_zone=BERLIN)["id"].item()
    first = Path(svc.export_events(to="first.ics", calendar=term)["path"].item())

    here, there = (svc.import_events(first, calendar=calendar) for calendar in (term, other))
    second = Path(svc.export_events(to="second.ics", calendar=other)["path"].item())

    assert (here["outcome"].tolist(), there["outcome"].tolist()) == (["unchanged"] * 2, ["done"] * 2)
    kept = [
        [line for line in path.read_text().split("\n") if not line.startswith(("URL;", " ", "X-WR", "NAME"))]
        for path in (first, second)
    ]
    assert kept[0] == kept[1]


def override(original: str, start: str, parameters: str = ";TZID=Europe/Berlin", summary: str = "Moved") -> str:
    times = f"DTSTART;TZID=Europe/Berlin:{start}\nDURATION:PT1H"
    return f"UID:a@b\nRECURRENCE-ID{parameters}:{original}\n{times}\nSUMMARY:{summary}"


LATER = ";RANGE=THISANDFUTURE"


@pytest.mark.parametrize(
    "changes, starts",
    [
        ([("20270105", "20270105T150000", ";VALUE=DATE")], [FOUR, "01-05 15:00", SIX]),
        ([("20270105T090000Z", "20270105T150000", "")], [FOUR, "01-05 15:00", SIX]),
        (
            [("20270109T100000", "20270109T120000"), ("20270106T100000", "20270107T100000")],
            [FOUR, FIVE, "01-07 10:00", "01-09 12:00"],
        ),
        ([("20270105T100000", "20270105T110000", f";TZID=Europe/Berlin{LATER}")], [FOUR, "01-05 11:00", "01-06 11:00"]),
        (
            [("20270105T090000Z", "20270106T110000", LATER), ("20270106T090000Z", "20270107T120000", "")],
            [FOUR, "01-06 11:00", "01-07 12:00"],
        ),
        ([("20270104T090000Z", "20270104T110000", LATER)], ["01-04 11:00", "01-05 11:00", "01-06 11:00"]),
        ([("20270106T090000Z", "20270106T110000", LATER, "x\nSTATUS:CANCELLED")], [FOUR, FIVE]),
        ([("20270109T090000Z", "20270109T110000", LATER)], [FOUR, FIVE, SIX, "01-09 11:00"]),
    ],
    ids=["date", "UTC", "stray", "all later", "later in UTC", "all", "later are cancelled", "later stray"],
)
def test_changed_instances_are_those_that_the_file_means(term: str, changes: list[tuple[str, ...]], starts):
    text = file(f"UID:a@b\n{DAILY}", *(override(*change) for change in changes))

    imported = svc.import_events(text, calendar=term)
    again = svc.import_events(text, calendar=term)

    assert set(imported["outcome"]) == {"done"}
    assert set(again["outcome"]) == {"unchanged"}
    assert starts_in(term) == starts


@pytest.mark.parametrize(
    "rule, new_start, starts",
    [
        ("FREQ=WEEKLY;BYDAY=MO,WE;COUNT=6", "20270112", ["01-04", "01-06", "01-12", "01-14", "01-19", "01-21"]),
        ("FREQ=WEEKLY;BYDAY=MO;UNTIL=20270125", "20270110", ["01-04", "01-10", "01-17", "01-24"]),
        ("FREQ=MONTHLY;BYDAY=2MO;COUNT=3", "20270112", ["01-04", "01-12", "02-12"]),
        ("FREQ=WEEKLY;COUNT=3\nRDATE;VALUE=DATE:20270106,20270120\nEXDATE;VALUE=DATE:20270118", "20270112",
         ["01-04", "01-06", "01-12", "01-21"]),
    ],
)  # fmt: skip
def test_a_series_is_split_at_a_change_of_all_later_instances(term: str, rule: str, new_start: str, starts):
    series = f"UID:a@b\nDTSTART;VALUE=DATE:20270104\nRRULE:{rule}"
    change = f"UID:a@b\nRECURRENCE-ID;VALUE=DATE;RANGE=THISANDFUTURE:20270111\nDTSTART;VALUE=DATE:{new_start}"

    imported = svc.import_events(file(series, change), calendar=term)

    assert imported["i_cal_uid"].tolist() == ["a@b", "a@b_R20270111"]
    assert "the instances from 20270111 on are an event of their own" in imported["notes"][0]
    assert imported["notes"][1] == ""
    assert [start[:5] for start in starts_in(term)] == starts


def test_an_instance_without_its_series_changes_the_series_of_the_calendar(term: str):
    svc.import_events(file(f"UID:a@b\n{DAILY}"), calendar=term)

    svc.import_events(file(override("20270105T100000", "20270105T150000")), calendar=term)
    svc.import_events(file(override("20270106T100000", "20270106T150000") + "\nSTATUS:CANCELLED"), calendar=term)

    assert starts_in(term) == [FOUR, "01-05 15:00"]


@pytest.mark.parametrize("hour", ["10", "11"])
def test_a_newer_file_without_a_changed_instance_undoes_its_change(term: str, hour: str):
    series = version(1, "20240101", "Series", "RRULE:FREQ=DAILY;COUNT=3")
    svc.import_events(file(series, override("20270105T100000", "20270105T150000") + "\nLOCATION:Attic"), calendar=term)
    last = svc.events(calendar=term, single_events=True, limit=9).iloc[[2]]
    svc.update_event(last, summary="Mine", calendar=term)

    newer = series.replace("SEQUENCE:1", "SEQUENCE:2").replace("T10", f"T{hour}").replace("T110000", f"T{hour}3000")
    svc.import_events(file(newer), calendar=term)

    found = svc.events(calendar=term, single_events=True, limit=9)
    changed = found[found["summary"] == "Mine"]
    assert changed["start"].dt.hour.tolist() == [int(hour)]
    assert f"{found['start'].iloc[1]:%d %H}" == f"05 {hour}"
    assert "Moved" not in found["summary"].tolist()
    assert found["location"].isna().all()


def instance(sequence: int, summary: str, stamp: str = "20240101", more: str = "") -> str:
    moved = override("20270105T100000", "20270105T150000", summary=summary)
    return f"{moved}\nSEQUENCE:{sequence}\nDTSTAMP:{stamp}T000000Z\n{more}"


def series(sequence: int, stamp: str = "20240101", more: str = "") -> str:
    return version(sequence, stamp, "Series", f"RRULE:FREQ=DAILY;COUNT=3\n{more}")


GONE = "STATUS:CANCELLED"


MIDDLE = ["Series", "B", "Series"]


@pytest.mark.parametrize(
    "files, summaries",
    [
        ([[version(1, "20240101", "A")], [version(2, "20240102", "A", GONE)], [version(1, "20240103", "A")]], []),
        ([[version(2, "20240102", "A", GONE)], [version(1, "20240103", "A")]], []),
        ([[version(2, "20240102", "A", GONE)], [version(2, "20240102", "A")]], []),
        ([[version(2, "20240102", "A", GONE)], [version(2, "20240103", "A")]], ["A"]),
        ([[series(1), instance(1, "x", more=GONE)], [series(2)]], ["Series"] * 3),
        ([[series(1), instance(1, "x", more=GONE)], [series(2), instance(2, "B")]], MIDDLE),
        ([[series(2)], [series(1), instance(1, "x", more=GONE)]], ["Series"] * 3),
        ([[instance(1, "B")], [series(1, "20240201")]], MIDDLE),
        ([[instance(1, "B", more=GONE)], [series(1, "20240201")]], ["Series"] * 2),
        ([[instance(2, "B")], [series(1), instance(1, "old")]], MIDDLE),
        ([[instance(1, "old")], [series(1), instance(2, "B")]], MIDDLE),
        ([[instance(1, "old")], [series(2)]], ["Series"] * 3),
        ([[series(2)], [series(1), instance(3, "B")]], MIDDLE),
        ([[series(1)], [instance(3, "B")], [series(2), instance(2, "x")]], MIDDLE),
        ([[series(1)], [instance(3, "x", more=GONE)], [instance(2, "B", "20240201")]], ["Series"] * 2),
        ([[series(1)], [instance(1, "x", "20240201", GONE)], [instance(2, "B")]], MIDDLE),
        ([[series(1)], [series(3, more=GONE)], [instance(2, "B", "20240201")]], []),
        ([[series(3, more=GONE), instance(2, "B", "20240201")], [series(1, "20240301")]], []),
    ],
)
def test_of_an_event_and_of_each_instance_the_newest_version_counts(term: str, files: list[list[str]], summaries):
    for events in files:
        svc.import_events(file(*events), calendar=term)

    for events in (*files, *reversed(files)):
        assert svc.events(calendar=term, single_events=True, limit=9)["summary"].tolist() == summaries
        svc.import_events(file(*events), calendar=term)
