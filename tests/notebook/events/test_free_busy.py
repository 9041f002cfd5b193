"""The DataFrame of busy periods."""

from __future__ import annotations

import pytest

import svc_notebooks as svc

NOVEMBER = {"time_min": "2026-11-01", "time_max": "2026-12-01"}


def test_periods_of_several_calendars_in_a_zone(lab: svc.Sandbox) -> None:
    course = svc.create_calendar("Course", time_zone="Asia/Tokyo")["id"][0]
    svc.create_event("Tea", start="2026-11-02 10:00", end="11:00", time_zone="Europe/Berlin")
    svc.create_event("Talk", start="2026-11-03 10:00", end="11:00", time_zone="Europe/Berlin", calendar=course)

    busy = svc.free_busy(svc.calendars()["id"], **NOVEMBER, time_zone="Europe/Berlin")

    assert busy["start"].astype(str).tolist() == ["2026-11-02 10:00:00+01:00", "2026-11-03 10:00:00+01:00"]
    assert busy["calendar"].tolist() == ["ada@svc.example", course]


def test_a_calendar_that_cannot_be_seen_is_an_error(lab: svc.Sandbox) -> None:
    with pytest.raises(svc.NotFound, match=r"No calendar nobody@svc\.example"):
        svc.free_busy(["primary", "nobody@svc.example"], **NOVEMBER)


@pytest.mark.parametrize("calendars", [[], [5], "", [str(n) for n in range(51)]])
def test_invalid_ids_are_refused_before_a_request(lab: svc.Sandbox, calendars: object) -> None:
    before = len(lab.journal())

    with pytest.raises((TypeError, ValueError), match="calendar"):
        svc.free_busy(calendars, **NOVEMBER)

    assert len(lab.journal()) == before
