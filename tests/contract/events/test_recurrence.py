"""Recurrence lines of RFC 5545, and the errors of wrong ones (B1)."""

from typing import Any

import pytest

from tests.contract.calendar_client import HOLIDAY, SEMINAR, CalendarClient, Fields

DAILY = "RRULE:FREQ=DAILY;COUNT=3"
OF_INSTANTS = [
    "RRULE:FREQ=DAILY", "RRULE:FREQ=WEEKLY;BYDAY=MO,WE,FR;INTERVAL=2;WKST=SU", "RRULE:FREQ=MONTHLY;BYDAY=-1FR",
    "RRULE:FREQ=MONTHLY;BYMONTHDAY=-1,15", "RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=2SU",
    "RRULE:FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", "RRULE:FREQ=WEEKLY;UNTIL=20270212T225959Z",
    "RRULE:UNTIL=20270212T225959Z;FREQ=WEEKLY", "RRULE:FREQ=HOURLY;COUNT=5", "rrule:freq=daily;count=2",
    "EXRULE:FREQ=WEEKLY;COUNT=2", "RDATE:20261109T090000Z",
    "RDATE;TZID=Europe/Berlin:20261109T100000,20261110T100000", "RDATE;VALUE=DATE-TIME:20261109T090000Z",
    "RDATE;VALUE=PERIOD:20261109T090000Z/PT1H", "EXDATE;TZID=Europe/Berlin:20261103T100000",
    "EXDATE:20261103T090000Z",
]  # fmt: skip
OF_DAYS: list[Any] = [
    (HOLIDAY, "RRULE:FREQ=YEARLY;UNTIL=20301224"),
    (HOLIDAY, "RRULE:FREQ=WEEKLY;COUNT=3"),
    # gcsa writes so, whatever the start is
    pytest.param(HOLIDAY, "RRULE:FREQ=WEEKLY;UNTIL=20301224T000000Z", marks=pytest.mark.choice("UNTIL")),
    (HOLIDAY, "RDATE;VALUE=DATE:20270101,20270102"),
    (HOLIDAY, "EXDATE;VALUE=DATE:20271224"),
    (HOLIDAY, "EXRULE:FREQ=YEARLY;COUNT=1"),
]


@pytest.mark.spec("E-12", "E-12a")
@pytest.mark.parametrize("event, line", [*((SEMINAR, line) for line in OF_INSTANTS), *OF_DAYS])
def test_a_line_is_stored_unchanged(ada: CalendarClient, event: Fields, line: str) -> None:
    made = ada.made(event, recurrence=[DAILY, line] if line.startswith("EX") else [line])

    assert made["recurrence"][-1] == line
    assert ada.read(made["id"])["recurrence"] == made["recurrence"]


def test_several_lines_work_together_and_none_are_a_single_event(ada: CalendarClient) -> None:
    dates = [f"{name};TZID=Europe/Berlin:{day}T100000" for name, day in (("RDATE", 20261104), ("EXDATE", 20261109))]
    event = ada.made(recurrence=["RRULE:FREQ=WEEKLY;COUNT=3", *dates])

    days = [instance["start"]["dateTime"][:10] for instance in ada.instances(event["id"])]

    assert days == ["2026-11-02", "2026-11-04", "2026-11-16"]
    assert ["recurrence" in ada.made(recurrence=lines) for lines in ([], None)] == [False, False]


@pytest.mark.spec("E-12", "E-12a")
def test_hours_in_a_rule_for_dates_are_ignored(ada: CalendarClient) -> None:
    """RFC 5545, 3.3.10: BYHOUR, BYMINUTE and BYSECOND must be ignored where the start is a date."""
    event = ada.made(HOLIDAY, recurrence=["RRULE:FREQ=DAILY;BYHOUR=9,17;BYMINUTE=30;BYSECOND=5;COUNT=3"])

    days = [instance["start"]["date"] for instance in ada.instances(event["id"])]

    assert days == ["2026-12-24", "2026-12-25", "2026-12-26"]
