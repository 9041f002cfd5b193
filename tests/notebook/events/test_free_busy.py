from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, strategies as st

import svc_notebooks as svc
from svc_notebooks.core.events.calendars import free_slots
from tests.examples import examples

NOVEMBER = {"time_min": "2026-11-01", "time_max": "2026-12-01"}
BOB, EVE = "bob@svc.example", "eve@svc.example"
DAY = "2026-11-02"
BERLIN = {"time_zone": "Europe/Berlin"}


def test_periods_of_several_calendars_in_a_zone(lab: svc.Sandbox) -> None:
    course = svc.create_calendar("Course", time_zone="Asia/Tokyo")["id"][0]
    svc.create_event("Tea", start="2026-11-02 10:00", end="11:00", **BERLIN)
    svc.create_event("Talk", start="2026-11-03 10:00", end="11:00", **BERLIN, calendar=course)

    busy = svc.free_busy(svc.calendars(), **NOVEMBER, **BERLIN)

    assert busy["calendar"].tolist() == ["ada@svc.example", course]
    periods = busy.explode("busy")["busy"].tolist()
    assert [str(start) for start, _ in periods] == ["2026-11-02 10:00:00+01:00", "2026-11-03 10:00:00+01:00"]
    assert all(isinstance(time, pd.Timestamp) for period in periods for time in period)


def test_the_row_of_a_calendar_that_cannot_be_seen_has_failed(lab: svc.Sandbox) -> None:
    bob = lab.sign_in(BOB)
    svc.share_calendar("primary", "ada@svc.example", role="freeBusyReader", session=bob)
    svc.create_event("Tea", start="2026-11-02 10:00", end="11:00", time_zone="UTC", session=bob)

    with pytest.warns(UserWarning, match="1 of 3 rows failed"):
        busy = svc.free_busy(f"primary; Eve <{EVE}>, {BOB}", **NOVEMBER)

    assert busy["calendar"].tolist() == ["primary", EVE, BOB]
    assert busy["outcome"].tolist() == ["done", "failed", "done"]
    assert [None if periods is None else len(periods) for periods in busy["busy"]] == [0, None, 1]
    assert "is not shared with this user" in busy["error"][1]
    with pytest.raises(svc.NotFound, match=EVE):
        svc.free_busy(EVE, **NOVEMBER)
    with pytest.raises(svc.NotFound, match=f"see {EVE}, zoe@svc.example: .*share_calendar"):
        svc.free_times(["primary", BOB, EVE, "zoe@svc.example"], within=DAY)


@pytest.mark.parametrize("people", [[], [5], "", None, [None], pd.DataFrame({"name": ["Bob"]}), float("nan")], ids=repr)
def test_invalid_people_are_refused_before_a_request(lab: svc.Sandbox, people: Any) -> None:
    before = len(lab.journal())

    for call in (lambda: svc.free_busy(people, **NOVEMBER), lambda: svc.free_times(people)):
        with pytest.raises((TypeError, ValueError), match=r"calendars|people"):
            call()

    assert len(lab.journal()) == before


@pytest.mark.parametrize("day, hours", [("2026-03-29", 23), ("2026-10-25", 25), ("2026-06-01", 24)])
def test_a_day_of_a_clock_change_has_another_length(lab: svc.Sandbox, day: str, hours: int) -> None:
    whole = svc.free_times("primary", within=day, hours=("00:00", "24:00"), **BERLIN)
    office = svc.free_times("primary", within=day, **BERLIN)

    assert len(whole) == hours
    assert office["start"].dt.strftime("%H:%M").tolist() == [f"{hour:02}:00" for hour in range(9, 17)]


def test_forms_of_a_window(lab: svc.Sandbox) -> None:
    def days(within: Any, **more: Any) -> list[str]:
        free = svc.free_times("primary", duration="8h", within=within, **BERLIN, **more)
        return free["start"].dt.strftime("%a").tolist()

    assert days(("2026-11-06", "2026-11-09")) == ["Fri", "Sat", "Sun"]
    assert days([pd.Timestamp("2026-11-06"), datetime(2026, 11, 8, tzinfo=UTC)]) == ["Fri", "Sat"]
    assert days(date(2026, 11, 6)) == days("2026-11-06") == ["Fri"]
    week = days(("tomorrow", "2026-01-12"))
    assert days("7d") == days(timedelta(days=7)) == week == ["Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    assert days(("2026-11-06 10:00", "2026-11-07")) == []
    assert days(("2026-11-06", "2026-11-08"), hours=("22:00", time(6))) == ["Fri"]
    lab.clock.advance("1h 7min 3s")
    assert svc.free_times("primary")["start"][0].strftime("%M:%S") == "15:00", "from now on, in quarters of an hour"


@pytest.mark.parametrize("arguments", [
    {"duration": 0}, {"duration": "-1h"}, {"duration": "soon"}, {"within": "soon"}, {"within": (DAY,)},
    {"within": "99 weeks"}, {"within": ("2026-01-01", "2027-02-01")},
    {"within": ("2026-11-03", DAY)}, {"within": (DAY, None)}, {"within": f"{DAY} 10:00"}, {"within": None},
    {"hours": "9-17"}, {"hours": ("9am", "5pm")}, {"hours": (9, 17)}, {"time_zone": "Mars"},
    {"within": "99999999d"}, {"hours": ("09:00Z", "17:00")}, {"hours": (time(9, tzinfo=UTC), time(17))},
    {"hours": (datetime(2026, 11, 2, 9, tzinfo=UTC), time(17))},
], ids=str)  # fmt: skip
def test_errors_name_the_argument(lab: svc.Sandbox, arguments: dict[str, Any]) -> None:
    (name,) = arguments

    with pytest.raises((TypeError, ValueError), match=name):
        svc.free_times("primary", **arguments)


minutes = st.integers(0, 60)


@examples()
@given(st.lists(st.tuples(minutes, minutes)), st.tuples(minutes, minutes), st.integers(1, 20))
def test_slots_are_free_and_no_slot_is_missing(busy, opening, length):
    slots = list(free_slots(busy, opening, length))

    def is_free(begin: int) -> bool:
        inside = opening[0] <= begin and begin + length <= opening[1]
        return inside and all(not (first < begin + length and begin < last) for first, last in busy if first < last)

    assert all(is_free(begin) and end == begin + length for begin, end in slots)
    at, expected = opening[0], []
    while at < opening[1]:
        expected += [(at, at + length)] if is_free(at) else []
        at += length if is_free(at) else 1
    assert slots == expected
