"""Events that cannot be created: each is refused with the reason and the field, and nothing is stored."""

from typing import Any

import pytest

from tests.contract import calendar_client as of
from tests.contract.calendar_client import BOB, END, HOLIDAY, SEMINAR, START, CalendarClient, Fields, guests, refusal

BAD_DATES = ["2026-02-30", "2026-13-01", "2026-1-2", "20261102", "2026-11-02T10:00:00Z", "tomorrow", "", "0000-01-01",
             "2026-11-02 ", "２０２６-11-02"]  # fmt: skip
BAD_INSTANTS = ["2026-11-02", "2026-11-02T10:00Z", "2026-11-02T25:00:00Z", "2026-02-30T10:00:00Z", "tomorrow", "",
                "2026-11-02T10:00:00+25:00", "10:00:00Z", "1793610000", "2026-11-02T10:00:00 Z", "2026-W45-1T10:00:00Z",
                "20261102T100000Z", "2026-11-02T10:00:00+0100", "2026-11-02 09:00:00Z",
                "0002-01-01T03:00:00+05:00"]  # fmt: skip
NO_TEXTS: list[Any] = [5, True, [], {}, 1.5]
NO_ZONES = ["Berlin", "Europe/Nowhere", "../../etc/passwd", "/etc/localtime", "+01:00", "GMT+25", "Europe/Berlin ",
            "Europe", "zone\x00", "x" * 10_000]  # fmt: skip
NO_ADDRESSES = ["nobody", "@example.org", "bob@", "bob@@example.org", "a b@example.org", "a..b@example.org",
                ".a@example.org", "a.@example.org", "bob@example..org", "bob@.example.org", "bob@example.org\n",
                "bob@exa mple.org", "bob,eve@example.org", "bob@example.org;eve@example.org", "b\x00b@example.org",
                '"unclosed@example.org']  # fmt: skip
NO_IDS = ["abcd", "ABCDE", "abcdw", "abcdz", "abc-de", "abc_de", "abc de", "v" * 1025, "", "äbcde", "abcde\n", "abc/de"]
NO_HTTPS = ["http://svc.example/a.png", "ftp://svc.example", "//svc.example", "svc.example", "", "https://",
            "javascript:1"]  # fmt: skip
NO_HTTP = ["ftp://svc.example", "file:///etc/passwd", "javascript:alert(1)", "svc.example", "//a.b", "", "http:"]
NO_URLS = ["notes.pdf", "", "/storage/v3/files/1", "https://", "javascript:alert(1)", "a b://c"]
NO_LINES = [
    "DTSTART;TZID=Europe/Berlin:20261102T100000", "DTSTART:20261102T090000Z", "DTEND:20261102T103000Z",
    "dtstart:20261102T090000Z", "DURATION:PT1H", "BEGIN:VEVENT", "FREQ=DAILY", "RRULE", "RRULE:", "RRULE FREQ=DAILY",
    "RRULE:DAILY", "RRULE:COUNT=3", "RRULE:FREQ=SOMETIMES", "RRULE:FREQ=DAILY;FREQ=DAILY",
    "RRULE:FREQ=DAILY;COUNT=3;UNTIL=20270212T225959Z", "RRULE:FREQ=DAILY;UNTIL=20270212T225959",
    "RRULE:FREQ=DAILY;UNTIL=soon", "RRULE:FREQ=DAILY;UNTIL=20270230T000000Z", "RRULE:FREQ=DAILY;COUNT=0",
    "RRULE:FREQ=DAILY;COUNT=-1", "RRULE:FREQ=DAILY;COUNT=many", "RRULE:FREQ=DAILY;INTERVAL=0",
    "RRULE:FREQ=DAILY;INTERVAL=", "RRULE:FREQ=WEEKLY;BYDAY=XX", "RRULE:FREQ=WEEKLY;BYDAY=MO,,TU",
    "RRULE:FREQ=WEEKLY;BYDAY=2MO", "RRULE:FREQ=MONTHLY;BYMONTHDAY=32", "RRULE:FREQ=MONTHLY;BYMONTHDAY=0",
    "RRULE:FREQ=YEARLY;BYMONTH=13", "RRULE:FREQ=YEARLY;BYWEEKNO=54", "RRULE:FREQ=MONTHLY;BYWEEKNO=20",
    "RRULE:FREQ=YEARLY;BYYEARDAY=367", "RRULE:FREQ=DAILY;BYHOUR=24", "RRULE:FREQ=DAILY;BYMINUTE=60",
    "RRULE:FREQ=DAILY;BYSETPOS=1", "RRULE:FREQ=DAILY;WKST=monday", "RRULE:FREQ=DAILY;COLOUR=blue",
    "RRULE:FREQ=DAILY;", "RRULE:FREQ=DAILY\nRRULE:FREQ=WEEKLY", "EXRULE:FREQ=NEVER", "RDATE:yesterday", "RDATE:",
    "RDATE:20261109T090000Z,", "RDATE;TZID=Nowhere/City:20261109T100000",
    "RDATE;TZID=Europe/Berlin:20261109T100000Z", "RDATE;VALUE=DATE:20261109T090000Z",
    "RDATE;VALUE=BINARY:20261109T090000Z", "EXDATE:20261399T090000Z", "", " ", "every Monday",
]  # fmt: skip
TWO_LINES = ["RRULE:FREQ=DAILY\n", "RRULE:FREQ=DAILY;\r\n COUNT=2", "RRULE:FREQ=DAILY;COUNT=２"]
POPUP = {"method": "popup", "minutes": 10}
DAILY = "RRULE:FREQ=DAILY;COUNT=3"


def refused(rules: tuple[str, ...], location: str, events: Any, reason: str | None = "invalid", *choices: str) -> Any:
    marks = [*(pytest.mark.choice(choice) for choice in choices), *([pytest.mark.spec(*rules)] if rules else [])]
    return [pytest.param(event, reason, location, marks=marks) for event in events]


def seminars(field: str, *values: Any) -> list[Fields]:
    return [{**SEMINAR, field: value} for value in values]


def requests(*requests: Fields) -> list[Fields]:
    return seminars("conferenceData", *({"createRequest": request} for request in requests))


def reminders(*overrides: Fields) -> list[Fields]:
    return seminars("reminders", {"useDefault": False, "overrides": list(overrides)})


def table() -> Any:
    no_end: list[Fields] = [{}, {"end": {}}, {"end": None}, {"end": {"timeZone": "UTC"}}]
    no_start: list[Fields] = [{}, {"start": {}}, {"start": {"timeZone": "Europe/Berlin"}}]
    yield from refused(("E-02", "E-02a"), "end", [{}, *({"start": START, **end} for end in no_end)], "required")
    yield from refused(("E-02", "E-02a"), "start", [{"end": END, **start} for start in no_start], "required")
    for field in ("start", "end"):
        base, zoned = SEMINAR[field], {"timeZone": "Europe/Berlin"}
        dates = [{**HOLIDAY, field: {"date": date}} for date in BAD_DATES]
        instants = seminars(field, *({"dateTime": text, **zoned} for text in BAD_INSTANTS))
        zones = seminars(field, *({**base, "timeZone": zone} for zone in NO_ZONES))
        without_zone = {"dateTime": base["dateTime"]}
        yield from refused(("E-03", "E-03a"), f"{field}.date", dates, "badRequest")
        yield from refused(("E-03", "E-03b"), f"{field}.dateTime", instants, "badRequest")
        yield from refused(
            ("E-03", "E-03c"), f"{field}.timeZone", seminars(field, {"dateTime": base["dateTime"][:19]}), "required"
        )
        yield from refused(("E-04", "E-04a"), f"{field}.timeZone", zones)
        yield from refused(("E-04", "E-04b"), f"{field}.timeZone", [{**of.WEEKLY, field: without_zone}], "required")
    for part, event in (("date", HOLIDAY), ("dateTime", SEMINAR), ("timeZone", SEMINAR)):
        events = [{**event, "start": {**event["start"], part: value}} for value in NO_TEXTS]
        yield from refused(("E-03", "E-03a", "E-03b"), f"start.{part}", events, None)
    for start, end in (
        (START, START),
        (END, START),
        (START, {"dateTime": "2026-11-02T09:00:00Z"}),
        ({"dateTime": "2026-11-02T10:00:00Z"}, {"dateTime": "2026-11-02T10:30:00+01:00"}),
        ({"date": "2026-12-24"}, {"date": "2026-12-24"}),
        ({"date": "2026-12-24"}, {"date": "2026-12-23"}),
    ):
        yield from refused(("E-05", "E-05b"), "timeMax", [{"start": start, "end": end}], "timeRangeEmpty")
    for part, time, reason in (
        ("dateTime", {"dateTime": "soon"}, "badRequest"),
        ("date", {"date": "2026-02-30"}, "badRequest"),
        ("timeZone", {"dateTime": "2026-11-02T10:00:00"}, "required"),
        ("timeZone", {"dateTime": "2026-11-02T10:00:00", "timeZone": "Berlin"}, "invalid"),
    ):
        yield from refused(("E-23",), f"originalStartTime.{part}", seminars("originalStartTime", time), reason)
    yield from refused(("E-11", "E-11a"), "id", seminars("id", *NO_IDS), "invalid", "Ids of events")
    addresses = seminars("attendees", *(guests(BOB, email) for email in NO_ADDRESSES))
    nobody = seminars("attendees", [{}], [{"displayName": "Bob"}], [{"email": None}], [{"email": ""}])
    yield from refused(("E-07", "E-07b"), "attendees[1].email", addresses)
    yield from refused(("E-07", "E-07a"), "attendees[0].email", nobody, "required")
    yield from refused(("E-24",), "colorId", seminars("colorId", "0", "12", "24", "red", "", "1 ", "01", "-1", "１"))
    yield from refused((), "eventType", seminars("eventType", "fromGmail", "party"), None)
    for size in ("height", "width"):
        small = seminars("gadget", *({size: value} for value in (0, -1, 1.5, "5px", True, [], {})))
        big = seminars("gadget", {size: 10**30})
        yield from refused(("E-10", "E-10a"), f"gadget.{size}", small, None)
        yield from refused(("E-10", "E-10a"), f"gadget.{size}", big, None, "Integers beyond 32 bits")
    for link in ("iconLink", "link"):
        yield from refused(("E-10", "E-10b"), f"gadget.{link}", seminars("gadget", *({link: url} for url in NO_HTTPS)))
    yield from refused(("E-14",), "source.url", seminars("source", *({"url": url} for url in NO_HTTP)))
    choice = "Values of extended properties and gadget preferences"
    for kind in ("private", "shared"):
        events = seminars("extendedProperties", *({kind: {"a": value}} for value in (5, True, ["a"], {})))
        yield from refused(("E-19", "E-19a", "E-19b"), f"extendedProperties.{kind}.a", events, "invalid", choice)
    for part in POPUP:
        yield from refused(
            ("E-13", "E-13b"), f"reminders.overrides[0].{part}", reminders({**POPUP, part: None}), "required"
        )
    for minutes in (-1, 40321, 10**30):
        events = reminders(POPUP, {**POPUP, "minutes": minutes})
        yield from refused(("E-13", "E-13c"), "reminders.overrides[1].minutes", events, "invalid", "reminders")
    for line in (*NO_LINES, *TWO_LINES):
        yield from refused(("E-12", "E-12b", "E-12c"), "recurrence[0]", seminars("recurrence", [line]))
    yield from refused(("E-12", "E-12b"), "recurrence[1]", seminars("recurrence", [DAILY, "DTSTART:20261102T090000Z"]))
    yield from refused(("E-12", "E-12c"), "recurrence[1]", seminars("recurrence", [DAILY, "RDATE:never", "x"]))
    yield from refused(("E-12", "E-12b"), "recurrence[100]", seminars("recurrence", [DAILY] * 101))
    for line in ("RRULE:FREQ=HOURLY;COUNT=3", "EXDATE:20271224T000000Z", "RDATE:20271224T000000Z"):
        events = [{**HOLIDAY, "recurrence": ["RRULE:FREQ=YEARLY;COUNT=5", line]}]
        yield from refused(("E-12", "E-12c"), "recurrence[1]", events, "invalid", "RDATE and EXDATE")
    for url in NO_URLS:
        events = seminars("attachments", [{"fileUrl": "https://elsewhere.example/a"}, {"fileUrl": url}])
        yield from refused(("E-17",), "attachments[1].fileUrl", events)
    request, solution = "conferenceData.createRequest", "conferenceSolutionKey"
    types = requests(*({"requestId": "r", solution: {"type": name}} for name in ("eventHangout", "zoom", "", "addOn")))
    ids = requests(*({solution: {"type": "hangoutsMeet"}, **x} for x in ({}, {"requestId": None}, {"requestId": ""})))
    yield from refused(("E-09", "E-09c"), f"{request}.{solution}.type", types, "invalid", "conference_types")
    yield from refused(
        ("E-09", "E-09c"), f"{request}.requestId", ids, "required", "A createRequest without a requestId"
    )


@pytest.mark.parametrize("event, reason, location", list(table()))
def test_an_event_is_refused_by_its_field(ada: CalendarClient, event: Fields, reason: Any, location: str) -> None:
    answer = ada.insert(event, conferenceDataVersion=1, supportsAttachments="true")

    assert refusal(answer) == (400, reason or answer.error["reason"], location)
    assert ada.items() == []
