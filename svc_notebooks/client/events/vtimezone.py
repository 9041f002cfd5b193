"""Describes the clock changes of a time zone as a VTIMEZONE does (RFC 5545, 3.6.5), by observances and their onsets.

The seconds of the changes are found by looking up the offsets of the zone. Changes on the same weekday of the same
month in each year become a rule, so that a series without an end is right in later years too. Others (the winter time
of Ramadan, the Friday before the last Sunday) are listed one by one, some years beyond the last event.
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

_STEP = timedelta(days=14)
"""No zone changes its clocks and back within a fortnight."""

_RULE_YEARS = 12
"""Years in a row that make a rule. In 12 years a weekday falls on every day of the month that it can."""

_LOOK_AHEAD = timedelta(days=366 * (_RULE_YEARS + 1))
"""Time after the last event, so that a rule is recognized in a calendar of one week too."""

_LATEST = datetime(9900, 1, 1, tzinfo=UTC)
"""From here the look ahead stays within the range of datetime."""


class ZoneOffset(NamedTuple):
    """The offset and the name of a zone at some time."""

    offset: timedelta
    summer: bool
    name: str


@dataclass(frozen=True, slots=True)
class Observance:
    """The offset of a zone after each of these onsets, which are local times with the offset `before`."""

    clock: ZoneOffset
    before: timedelta
    onsets: tuple[datetime, ...]
    rule: str | None = None
    """An RRULE that begins with the only onset."""


def observances(zone: ZoneInfo, first: datetime, last: datetime) -> list[Observance]:
    """Return the observances of a zone from `first` to `last`, and beyond that for changes that follow a rule.

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
    """Return the first second with a different offset."""
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
    """Yield an observance with a rule for the last onsets, if they follow one, and one for the others."""
    candidates = [(day, _same_onsets(onsets, day)) for day in _weekday_positions(onsets[-1])]
    day, ruled = max(candidates, key=lambda candidate: len(candidate[1]))
    if len(ruled) < _RULE_YEARS or onsets[-1].year < last_year - 1:
        yield Observance(clock, before, tuple(onsets))
        return
    if listed := onsets[: -len(ruled)]:
        yield Observance(clock, before, tuple(listed))
    yield Observance(clock, before, ruled[-1:], f"FREQ=YEARLY;BYMONTH={ruled[0].month};BYDAY={day}")


def _weekday_positions(onset: datetime) -> list[str]:
    """Return the positions of a day in its month, such as 2SU for the second Sunday, and -1SU for the last."""
    weekday = WEEKDAYS[onset.weekday()]
    last = [f"-1{weekday}"] if (onset + timedelta(days=7)).month != onset.month else []
    return [*last, f"{(onset.day - 1) // 7 + 1}{weekday}"]


def _same_onsets(onsets: Sequence[datetime], position: str) -> tuple[datetime, ...]:
    """Return the onsets of consecutive years up to the last one on the same day and time, the last one first."""
    last = onsets[-1]
    alike = []
    for ago, onset in enumerate(reversed(onsets)):
        same_day = onset.month == last.month and position in _weekday_positions(onset)
        if not same_day or onset.time() != last.time() or onset.year != last.year - ago:
            break
        alike.append(onset)
    return tuple(alike)
