from datetime import UTC, datetime
from typing import Any

import pytest

from tests.contract.calendar_client import END, HOLIDAY, SEMINAR, START, WEEKLY, CalendarClient, Fields, refusal
from tests.contract.differences import choice

BAD_DATES = ["2026-02-30", "2026-13-01", "2026-1-2", "20261102", "2026-11-02T10:00:00Z", "tomorrow", "", "0000-01-01",
             "2026-11-02 ", "２０２６-11-02"]  # fmt: skip
BAD_INSTANTS = ["2026-11-02", "2026-11-02T10:00Z", "2026-11-02T25:00:00Z", "2026-02-30T10:00:00Z", "tomorrow", "",
                "2026-11-02T10:00:00+25:00", "10:00:00Z", "1793610000", "2026-11-02T10:00:00 Z", "2026-W45-1T10:00:00Z",
                "20261102T100000Z", "2026-11-02T10:00:00+0100"]  # fmt: skip
NO_TEXTS: list[Any] = [5, True, [], {}, 1.5]
NO_ZONES = ["Berlin", "Europe/Nowhere", "../../etc/passwd", "/etc/localtime", "+01:00", "GMT+25", "Europe/Berlin ",
            "Europe", "zone\x00", "x" * 10_000]  # fmt: skip


def instant(time: dict[str, str]) -> datetime:
    """The instant of a time of the answer, which has an offset of its own."""
    time_read = datetime.fromisoformat(time["dateTime"])
    assert time_read.tzinfo is not None
    return time_read.astimezone(UTC)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


@pytest.mark.spec("E-02", "E-02a")
@pytest.mark.parametrize(
    "event, reason, location",
    [
        ({}, "required", "end"),
        ({"start": START}, "required", "end"),
        ({"start": START, "end": {}}, "required", "end"),
        ({"start": START, "end": None}, "required", "end"),
        ({"start": START, "end": {"timeZone": "UTC"}}, "required", "end"),
        ({"end": END}, "required", "start"),
        ({"start": {}, "end": END}, "required", "start"),
        ({"start": {"timeZone": "Europe/Berlin"}, "end": END}, "required", "start"),
    ],
)
def test_start_and_end_are_required(ada: CalendarClient, event: dict[str, Any], reason: str, location: str) -> None:
    answer = ada.insert({**event, "summary": "no time"})

    assert refusal(answer) == (400, reason, location)
    assert ada.items() == []


@pytest.mark.spec("E-02", "E-02b")
@pytest.mark.parametrize(
    "start, end",
    [
        ({**START, "date": "2026-11-02"}, END),
        (START, {**END, "date": "2026-11-03"}),
        ({**START, "date": "2026-11-02"}, {**END, "date": "2026-11-03"}),
    ],
)
def test_a_time_cannot_have_date_and_date_time(ada: CalendarClient, start: dict[str, str], end: dict[str, str]) -> None:
    answer = ada.insert({"start": start, "end": end})

    assert (answer.status, answer.error["reason"]) == (400, "invalid")
    with choice("Reasons and locations of errors"):
        assert answer.error["location"].split(".")[0] in {"start", "end"}


@pytest.mark.spec("E-03", "E-03a")
@pytest.mark.parametrize("date", BAD_DATES)
@pytest.mark.parametrize("field", ["start", "end"])
def test_an_invalid_date_is_refused(ada: CalendarClient, field: str, date: str) -> None:
    assert refusal(ada.insert({**HOLIDAY, field: {"date": date}})) == (400, "badRequest", f"{field}.date")


@pytest.mark.spec("E-03", "E-03b")
@pytest.mark.parametrize("text", BAD_INSTANTS)
@pytest.mark.parametrize("field", ["start", "end"])
def test_an_invalid_date_time_is_refused(ada: CalendarClient, field: str, text: str) -> None:
    wrong = {"dateTime": text, "timeZone": "Europe/Berlin"}

    assert refusal(ada.insert({**SEMINAR, field: wrong})) == (400, "badRequest", f"{field}.dateTime")


@pytest.mark.spec("E-03", "E-03a", "E-03b")
@pytest.mark.parametrize("value", NO_TEXTS)
@pytest.mark.parametrize("part, event", [("date", HOLIDAY), ("dateTime", SEMINAR), ("timeZone", SEMINAR)])
def test_the_parts_of_a_time_must_be_texts(ada, part, event, value):
    answer = ada.insert({**event, "start": {**event["start"], part: value}})

    assert (answer.status, answer.error["location"]) == (400, f"start.{part}")


@pytest.mark.spec("E-03", "E-03c", "E-04", "E-04b")
@pytest.mark.parametrize(
    "text, meant",
    [
        ("2026-11-02T09:00:00Z", "2026-11-02T09:00:00+00:00"),
        ("2026-11-02t09:00:00z", "2026-11-02T09:00:00+00:00"),
        ("2026-11-02T09:00:00.250Z", "2026-11-02T09:00:00+00:00"),
        ("2026-11-02T10:00:00+01:00", "2026-11-02T09:00:00+00:00"),
        ("2026-11-01T23:30:00-09:30", "2026-11-02T09:00:00+00:00"),
        ("2026-11-02T09:00:00-00:00", "2026-11-02T09:00:00+00:00"),
    ],
)
def test_an_instant_with_an_offset_needs_no_zone(ada: CalendarClient, text: str, meant: str) -> None:
    event = ada.made(start={"dateTime": text})

    assert instant(event["start"]).replace(microsecond=0) == at(meant)


@pytest.mark.spec("E-03", "E-03c")
@pytest.mark.parametrize(
    "zone, meant",
    [
        ("Europe/Berlin", "2026-11-02T09:00:00+00:00"),
        ("America/New_York", "2026-11-02T15:00:00+00:00"),
        ("Asia/Kolkata", "2026-11-02T04:30:00+00:00"),
        ("America/Argentina/Buenos_Aires", "2026-11-02T13:00:00+00:00"),
        ("UTC", "2026-11-02T10:00:00+00:00"),
    ],
)
def test_an_instant_without_an_offset_is_in_its_zone(ada: CalendarClient, zone: str, meant: str) -> None:
    end = {"dateTime": "2026-11-03T10:00:00", "timeZone": zone}
    event = ada.made(start={"dateTime": "2026-11-02T10:00:00", "timeZone": zone}, end=end)

    assert instant(event["start"]) == at(meant)
    assert event["start"]["timeZone"] == zone


@pytest.mark.spec("E-03", "E-03c")
@pytest.mark.parametrize("field", ["start", "end"])
def test_an_instant_without_offset_and_zone_is_refused(ada: CalendarClient, field: str) -> None:
    answer = ada.insert({**SEMINAR, field: {"dateTime": "2026-11-02T11:00:00"}})

    assert refusal(answer) == (400, "required", f"{field}.timeZone")


@pytest.mark.spec("E-03", "E-03c")
def test_where_both_are_given_the_offset_tells_the_instant_and_the_zone_is_kept(ada: CalendarClient) -> None:
    event = ada.made(start={"dateTime": "2026-11-02T09:00:00Z", "timeZone": "Asia/Tokyo"})

    assert instant(event["start"]) == at("2026-11-02T09:00:00+00:00")
    assert event["start"]["timeZone"] == "Asia/Tokyo"


@pytest.mark.spec("E-04", "E-04a")
@pytest.mark.parametrize("zone", NO_ZONES)
@pytest.mark.parametrize("field", ["start", "end"])
def test_a_zone_is_a_name_of_the_iana_database(ada: CalendarClient, field: str, zone: str) -> None:
    answer = ada.insert({**SEMINAR, field: {**SEMINAR[field], "timeZone": zone}})

    assert refusal(answer) == (400, "invalid", f"{field}.timeZone")


@pytest.mark.spec("E-04", "E-04b")
def test_a_recurring_event_with_times_needs_a_zone(ada: CalendarClient) -> None:
    recurring = {
        "start": {"dateTime": "2026-11-02T10:00:00+01:00"},
        "end": {"dateTime": "2026-11-02T11:00:00+01:00"},
        "recurrence": ["RRULE:FREQ=WEEKLY;COUNT=3"],
    }

    answer = ada.insert(recurring)

    assert refusal(answer) == (400, "required", "start.timeZone")
    assert [error["location"] for error in answer.json["error"]["errors"]] == ["start.timeZone", "end.timeZone"]
    assert ada.items() == []


@pytest.mark.spec("E-04", "E-04b")
@pytest.mark.parametrize("field", ["start", "end"])
def test_the_zone_of_a_recurring_event_stands_in_its_start_and_in_its_end(ada: CalendarClient, field: str) -> None:
    time = {"dateTime": SEMINAR[field]["dateTime"]}

    answer = ada.insert({**WEEKLY, field: time})

    assert refusal(answer) == (400, "required", f"{field}.timeZone")


@pytest.mark.spec("E-04", "E-04b")
@pytest.mark.choice("The time zone of a recurring all-day event")
@pytest.mark.parametrize("zone", [{}, {"timeZone": "Asia/Tokyo"}])
def test_a_recurring_event_of_days_takes_the_zone_of_its_calendar(ada: CalendarClient, zone: Fields) -> None:
    holiday = {name: {**time, **zone} for name, time in HOLIDAY.items()}

    event = ada.made(holiday, recurrence=["RRULE:FREQ=YEARLY;COUNT=3"])

    assert event["recurrence"] == ["RRULE:FREQ=YEARLY;COUNT=3"]
    assert event["start"] == holiday["start"] == ada.instances(event["id"])[0]["start"]
    assert [instance["start"]["date"] for instance in ada.instances(event["id"])] == [
        "2026-12-24",
        "2027-12-24",
        "2028-12-24",
    ]


@pytest.mark.spec("E-05", "E-05b")
@pytest.mark.parametrize(
    "start, end",
    [
        (START, START),
        (END, START),
        (START, {"dateTime": "2026-11-02T09:00:00Z"}),
        ({"dateTime": "2026-11-02T10:00:00Z"}, {"dateTime": "2026-11-02T10:30:00+01:00"}),
        ({"date": "2026-12-24"}, {"date": "2026-12-24"}),
        ({"date": "2026-12-24"}, {"date": "2026-12-23"}),
    ],
)
def test_the_end_lies_after_the_start(ada: CalendarClient, start: dict[str, str], end: dict[str, str]) -> None:
    answer = ada.insert({"start": start, "end": end})

    assert refusal(answer) == (400, "timeRangeEmpty", "timeMax")
    assert answer.error["domain"] == "calendar"


@pytest.mark.spec("E-05", "E-05b")
@pytest.mark.parametrize(
    "start, end",
    [
        ({"dateTime": "2026-11-02T10:00:00+01:00"}, {"dateTime": "2026-11-02T09:30:00Z"}),
        ({"dateTime": "2026-11-02T10:00:00Z"}, {"dateTime": "2026-11-02T10:00:01Z"}),
        ({"date": "2026-12-24"}, {"date": "2026-12-25"}),
    ],
)
def test_the_order_is_that_of_instants(ada: CalendarClient, start: dict[str, str], end: dict[str, str]) -> None:
    assert ada.made(start=start, end=end)["kind"] == "svc#event"


@pytest.mark.spec("E-05", "E-05a")
def test_the_end_is_exclusive(ada: CalendarClient) -> None:
    ada.made(HOLIDAY, summary="holiday")
    ada.made(summary="seminar", start={"dateTime": "2026-11-02T10:00:00Z"}, end={"dateTime": "2026-11-02T11:00:00Z"})

    assert ada.summaries(timeMin="2026-12-27T00:00:00Z") == []
    assert ada.summaries(timeMin="2026-12-26T23:59:59Z") == ["holiday"]
    assert ada.summaries(timeMin="2026-11-02T11:00:00Z", timeMax="2026-11-03T00:00:00Z") == []
    assert ada.summaries(timeMin="2026-11-02T10:59:59Z", timeMax="2026-11-03T00:00:00Z") == ["seminar"]


@pytest.mark.spec("E-23")
@pytest.mark.parametrize(
    "value, reason, location",
    [
        ({"dateTime": "soon"}, "badRequest", "originalStartTime.dateTime"),
        ({"date": "2026-02-30"}, "badRequest", "originalStartTime.date"),
        ({"dateTime": "2026-11-02T10:00:00"}, "required", "originalStartTime.timeZone"),
        ({"dateTime": "2026-11-02T10:00:00", "timeZone": "Berlin"}, "invalid", "originalStartTime.timeZone"),
    ],
)
def test_the_original_start_has_the_rules_of_a_start(ada, value, reason, location):
    assert refusal(ada.insert({**SEMINAR, "originalStartTime": value})) == (400, reason, location)


@pytest.mark.spec("E-23")
@pytest.mark.parametrize("value", [{"date": "2026-11-01"}, {"dateTime": "2026-11-01T10:00:00Z"}])
def test_an_original_start_may_be_given(ada: CalendarClient, value: dict[str, str]) -> None:
    shown = ada.made(originalStartTime=value)["originalStartTime"]

    assert shown == value if "date" in value else instant(shown) == at(value["dateTime"])
