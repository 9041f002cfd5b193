"""The instances of a recurrence on the leaves of a calendar (E-21).

A month is a table, and stays one wherever it is shown. A day on which something takes place is marked and bold; one
that was cancelled or moved away is struck out; where the clock has changed since the instance before, the new offset
from UTC stands below the day.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, TypeGuard

from ...exchanges.svg import Picture
from ...times import offset_text
from ...widgets.html import Markup, joined, tag
from ...widgets.month_table import month_after, month_name, month_table

if TYPE_CHECKING:
    from pandas import DataFrame

MOST_MONTHS = 24
_SIDE_BY_SIDE = "display: flex; flex-wrap: wrap; gap: 16px 28px; align-items: flex-start"
_DAY = "text-align: center; padding: 3px 6px; vertical-align: top"
_MARK = "font-weight: 700; padding: 1px 4px; border-radius: 4px"
_NOTE = "margin: 6px 8px"


@dataclass(frozen=True, slots=True)
class Day:
    """What is to be said of a day: how often it takes place, whether something left it, and a new UTC offset."""

    times: int = 0
    left: str | None = None
    offset: str | None = None


def recurrence_calendar(instances: DataFrame, *, months: int = 6) -> Picture:
    """The months of these instances, with the days marked on which they take place.

    Args:
        instances: A frame of `preview_recurrence()`, `instances()` or `events()`: its column `start`, and `status` and
            `original_start_time` where it has them.
        months: At most so many (1 to 24), from the month of the first instance on.

    Raises:
        ValueError: The frame has no column `start`, or `months` cannot be meant.

    Interface: the Event resource, recurrence[]; rule E-21.

    >>> svc.recurrence_calendar(svc.preview_recurrence("2026-10-19 09:00", "2026-10-19 10:00", "weekly, 4 times",
    ...                                                time_zone="Europe/Berlin"))
    4 instances from 2026-10-19 to 2026-11-09
      October 2026: 19, 26 (UTC+1)
      November 2026: 2, 9
    """
    if isinstance(months, bool) or not isinstance(months, int) or not 1 <= months <= MOST_MONTHS:
        raise ValueError(f"months is {months!r}; give a whole number from 1 to {MOST_MONTHS}")
    if "start" not in getattr(instances, "columns", ()):
        raise ValueError("instances has no column start; give a frame of preview_recurrence(), instances() or events()")
    days = days_of(instances.to_dict("records"))
    if not days:
        return Picture("no instances", tag("p", "No instances."))
    leaves = [month_after(min(days), n) for n in range(months) if month_after(min(days), n) <= max(days)]
    title = _title(days)
    tables = [month_table(leaf, lambda day: _cell(day, days.get(day))) for leaf in leaves]
    beyond = [day for day in days if day >= month_after(leaves[-1], 1)]
    rest = tag("p", f"More follow after {month_name(leaves[-1])}.", style=_NOTE) if beyond else Markup()
    heading = tag("p", tag("strong", title), style=_NOTE)
    words = "\n".join([title, *(f"  {_said(leaf, days)}" for leaf in leaves)])
    return Picture(words, tag("div", heading, tag("div", *tables, style=_SIDE_BY_SIDE), rest, class_="svc-picture"))


def days_of(rows: Sequence[Mapping[Any, object]]) -> dict[date, Day]:
    """What is to be said of which day, from the records of the frame, in their order."""
    days: dict[date, Day] = {}
    before: str | None = None
    for row in rows:
        start, original = row.get("start"), row.get("original_start_time")
        if _is_time(original) and row.get("status") == "cancelled":
            _leave(days, original, "cancelled")
        elif _is_time(start):
            before = _take(days, start, before)
            if _is_time(original) and original != start:
                _leave(days, original, "moved")
    return days


def _is_time(value: object) -> TypeGuard[datetime]:
    """Whether this is a time that there is; NaT is a datetime that is none."""
    return isinstance(value, datetime) and value == value


def _take(days: dict[date, Day], start: datetime, before: str | None) -> str:
    offset = offset_text(start)
    known = days.get(start.date(), Day())
    changed = offset if before not in (None, offset) else known.offset
    days[start.date()] = Day(known.times + 1, known.left, changed)
    return offset


def _leave(days: dict[date, Day], original: datetime, why: str) -> None:
    known = days.get(original.date(), Day())
    days[original.date()] = Day(known.times, why, known.offset)


def _title(days: Mapping[date, Day]) -> str:
    on = sorted(day for day, one in days.items() if one.times)
    count = sum(one.times for one in days.values())
    if not on:
        return "0 instances"
    return f"{count} instance{'' if count == 1 else 's'} from {on[0]} to {on[-1]}"


def _cell(day: date, said: Day | None) -> Markup:
    if said is None:
        return tag("td", day.day, style=_DAY)
    shown: object = day.day
    if said.times:
        shown = tag("mark", shown, style=_MARK)
    elif said.left:
        shown = tag("s", shown)
    below = tag("small", tag("br"), f"UTC{said.offset}") if said.offset else Markup()
    return tag("td", joined(shown, below), style=_DAY, title=f"{day:%A}: {_words(said)}")


def _words(said: Day) -> str:
    parts = []
    if said.times:
        parts.append("it takes place" if said.times == 1 else f"it takes place {said.times} times")
    if said.left:
        parts.append(f"one is {said.left}" if said.times else said.left)
    if said.offset:
        parts.append(f"the clock has changed to UTC{said.offset}")
    return ", ".join(parts)


def _said(leaf: date, days: Mapping[date, Day]) -> str:
    within = {day: one for day, one in sorted(days.items()) if (day.year, day.month) == (leaf.year, leaf.month)}
    return f"{month_name(leaf)}: {', '.join(_number(day, one) for day, one in within.items()) or 'none'}"


def _number(day: date, one: Day) -> str:
    notes = [f"{one.times} times"] if one.times > 1 else []
    notes += [one.left] if one.left else []
    notes += [f"UTC{one.offset}"] if one.offset else []
    return f"{day.day} ({', '.join(notes)})" if notes else str(day.day)
