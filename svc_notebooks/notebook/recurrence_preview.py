"""What a recurrence comes to: its next instances, and the months with those days marked (E-21)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice

import ipywidgets as widgets

from ..core.expansion import Occurrence, occurrences
from ..core.recurrence import Recurrence, Start
from .field import small_button
from .markup import Markup, joined, tag
from .month_picture import month_after, month_pictures
from .offsets import offset_text

SHOWN = 8
_COUNTED = 500
_MONTHS = 2
_DAY = timedelta(days=1)
_MARKED = 2000
"""Instances that are looked at; only rules of hours and minutes have more in two months."""
_LONGEST = 400
"""Days of one instance that are marked; a longer one fills the pictures anyway."""


@dataclass(frozen=True, slots=True)
class Plan:
    """An event with its recurrence, whose times can be worked out. Raises ValueError for lines that are wrong."""

    lines: tuple[str, ...]
    start: Start
    end: Start

    @property
    def is_endless(self) -> bool:
        """Whether a rule goes on for ever."""
        return any(rule.count is None and rule.until is None for rule in Recurrence.parse(self.lines, self.start).rules)

    def instances(self, after: datetime | None = None, before: datetime | None = None) -> Iterator[Occurrence]:
        """Those that overlap the window, or all from the first one on."""
        recurrence = Recurrence.parse(self.lines, self.start)
        return occurrences(recurrence, self.start, self.end, after=after, before=before)


class RecurrencePreview(widgets.VBox):  # type: ignore[misc]
    """The instances, the months, and buttons that go to other months."""

    def __init__(self) -> None:
        self._plan: Plan | None = None
        self._month = date.min
        self._months_on = 0
        self.list, self.months = widgets.HTML(), widgets.HTML()
        self.earlier = small_button("Earlier", "One month back", lambda: self._turn(-1))
        self.later = small_button("Later", "One month on", lambda: self._turn(1))
        self.turn = widgets.HBox([self.earlier, self.later])
        super().__init__([self.months, self.turn, self.list])
        self.add_class("svc-preview")

    def show(self, plan: Plan | None) -> None:
        """Show this plan; None: it cannot be worked out yet, and what stood here goes."""
        begun = _day(plan.start).replace(day=1) if plan else self._month
        if begun != self._month:
            self._month, self._months_on = begun, 0
        self._plan = plan
        self._draw()

    def _turn(self, months: int) -> None:
        self._months_on += months
        self._draw()

    def _draw(self) -> None:
        self.layout.display = None if self._plan else "none"
        if self._plan:
            self.list.value = instance_list(self._plan)
            self.months.value = self._pictures(self._plan)

    def _pictures(self, plan: Plan) -> Markup:
        first = month_after(self._month, self._months_on)
        return month_pictures(first, _MONTHS, marked_days(plan, first, month_after(first, _MONTHS)))


def instance_list(plan: Plan) -> Markup:
    """The next instances, one in a line, and how many there are.

    >>> plan = Plan(("RRULE:FREQ=DAILY;COUNT=2",), date(2026, 11, 2), date(2026, 11, 3))
    >>> instance_list(plan).count("<li>")
    2
    """
    found = list(islice(plan.instances(), SHOWN + 1 if plan.is_endless else _COUNTED + 1))
    lines = [tag("li", _line(one, before)) for one, before in zip(found, [None, *found], strict=False)]
    return joined(tag("p", _count(found, plan.is_endless), role="status"), tag("ol", *lines[:SHOWN]))


def _count(found: Sequence[Occurrence], endless: bool) -> str:
    if endless and len(found) > SHOWN:
        return f"Without end; the first {SHOWN}:"
    if len(found) > _COUNTED:
        return f"More than {_COUNTED} instances; the first {SHOWN}:"
    many = f"{len(found)} instance{'' if len(found) == 1 else 's'}"
    if len(found) <= SHOWN:
        return f"{many}:"
    return f"{many}, the last on {_day(found[-1].start):%a %d %b %Y}; the first {SHOWN}:"


def _line(one: Occurrence, before: Occurrence | None) -> Markup:
    if not isinstance(one.start, datetime) or not isinstance(one.end, datetime):
        return joined(_days(one.start, one.end - _DAY))
    ends = f"{one.end:%H:%M}" if one.end.date() == one.start.date() else f"{one.end:%a %d %b, %H:%M}"
    offset = f" UTC{offset_text(one.start)}"
    changed = before and isinstance(before.start, datetime) and before.start.utcoffset() != one.start.utcoffset()
    shown = tag("strong", offset, title="The clocks have changed since the one before") if changed else offset
    return joined(f"{one.start:%a %d %b %Y, %H:%M} to {ends}", tag("small", shown))


def _days(first: Start, last: Start) -> str:
    return f"{first:%a %d %b %Y}" + (f" to {last:%a %d %b %Y}" if last > first else "")


def marked_days(plan: Plan, first: date, beyond: date) -> set[date]:
    """The days from `first` to before `beyond` on which something takes place, on the wall clock of the event."""
    after, before = _midnight(first), _midnight(beyond)
    found = plan.instances(after - _DAY, before + _DAY)  # whatever the zone is, a day is enough
    return {day for one in islice(found, _MARKED) for day in _covered(one) if first <= day < beyond}


def _covered(one: Occurrence) -> Iterator[date]:
    first, last = _day(one.start), _last_day(one.end)
    yield from (first + n * _DAY for n in range(min((last - first).days, _LONGEST) + 1))


def _last_day(end: Start) -> date:
    """The end is exclusive: midnight belongs to the day before."""
    return _day(end - timedelta(microseconds=1)) if isinstance(end, datetime) else end - _DAY


def _day(moment: Start) -> date:
    return moment.date() if isinstance(moment, datetime) else moment


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
