"""Shifts and splits the recurrence lines of a series, when a person changes several instances."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice

from ....core.events.instances import duration, occurrences
from ....core.events.rfc5545_times import print_moment
from ....core.events.rrule import WEEKDAYS, Freq, RDate, Recurrence, Rule, Start, read_line
from ....core.events.times import instant

_COMPARED = 60
"""The number of instances that are compared to prove that a shifted rule has the shifted instances."""

_MOST_COUNTED = 20_000
_SECOND, _DAY = timedelta(seconds=1), timedelta(days=1)
_DAY_PARTS = ("by_day", "by_month_day", "by_month", "by_week", "by_year_day", "by_position")
_TIME_PARTS = ("by_hour", "by_minute", "by_second")
_NOT_SHIFTED = "The rule of this series cannot be moved in this way. Use Edit, or move only this event."


@dataclass(frozen=True, slots=True)
class Series:
    """The recurrence lines of a recurring event, with the start and the end of its first instance."""

    lines: tuple[str, ...]
    start: Start
    end: Start

    def until(self, split: Start) -> list[str]:
        """Return the lines for the instances before `split`.

        >>> from datetime import date
        >>> first = Series(("RRULE:FREQ=DAILY;COUNT=9",), date(2026, 11, 2), date(2026, 11, 3))
        >>> first.until(date(2026, 11, 5))
        ['RRULE:FREQ=DAILY;UNTIL=20261104']
        """
        last = split - (_SECOND if isinstance(split, datetime) else _DAY)
        parts = {"COUNT": None, "UNTIL": print_moment(last)}
        return [
            *self._lines(
                lambda rule, line: line if self._ends_before(rule, split) else _with(line, parts),
                lambda moment: moment < split,
                timedelta(),
            )
        ]

    def since(self, split: Start, shift: timedelta = timedelta()) -> list[str]:
        """Return the lines for the instances from `split` on, shifted by a difference in clock time.

        Raises ValueError if a rule names days or times that cannot be shifted.

        >>> from datetime import date
        >>> weekly = Series(("RRULE:FREQ=WEEKLY;BYDAY=MO;COUNT=9",), date(2026, 11, 2), date(2026, 11, 3))
        >>> weekly.since(date(2026, 11, 16), timedelta(days=1))
        ['RRULE:FREQ=WEEKLY;BYDAY=TU;COUNT=7']
        """

        def rest(rule: Rule, line: str) -> str:
            parts = _shifted_parts(rule, self._days(shift), changes_time=bool(shift % _DAY))
            if rule.count is not None and split > self.start:
                parts["COUNT"] = str(rule.count - self._count_before(rule, split))
            if rule.until is not None and shift:
                parts["UNTIL"] = print_moment(self.shifted(rule.until, shift))
            return _with(line, parts)

        lines = [*self._lines(rest, lambda moment: moment >= split, shift)]
        if shift:
            self._check(lines, split, shift)
        return lines

    def without(self, lines: Sequence[str], moments: Sequence[Start], shift: timedelta = timedelta()) -> list[str]:
        """Return lines with an EXDATE for each of the shifted moments."""
        return [*lines, *_date_lines("EXDATE", [self.shifted(moment, shift) for moment in moments])]

    def shifted(self, moment: Start, shift: timedelta) -> Start:
        """Shift a time in the clock of the series."""
        if not isinstance(moment, datetime):
            return moment + timedelta(days=self._days(shift))
        zone = self.start.tzinfo if isinstance(self.start, datetime) else UTC
        clock = moment.astimezone(zone).replace(tzinfo=None) + shift
        return clock.replace(tzinfo=zone).astimezone(UTC).astimezone(zone)

    def _days(self, shift: timedelta) -> int:
        """Return by how many days a shift of the start moves its day."""
        clock = _clock(self.start)
        return ((clock + shift).date() - clock.date()).days

    def _lines(
        self, change: Callable[[Rule, str], str], keeps: Callable[[Start], bool], shift: timedelta
    ) -> Iterator[str]:
        """Yield the lines with changed rules, and only with the dates that `keeps` accepts, shifted."""
        for line in self.lines:
            name, values = read_line(line, self.start)
            if name in ("RRULE", "EXRULE"):
                yield change(values[0], line)
                continue
            kept = [value for value in values if keeps(value.start if isinstance(value, RDate) else value)]
            if len(kept) == len(values) and not shift:
                yield line
            else:
                yield from _date_lines(name, [self._shifted_date(value, shift) for value in kept])

    def _shifted_date(self, value: Start | RDate, shift: timedelta) -> Start | RDate:
        if isinstance(value, RDate):
            return RDate(self.shifted(value.start, shift), value.duration)
        return self.shifted(value, shift)

    def _ends_before(self, rule: Rule, split: Start) -> bool:
        until = rule.until
        if until is None:
            return rule.count is not None and self._count_before(rule, split) >= rule.count
        if isinstance(until, datetime) != isinstance(split, datetime):
            return until.toordinal() < split.toordinal()
        return until < split

    def _count_before(self, rule: Rule, split: Start) -> int:
        """Return the number of instances of a rule before `split`. Raises ValueError if there are too many to count."""
        count = 0
        for occurrence in occurrences(Recurrence(rules=(rule,)), self.start, self.end):
            if occurrence.start >= split:
                return count
            count += 1
            if count > _MOST_COUNTED:
                raise ValueError(f"The series has more than {_MOST_COUNTED:,} instances before this one. Use Edit.")
        return count

    def _check(self, lines: Sequence[str], split: Start, shift: timedelta) -> None:
        """Raise ValueError unless the first instances of `lines` are on the days of the shifted instances."""
        start = self.shifted(split, shift)
        length = duration(self.start, self.end)
        shifted = Series(tuple(lines), start, start + length)
        expected = [(_clock(moment) + shift).date() for moment in self._starts(split)]
        if [_clock(moment).date() for moment in shifted._starts(start)] != expected:
            raise ValueError(_NOT_SHIFTED)

    def _starts(self, since: Start) -> list[Start]:
        recurrence = Recurrence.parse(self.lines, self.start)
        after = instant(since, UTC) - _DAY
        starts = (each.start for each in occurrences(recurrence, self.start, self.end, after=after))
        return [*islice((start for start in starts if start >= since), _COMPARED)]


def _shifted_parts(rule: Rule, days: int, *, changes_time: bool) -> dict[str, str | None]:
    """Return the changed parts of a shifted rule. Raises ValueError if its parts cannot be shifted."""
    if changes_time and any(getattr(rule, part) for part in _TIME_PARTS):
        raise ValueError(_NOT_SHIFTED)
    named = [part for part in _DAY_PARTS if getattr(rule, part)]
    if rule.freq is Freq.WEEKLY and named == ["by_day"]:
        moved = sorted((day + days) % 7 for _, day in rule.by_day)
        return {"BYDAY": ",".join(WEEKDAYS[day] for day in moved)} if days else {}
    if rule.freq is Freq.MONTHLY and named == ["by_month_day"]:
        return {"BYMONTHDAY": ",".join(str(day + days) for day in rule.by_month_day)} if days else {}
    return {}


def _with(line: str, parts: dict[str, str | None]) -> str:
    """Return a rule line with other values of some parts. None removes a part."""
    name, _, text = line.partition(":")
    old = dict(part.upper().split("=", 1) for part in text.split(";"))
    changed = {**old, **parts}
    return f"{name}:" + ";".join(f"{key}={value}" for key, value in changed.items() if value is not None)


def _date_lines(name: str, values: Sequence[Start | RDate]) -> Iterator[str]:
    periods = [value for value in values if isinstance(value, RDate) and value.duration]
    moments = [value.start if isinstance(value, RDate) else value for value in values if value not in periods]
    if moments:
        is_date = not isinstance(moments[0], datetime)
        yield f"{name}{';VALUE=DATE' if is_date else ''}:{','.join(map(print_moment, moments))}"
    if periods:
        texts = [
            f"{print_moment(period.start)}/{print_moment(period.start + (period.duration or _DAY))}"
            for period in periods
        ]
        yield f"{name};VALUE=PERIOD:{','.join(texts)}"


def _clock(moment: Start) -> datetime:
    if isinstance(moment, datetime):
        return moment.replace(tzinfo=None)
    return datetime(moment.year, moment.month, moment.day)  # noqa: DTZ001  only for differences
