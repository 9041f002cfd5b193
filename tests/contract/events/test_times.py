from datetime import UTC, datetime

import pytest

from tests.contract.calendar_client import END, HOLIDAY, START, CalendarClient, Fields
from tests.contract.differences import choice


def instant(text: str) -> datetime:
    """The instant of a text, which has an offset of its own."""
    time_read = datetime.fromisoformat(text)
    assert time_read.tzinfo is not None
    return time_read.astimezone(UTC)


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


AT_NINE = ["2026-11-02T09:00:00Z", "2026-11-02t09:00:00z", "2026-11-02T09:00:00.250Z", "2026-11-02T10:00:00+01:00",
           "2026-11-01T23:30:00-09:30", "2026-11-02T09:00:00-00:00"]  # fmt: skip


@pytest.mark.spec("E-03", "E-03c", "E-04", "E-04b")
@pytest.mark.parametrize(
    "text, zone, meant",
    [
        *((text, None, "2026-11-02T09:00:00") for text in AT_NINE),
        ("2026-11-02T10:00:00", "Europe/Berlin", "2026-11-02T09:00:00"),
        ("2026-11-02T10:00:00", "America/New_York", "2026-11-02T15:00:00"),
        ("2026-11-02T10:00:00", "Asia/Kolkata", "2026-11-02T04:30:00"),
        ("2026-11-02T10:00:00", "America/Argentina/Buenos_Aires", "2026-11-02T13:00:00"),
        ("2026-11-02T10:00:00", "UTC", "2026-11-02T10:00:00"),
        ("2026-11-02T09:00:00Z", "Asia/Tokyo", "2026-11-02T09:00:00"),
    ],
)
def test_the_offset_or_else_the_zone_tells_the_instant_and_the_zone_is_kept(ada, text, zone, meant):
    start = {"dateTime": text} if zone is None else {"dateTime": text, "timeZone": zone}

    event = ada.made(start=start, end={"dateTime": "2026-11-03T10:00:00Z"})

    assert instant(event["start"]["dateTime"]).replace(microsecond=0) == instant(f"{meant}Z")
    assert zone in (None, event["start"].get("timeZone"))


@pytest.mark.spec("E-04", "E-04b")
@pytest.mark.choice("The time zone of a recurring all-day event")
@pytest.mark.parametrize("zone", [{}, {"timeZone": "Asia/Tokyo"}])
def test_a_recurring_event_of_days_takes_the_zone_of_its_calendar(ada: CalendarClient, zone: Fields) -> None:
    holiday = {name: {**time, **zone} for name, time in HOLIDAY.items()}

    event = ada.made(holiday, recurrence=["RRULE:FREQ=YEARLY;COUNT=3"])

    assert event["recurrence"] == ["RRULE:FREQ=YEARLY;COUNT=3"]
    starts = [instance["start"] for instance in ada.instances(event["id"])]
    assert event["start"] == holiday["start"] == starts[0]
    assert [start["date"] for start in starts] == ["2026-12-24", "2027-12-24", "2028-12-24"]


@pytest.mark.spec("E-05", "E-05a", "E-05b")
def test_the_end_is_exclusive_and_the_order_is_that_of_instants(ada: CalendarClient) -> None:
    ada.made(HOLIDAY, summary="holiday")
    ada.made(summary="seminar", start={"dateTime": "2026-11-02T10:00:00Z"}, end={"dateTime": "2026-11-02T11:00:00Z"})

    assert ada.summaries(timeMin="2026-12-27T00:00:00Z") == []
    assert ada.summaries(timeMin="2026-12-26T23:59:59Z") == ["holiday"]
    assert ada.summaries(timeMin="2026-11-02T11:00:00Z", timeMax="2026-11-03T00:00:00Z") == []
    assert ada.summaries(timeMin="2026-11-02T10:59:59Z", timeMax="2026-11-03T00:00:00Z") == ["seminar"]
    for start, end in (("2026-11-02T10:00:00+01:00", "2026-11-02T09:30:00Z"),
                       ("2026-11-02T10:00:00Z", "2026-11-02T10:00:01Z")):  # fmt: skip
        assert ada.made(start={"dateTime": start}, end={"dateTime": end})["kind"] == "svc#event"
    assert ada.made(start={"date": "2026-12-24"}, end={"date": "2026-12-25"})["kind"] == "svc#event"


@pytest.mark.spec("E-23")
@pytest.mark.parametrize("value", [{"date": "2026-11-01"}, {"dateTime": "2026-11-01T10:00:00Z"}])
def test_an_original_start_may_be_given(ada: CalendarClient, value: dict[str, str]) -> None:
    shown = ada.made(originalStartTime=value)["originalStartTime"]

    assert shown == value if "date" in value else instant(shown["dateTime"]) == instant(value["dateTime"])
