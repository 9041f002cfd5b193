from datetime import date, time, timedelta

import numpy as np
import pandas as pd
import pytest

from svc_notebooks.core.events.event_times import read_time
from svc_notebooks.notebook.events.body import event_body

BERLIN = "Europe/Berlin"
TEN = "2026-11-02 10:00"


@pytest.mark.parametrize(
    "end",
    [
        {"end": "11:30"},
        {"end": " 11:30:00 "},
        {"end": time(11, 30)},
        {"end": timedelta(minutes=90)},
        {"end": pd.Timedelta("90min")},
        {"end": np.timedelta64(90, "m")},
        {"duration": "1h 30min"},
        {"duration": "PT1H30M"},
        {"duration": 5400},
        {"duration": timedelta(hours=1.5)},
        {"end": pd.Period("2026-11-02 11:29", "min")},
    ],
    ids=str,
)
def test_an_end_may_be_a_time_of_day_a_length_or_a_period(end):
    body = event_body(start=TEN, time_zone=BERLIN, **end)

    assert read_time(body["end"]) - read_time(body["start"]) == timedelta(minutes=90)


def test_a_day_of_a_timed_event_is_24_hours_and_a_time_of_day_is_in_the_zone_of_the_end():
    for end in ({"duration": "1 day"}, {"end": timedelta(days=1)}):
        body = event_body(start="2026-10-24 12:00", time_zone=BERLIN, **end)
        assert body["end"] == {"dateTime": "2026-10-25T11:00:00+01:00", "timeZone": BERLIN}
    body = event_body(start="2026-11-02 20:00", end="11:00", time_zone=BERLIN, end_time_zone="Asia/Tokyo")
    assert body["end"] == {"dateTime": "2026-11-03T11:00:00+09:00", "timeZone": "Asia/Tokyo"}


@pytest.mark.parametrize(
    "arguments, days",
    [
        ({"start": "2026-11-02", "duration": "2 days"}, ("2026-11-02", "2026-11-04")),
        ({"start": "20261102", "end": "20261103"}, ("2026-11-02", "2026-11-03")),
        ({"start": date(2026, 11, 2), "end": timedelta(days=1)}, ("2026-11-02", "2026-11-03")),
        ({"start": pd.Period("2026-11-02", "D")}, ("2026-11-02", "2026-11-03")),
        ({"start": pd.Period("2026-11", "M")}, ("2026-11-01", "2026-12-01")),
        ({"start": pd.Period("2026-11-02", "D"), "end": pd.Period("2026-11-04", "D")}, ("2026-11-02", "2026-11-05")),
        ({"start": pd.Period("2026-11-02", "D"), "duration": "3 days"}, ("2026-11-02", "2026-11-05")),
    ],
    ids=str,
)
def test_an_all_day_event_ends_after_whole_days(arguments, days):
    body = event_body(**arguments)

    assert (body["start"]["date"], body["end"]["date"]) == days


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"start": TEN, "end": "09:00"}, "end is 09:00, which is before the start on the same day"),
        ({"start": TEN, "end": "24:30"}, "end is '24:30', which is not a time of day"),
        ({"start": "2026-11-02", "end": "11:00"}, "start is a date"),
        ({"start": "2026-11-02", "duration": "90 min"}, "duration must be whole days for an all-day event"),
        ({"start": TEN, "end": "11:00", "duration": "1h"}, "duration and end are both given"),
        ({"start": TEN, "duration": "long"}, "duration must be a timedelta"),
        ({"start": TEN, "duration": timedelta(days=3_000_000)}, "ends after the year 9999"),
        ({"start": TEN, "duration": -60}, "end"),
        ({"start": "20261302", "duration": "1h"}, "start is '20261302'; write a date as 2026-11-02"),
        ({"duration": "1h"}, "give start"),
        ({"start": {"dateTime": "soon"}, "duration": "1h"}, "start: 'soon' is not a date-time"),
        ({"start": TEN}, "end"),
    ],
    ids=str,
)
def test_an_end_that_is_not_clear_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        event_body(**{"time_zone": BERLIN, **arguments})
