"""How the clocks of a zone change, said as RFC 5545 wants it in a VTIMEZONE (3.6.5): observances and their onsets.

A zone is asked for its offset until the seconds of its changes are found. Changes that come once a year on the same
weekday of the same month become a rule, so that a series without an end is right in later years too; others (the
winter time of Ramadan, the Friday before the last Sunday) are listed one by one, some years beyond what is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby, takewhile
from operator import attrgetter
from typing import NamedTuple
from zoneinfo import ZoneInfo

from ...core.events.rrule import WEEKDAYS

_STEP = timedelta(days=14)
"""No zone changes its clocks and back within a fortnight."""

_RULE_YEARS = 12
"""So many years in a row make a rule: within them a weekday comes on every day of the month that it can."""

_LOOK_AHEAD = timedelta(days=366 * (_RULE_YEARS + 1))
"""Beyond the last event, so that a rule shows in a calendar of one week too."""

_LATEST = datetime(9900, 1, 1, tzinfo=UTC)
"""Whoever looks ahead from here stays within the years that there are."""


class ZoneOffset(NamedTuple):
    """What a zone shows at some time."""

    offset: timedelta
    summer: bool
    name: str


@dataclass(frozen=True, slots=True)
class Observance:
    """What the clock shows from each of these onsets on, which are times on the clock as it was `before`."""

    clock: ZoneOffset
    before: timedelta
    onsets: tuple[datetime, ...]
    rule: str | None = None
    """The RRULE that begins with the only onset."""


def observances(zone: ZoneInfo, first: datetime, last: datetime) -> list[Observance]:
    """All that this zone shows from `first` to `last`, and, where changes have a rule, ever after.

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
    """The first second that the clock shows differently."""
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
    """As a rule what is one, the rest listed."""
    day, ruled = max(
        (_same_onsets(onsets, day) for day in _weekday_positions(onsets[-1])), key=lambda candidate: len(candidate[1])
    )
    if len(ruled) < _RULE_YEARS or onsets[-1].year < last_year - 1:
        yield Observance(clock, before, tuple(onsets))
        return
    if listed := onsets[: -len(ruled)]:
        yield Observance(clock, before, tuple(listed))
    yield Observance(clock, before, ruled[-1:], f"FREQ=YEARLY;BYMONTH={ruled[0].month};BYDAY={day}")


def _weekday_positions(onset: datetime) -> list[str]:
    """What day of its month this is: the second Sunday, perhaps the last one too."""
    weekday = WEEKDAYS[onset.weekday()]
    last = [f"-1{weekday}"] if (onset + timedelta(days=7)).month != onset.month else []
    return [*last, f"{(onset.day - 1) // 7 + 1}{weekday}"]


def _same_onsets(onsets: Sequence[datetime], position: str) -> tuple[str, tuple[datetime, ...]]:
    """The years up to the last one in which the change came on this day and at this time, the last one first."""
    last = onsets[-1]

    def is_alike(entry: tuple[int, datetime]) -> bool:
        ago, onset = entry
        alike = onset.month == last.month and onset.time() == last.time() and position in _weekday_positions(onset)
        return alike and onset.year == last.year - ago

    return position, tuple(onset for _, onset in takewhile(is_alike, enumerate(reversed(onsets))))
