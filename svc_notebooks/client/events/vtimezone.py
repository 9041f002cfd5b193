"""Finds the clock changes of a time zone for a VTIMEZONE component (RFC 5545, 3.6.5).

An observance is a UTC offset with the local times (onsets) at which the offset begins. A binary search finds the second
of each clock change. Changes on the same weekday of the same month in every year become a rule, for series without an
end. Other changes, such as during Ramadan, are listed until some years after the last event.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple
from zoneinfo import ZoneInfo

from ...core.events.rrule import WEEKDAYS

_STEP = timedelta(days=3)
"""The step of the search. No zone changes its clocks forward and back within three days."""

_RULE_YEARS = 12
"""The number of consecutive years that prove a rule, such as the last Sunday of a month."""

_LOOK_AHEAD = timedelta(days=366 * (_RULE_YEARS + 1))
"""The search period after the last event, long enough to find rules for short calendars too."""

_LATEST = datetime(9900, 1, 1, tzinfo=UTC)
"""The latest time to which the look-ahead period is added, to stay in the range of datetime."""


class ZoneOffset(NamedTuple):
    """The UTC offset and abbreviation (such as CEST) of a zone at some time. `summer` is True in summer time."""

    offset: timedelta
    summer: bool
    name: str


@dataclass(frozen=True, slots=True)
class Observance:
    """A UTC offset of a zone, and the onsets at which the offset begins.

    `clock` is the offset after an onset, and `before` the UTC offset before. Onsets are local times with the offset
    `before`.
    """

    clock: ZoneOffset
    before: timedelta
    onsets: tuple[datetime, ...]
    rule: str | None = None
    """The RRULE that generates further onsets from the only onset, or None."""


def observances(zone: ZoneInfo, first: datetime, last: datetime) -> list[Observance]:
    """Return the observances of a zone from `first` until some years after `last`. A rule may have no end.

    >>> day = datetime(2026, 11, 2, tzinfo=UTC)
    >>> berlin = observances(ZoneInfo("Europe/Berlin"), day, day)
    >>> [(one.clock.name, str(one.onsets[0]), one.rule) for one in berlin][2]
    ('CEST', '2027-03-28 02:00:00', 'FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU')
    """
    first, end = first.astimezone(UTC), min(last.astimezone(UTC), _LATEST) + _LOOK_AHEAD
    begin = _offset_at(zone, first)
    observed = [Observance(begin, begin.offset, (_wall_time(first, begin.offset),))]
    changes = sorted(_changes(zone, first, end), key=attrgetter("clock", "before"))
    for (clock, before), group in groupby(changes, attrgetter("clock", "before")):
        observed += _as_observances(clock, before, [change.onset for change in group], end.year)
    return observed


class _Change(NamedTuple):
    onset: datetime
    before: timedelta
    clock: ZoneOffset


def _changes(zone: ZoneInfo, first: datetime, last: datetime) -> Iterator[_Change]:
    while first < last:
        before = _offset_at(zone, first)
        if before != _offset_at(zone, first + _STEP):
            instant = _instant_of_change(zone, first, first + _STEP)
            yield _Change(_wall_time(instant, before.offset), before.offset, _offset_at(zone, instant))
        first += _STEP


def _instant_of_change(zone: ZoneInfo, before: datetime, after: datetime) -> datetime:
    """Return the first second after `before` at which the zone's UTC offset has changed."""
    while after - before > timedelta(seconds=1):
        middle = before + timedelta(seconds=(after - before) // timedelta(seconds=2))
        if _offset_at(zone, middle) == _offset_at(zone, before):
            before = middle
        else:
            after = middle
    return after


def _offset_at(zone: ZoneInfo, instant: datetime) -> ZoneOffset:
    shown = instant.astimezone(zone)
    return ZoneOffset(
        shown.utcoffset() or timedelta(), (shown.dst() or timedelta()) > timedelta(), shown.tzname() or ""
    )


def _wall_time(instant: datetime, offset: timedelta) -> datetime:
    return (instant + offset).replace(tzinfo=None)


def _as_observances(
    clock: ZoneOffset, before: timedelta, onsets: list[datetime], last_year: int
) -> Iterator[Observance]:
    """Yield the observances for the onsets of one UTC offset, with a rule for the last onsets if possible."""
    candidates = [(day, _same_onsets(onsets, day)) for day in _weekday_positions(onsets[-1])]
    day, ruled = max(candidates, key=lambda candidate: len(candidate[1]))
    if len(ruled) < _RULE_YEARS or onsets[-1].year < last_year - 1:
        yield Observance(clock, before, tuple(onsets))
        return
    if listed := onsets[: -len(ruled)]:
        yield Observance(clock, before, tuple(listed))
    yield Observance(clock, before, ruled[-1:], f"FREQ=YEARLY;BYMONTH={ruled[0].month};BYDAY={day}")


def _weekday_positions(onset: datetime) -> list[str]:
    """Return a day's positions in its month as BYDAY values, such as 2SU (second Sunday) and -1SU (last Sunday)."""
    weekday = WEEKDAYS[onset.weekday()]
    last = [f"-1{weekday}"] if (onset + timedelta(days=7)).month != onset.month else []
    return [*last, f"{(onset.day - 1) // 7 + 1}{weekday}"]


def _same_onsets(onsets: Sequence[datetime], position: str) -> tuple[datetime, ...]:
    """Return the onsets of consecutive years, latest first, with the last onset's month, position and time of day."""
    last = onsets[-1]
    alike = []
    for ago, onset in enumerate(reversed(onsets)):
        same_day = onset.month == last.month and position in _weekday_positions(onset)
        if not same_day or onset.time() != last.time() or onset.year != last.year - ago:
            break
        alike.append(onset)
    return tuple(alike)
