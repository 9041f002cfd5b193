"""Converts a duration, a Period and a time of day to the end of an event."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, time, timedelta
from typing import Any

from ...core.durations import parse_duration
from ...core.events.rrule import Start
from ...core.events.times import TimeError, read_time
from ...core.time_zones import zone
from ..times import in_its_zone, python_time

DAY = timedelta(days=1)
_TIME_OF_DAY = re.compile(r"\d{1,2}:\d{2}(:\d{2})?", re.ASCII)


def needs_start(arguments: Mapping[str, Any]) -> bool:
    """Return whether the end in these arguments of `create_event` is relative to the start.

    >>> needs_start({"end": "11:00"}), needs_start({"duration": "1h"}), needs_start({"end": "2026-11-02 11:00"})
    (True, True, False)
    """
    end = arguments.get("end")
    return arguments.get("duration") is not None or _is_length(end) or _time_of_day(end) is not None


def without_periods(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments with a date or a time for each Period. A Period as start also determines a missing end."""
    times = dict(arguments)
    if _is_period(start := times.get("start")):
        times["start"] = _period_start(start)
        if times.get("end") is None and times.get("duration") is None:
            times["end"] = start
    end: Any = times.get("end")
    if _is_period(end):
        times["end"] = _period_start(end + 1)
    return times


def absolute_times(arguments: Mapping[str, Any], time_zone: str | None, end_time_zone: str | None) -> dict[str, Any]:
    """Return arguments of `create_event` with a date, a time or a dict as start and end, and no `duration`.

    A Period as start is the first time of the period, and as end the time at which the period ends. A start that is a
    Period also determines a missing end. Raises TypeError or ValueError, with the argument's name in the message.

    >>> absolute_times({"start": "2026-11-02", "duration": "2 days"}, None, None)
    {'start': '2026-11-02', 'end': datetime.date(2026, 11, 4)}
    """
    times = without_periods(arguments)
    end, length = times.get("end"), times.pop("duration", None)
    if length is not None and end is not None:
        raise ValueError("duration and end are both given; leave out one of them")
    if length is not None:
        times["end"] = _end_after("duration", length, times.get("start"), time_zone)
    elif _is_length(end):
        times["end"] = _end_after("end", end, times.get("start"), time_zone)
    elif (clock := _time_of_day(end)) is not None:
        times["end"] = _end_on_same_day(clock, times.get("start"), time_zone, end_time_zone)
    return times


def _is_length(value: Any) -> bool:
    return isinstance(value, timedelta) or type(value).__name__ == "timedelta64"


def _is_period(value: Any) -> bool:
    return type(value).__name__ == "Period"


def _period_start(period: Any) -> Start:
    """Return the first time of a pandas Period, which is a date if the period has a length of one day or more."""
    first: datetime = period.start_time.to_pydatetime()
    is_in_days = first.time() == time() and (period + 1).start_time - period.start_time >= DAY
    return first.date() if is_in_days else first


def _time_of_day(value: Any) -> time | None:
    """Return a time of day from a `datetime.time` or a text such as "11:00", or None for another value."""
    if isinstance(value, time):
        return value
    if not isinstance(value, str) or not _TIME_OF_DAY.fullmatch(value.strip()):
        return None
    try:
        return time.fromisoformat(value.strip().rjust(5, "0") if value.count(":") == 1 else value.strip().rjust(8, "0"))
    except ValueError:
        raise ValueError(f"end is {value!r}, which is not a time of day such as 11:00") from None


def _end_after(argument: str, length: Any, start: Any, time_zone: str | None) -> Start:
    span, begin = parse_duration(length, argument), _begin(argument, start, time_zone)
    if not isinstance(begin, datetime) and span % DAY:
        raise ValueError(f"{argument} must be whole days for an all-day event, not {span}")
    try:
        if not isinstance(begin, datetime) or begin.tzinfo is None:
            return begin + span
        return (begin.astimezone(UTC) + span).astimezone(begin.tzinfo)  # despite clock changes
    except OverflowError:
        raise ValueError(f"{argument} is {span}, which ends after the year 9999") from None


def _end_on_same_day(clock: time, start: Any, time_zone: str | None, end_time_zone: str | None) -> datetime:
    """Return a time of day on the day of the start, in the time zone of the end. Raises ValueError."""
    begin = _begin("end", start, time_zone)
    if not isinstance(begin, datetime):
        raise ValueError(f"end is the time {clock:%H:%M}, but start is a date; give a time in start, or a date in end")
    if begin.tzinfo is not None and end_time_zone:
        begin = begin.astimezone(zone(end_time_zone))
    end = datetime.combine(begin, clock, clock.tzinfo or begin.tzinfo)
    if end < begin:
        raise ValueError(f"end is {clock:%H:%M}, which is before the start on the same day; give the date in end too")
    return end


def _begin(argument: str, start: Any, time_zone: str | None) -> Start:
    if start is None:
        raise ValueError(f"{argument} is relative to the start; give start")
    if not isinstance(start, dict):
        return in_its_zone(python_time("start", start), time_zone)
    try:
        return read_time(start)
    except TimeError as error:
        raise ValueError(f"start: {error}") from None
