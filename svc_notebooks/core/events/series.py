"""Moves and splits the recurrence lines of a series, when several of its instances change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice

from ..resources.events import Event
from .event_times import Shift, clock_time, instant, read_time
from .instances import Occurrence, occurrences
from .rrule import WEEKDAYS, Freq, RDate, Recurrence, RecurrenceError, Rule, Start, print_moment, read_line

_COMPARED = 60  # the number of instances that are compared to prove that a moved rule has the moved instances

_MOST_COUNTED = 20_000
_SECOND, _DAY = timedelta(seconds=1), timedelta(days=1)
_DAY_PARTS = ("by_day", "by_month_day", "by_month", "by_week", "by_year_day", "by_position")
_TIME_PARTS = ("by_hour", "by_minute", "by_second")
_BY_PARTS = [
    f"BY{name}" for name in ["SECOND", "MINUTE", "HOUR", "DAY", "MONTHDAY", "YEARDAY", "WEEKNO", "MONTH", "SETPOS"]
]
_EVERY_MONTH = 28  # the last day that every month has
_NOT_MOVED = "The rule of this series cannot be moved in this way. Move only this event, or give another recurrence."


@dataclass(frozen=True, slots=True)
class Series:
    """The recurrence lines of a recurring event, with the start and the end of its first instance."""

    lines: tuple[str, ...]
    start: Start
    end: Start

    @classmethod
    def of(cls, event: Event) -> Series:
        """Return the recurrence and the times of an event."""
        return cls(tuple(event.get("recurrence") or ()), read_time(event["start"]), read_time(event["end"]))

    @property
    def is_endless(self) -> bool:
        """True if a rule has neither COUNT nor UNTIL, so that the event recurs forever. Raises ValueError."""
        return Recurrence.parse(self.lines, self.start).is_endless

    def instances(self, after: datetime | None = None, before: datetime | None = None) -> Iterator[Occurrence]:
        """Return the instances that end after `after` and start before `before`. Raises ValueError for a bad line."""
        recurrence = Recurrence.parse(self.lines, self.start)
        return occurrences(recurrence, self.start, self.end, after=after, before=before)

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
                lambda rule, line: line if self._ends_before(rule, split) else with_parts(line, parts),
                lambda moment: moment < split,
                Shift(split, split),
            )
        ]

    def since(self, split: Start, first: Start | None = None, *, exact: bool = True) -> list[str]:
        """Return the lines for the instances from `split` on, of which the first one then begins at `first`.

        A rule that names days or times which cannot be moved raises ValueError. If not `exact`, it follows `first`
        instead, without days or times of its own.

        >>> from datetime import date
        >>> weekly = Series(("RRULE:FREQ=WEEKLY;BYDAY=MO;COUNT=9",), date(2026, 11, 2), date(2026, 11, 3))
        >>> weekly.since(date(2026, 11, 16), date(2026, 11, 17))
        ['RRULE:FREQ=WEEKLY;BYDAY=TU;COUNT=7']
        """
        shift = Shift(split, split if first is None else first)

        def rest(rule: Rule, line: str) -> str | None:
            if split > self.start and self._ends_before(rule, split):
                return None
            parts = _moved_parts(rule, shift, exact=exact)
            if rule.count is not None and split > self.start:
                parts["COUNT"] = str(rule.count - self._count_before(rule, split))
            if rule.until is not None and shift.moves:
                is_day = not isinstance(rule.until, datetime)  # a date also ends the rule of a timed event
                parts["UNTIL"] = print_moment(rule.until + shift.days * _DAY if is_day else shift.move(rule.until))
            return with_parts(line, parts)

        lines = [*self._lines(rest, lambda moment: moment >= split, shift)]
        if shift.moves and exact:
            self._check(lines, shift)
        return lines

    def without(self, lines: Sequence[str], moments: Sequence[Start]) -> list[str]:
        """Return lines with an EXDATE for each of the moments."""
        return [*lines, *_date_lines("EXDATE", moments)]

    def _lines(
        self, change: Callable[[Rule, str], str | None], keeps: Callable[[Start], bool], shift: Shift
    ) -> Iterator[str]:
        """Yield the lines with changed rules, and only with the dates that `keeps` accepts, moved."""
        for line in self.lines:
            name, values = read_line(line, self.start)
            if name in ("RRULE", "EXRULE"):
                if (changed := change(values[0], line)) is not None:
                    yield changed
                continue
            kept = [value for value in values if keeps(value.start if isinstance(value, RDate) else value)]
            if len(kept) == len(values) and not shift.moves:
                yield line
            else:
                yield from _date_lines(name, [_moved_date(value, shift) for value in kept])

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

    def _check(self, lines: Sequence[str], shift: Shift) -> None:
        """Raise ValueError unless the first instances of `lines` are on the days of the moved instances."""
        moved = Series(tuple(lines), shift.after, shift.after + _DAY)
        expected = [clock_time(shift.move(moment)).date() for moment in self._starts(shift.before)]
        try:
            days = [clock_time(moment).date() for moment in moved._starts(shift.after)]
        except RecurrenceError:  # a day such as 32
            days = []
        if days != expected:
            raise ValueError(_NOT_MOVED)

    def _starts(self, since: Start) -> list[Start]:
        starts = (instance.start for instance in self.instances(instant(since, UTC) - _DAY))
        return [*islice((start for start in starts if start >= since), _COMPARED)]


def _moved_parts(rule: Rule, shift: Shift, *, exact: bool) -> dict[str, str | None]:
    """Return the changed parts of a moved rule. Raises ValueError if its times of day cannot be moved."""
    changes_time = not isinstance(shift.after, datetime) or clock_time(shift.before).time() != shift.after.time()
    if changes_time and any(getattr(rule, part) for part in _TIME_PARTS):
        if exact:
            raise ValueError(_NOT_MOVED)
        return dict.fromkeys(_BY_PARTS)
    named, days = [part for part in _DAY_PARTS if getattr(rule, part)], shift.days
    if days and rule.freq is Freq.WEEKLY and named == ["by_day"]:
        return {"BYDAY": ",".join(WEEKDAYS[day] for day in sorted((day + days) % 7 for _, day in rule.by_day))}
    if days and rule.freq is Freq.MONTHLY and named == ["by_month_day"]:
        moved = [day + days for day in rule.by_month_day]
        if exact or all(0 < day <= _EVERY_MONTH for day in moved):
            return {"BYMONTHDAY": ",".join(map(str, moved))}
    return {} if exact or not days else dict.fromkeys(_BY_PARTS)


def _moved_date(value: Start | RDate, shift: Shift) -> Start | RDate:
    return RDate(shift.move(value.start), value.duration) if isinstance(value, RDate) else shift.move(value)


def with_parts(line: str, parts: dict[str, str | None]) -> str:
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
