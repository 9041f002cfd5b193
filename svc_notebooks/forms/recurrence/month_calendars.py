"""Draws months as HTML tables, and the instances of a recurrence as month calendars (E-21)."""

from __future__ import annotations

import calendar
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeGuard

import ipywidgets as widgets

from ...core.events.instances import Occurrence
from ...core.events.rrule import Start
from ...core.events.series import Series
from ...notebook.events.event_times import offset_text
from ...notebook.exchanges.charts import Picture
from ...notebook.html import Markup, join_html, tag
from ..widgets import ui

if TYPE_CHECKING:
    from pandas import DataFrame


WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


@dataclass(slots=True)
class DayMarks:
    """The information that a month calendar shows for a day.

    `times` is the number of instances. `left_reason` is "cancelled" or "moved" if an instance was removed. `offset` is
    the UTC offset if the offset has changed since the previous instance.
    """

    times: int = 0
    left_reason: str | None = None
    offset: str | None = None


def month_table(month: date, days: Mapping[date, DayMarks], **attributes: str) -> Markup:
    """Return an HTML table of the month of a day. The days with marks are highlighted and have titles.

    >>> month_table(date(2026, 11, 1), {date(2026, 11, 2): DayMarks(1)}).count("<mark")
    1
    """
    head = tag("tr", *(tag("th", name[:2], scope="col", title=name) for name in WEEKDAYS))
    weeks = calendar.Calendar().monthdayscalendar(month.year, month.month)
    cells = [[month.replace(day=day) if day else None for day in week] for week in weeks]
    rows = [tag("tr", *(_cell(day, days.get(day)) if day else tag("td") for day in week)) for week in cells]
    caption = tag("caption", month_name(month))
    return tag("table", caption, tag("thead", head), tag("tbody", *rows), **attributes)


def month_name(month: date) -> str:
    """Return the month and the year of a day as text.

    >>> month_name(date(2026, 11, 30))
    'November 2026'
    """
    return f"{month:%B} {month.year}"


def month_after(day: date, months: int) -> date:
    """Return the first day of the month that is `months` months after `day` (before, if negative), in years 1 to 9999.

    >>> month_after(date(2026, 11, 30), 3)
    datetime.date(2027, 2, 1)
    """
    year, number = divmod(min(max(day.year * 12 + day.month - 1 + months, _FIRST), _LAST), 12)
    return date(year, number + 1, 1)


_FIRST, _LAST = date.min.year * 12, date.max.year * 12 + 11


SHOWN = 8
_COUNTED = 500
_MONTHS = 2


class RecurrencePreview(widgets.VBox):  # type: ignore[misc]
    """A list of the next instances, two month tables, and buttons that show earlier and later months."""

    def __init__(self) -> None:
        self._series: Series | None = None
        self._start_day = self._month = date.min
        self.list, self.months = widgets.HTML(), widgets.HTML()
        self.earlier = ui.small_button("Earlier", "Previous months", lambda: self._turn(-1))
        self.later = ui.small_button("Later", "Next months", lambda: self._turn(1))
        self.turn = widgets.HBox([self.earlier, self.later])
        super().__init__([self.months, self.turn, self.list])
        self.add_class("svc-preview")
        ui.set_visible(self, False)

    def show(self, series: Series | None) -> None:
        """Show the instances of a series. None hides the preview."""
        if series and day_of(series.start) != self._start_day:
            self._start_day = self._month = day_of(series.start)
        self._series = series
        ui.set_visible(self, series is not None)
        if series:
            self.list.value = instance_list(series)
            self._turn(0)

    def _turn(self, months: int) -> None:
        self._month = month_after(self._month, months)
        if self._series:
            days = event_days(self._series, self._month, month_after(self._month, _MONTHS))
            marks = dict.fromkeys(days, DayMarks(1))
            shown = [month_after(self._month, n) for n in range(_MONTHS)]
            tables = [month_table(month, marks, class_="svc-month") for month in shown]
            self.months.value = tag("div", *tables, class_="svc-months")


def instance_list(series: Series) -> Markup:
    """Return HTML with the number of instances and a list of the first eight instances.

    >>> series = Series(("RRULE:FREQ=DAILY;COUNT=2",), date(2026, 11, 2), date(2026, 11, 3))
    >>> instance_list(series).count("<li>")
    2
    """
    instances = list(islice(series.instances(), SHOWN + 1 if series.is_endless else _COUNTED + 1))
    lines = [
        tag("li", _instance_text(instance, before))
        for instance, before in zip(instances, [None, *instances], strict=False)
    ]
    return join_html(tag("p", _count_text(instances, series.is_endless), role="status"), tag("ol", *lines[:SHOWN]))


def _count_text(instances: Sequence[Occurrence], endless: bool) -> str:
    if endless and len(instances) > SHOWN:
        return f"No end; the first {SHOWN}:"
    if len(instances) > _COUNTED:
        return f"More than {_COUNTED} instances; the first {SHOWN}:"
    many = f"{len(instances)} instance{'' if len(instances) == 1 else 's'}"
    if len(instances) <= SHOWN:
        return f"{many}:"
    return f"{many}, the last on {day_of(instances[-1].start):%a %d %b %Y}; the first {SHOWN}:"


def _instance_text(instance: Occurrence, before: Occurrence | None) -> Markup:
    if not isinstance(instance.start, datetime) or not isinstance(instance.end, datetime):
        last = instance.end - DAY
        return join_html(f"{instance.start:%a %d %b %Y}" + (f" to {last:%a %d %b %Y}" if last > instance.start else ""))
    ends = (
        f"{instance.end:%H:%M}" if instance.end.date() == instance.start.date() else f"{instance.end:%a %d %b, %H:%M}"
    )
    offset = f" UTC{offset_text(instance.start)}"
    changed = before and isinstance(before.start, datetime) and before.start.utcoffset() != instance.start.utcoffset()
    title = "The offset from UTC has changed since the previous instance"
    shown = tag("strong", offset, title=title) if changed else offset
    return join_html(f"{instance.start:%a %d %b %Y, %H:%M} to {ends}", tag("small", shown))


MOST_MONTHS = 24
_MONTHS_STYLE = "display: flex; flex-wrap: wrap; gap: 16px 28px; align-items: flex-start"
_DAY_STYLE = "text-align: center; padding: 3px 6px; vertical-align: top"
_MARK_STYLE = "font-weight: 700; padding: 1px 4px; border-radius: 4px"
_NOTE_STYLE = "margin: 6px 8px"


def recurrence_calendar(instances: DataFrame, *, months: int = 6) -> Picture:
    """Draw event instances as month calendars, in which the days with an instance are marked.

    Args:
        instances: A DataFrame from `preview_recurrence()`, `instances()` or `events(single_events=True)`. The column
            `start` is required. The columns `status` and `original_start_time` are used if they exist.
        months: The maximum number of months (1 to 24). The first month is the month of the first instance.

    Raises:
        ValueError: `instances` has no column `start` or a recurring event as one row, or `months` is not a whole number
            from 1 to 24.

    See tests/rules.csv (E-12, E-21).

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
    if any(isinstance(lines, list) and lines for lines in instances.get("recurrence", ())):
        raise ValueError(
            "instances has a recurring event as one row; give instances(event) or events(single_events=True, limit=...)"
        )
    days = days_of(instances.to_dict("records"))
    if not days:
        return Picture("no instances", tag("p", "No instances."))
    calendar_months = [month_after(min(days), n) for n in range(months) if month_after(min(days), n) <= max(days)]
    title = _title(days)
    tables = [month_table(month, days) for month in calendar_months]
    beyond = [day for day in days if day >= month_after(calendar_months[-1], 1)]
    rest = tag("p", f"More follow after {month_name(calendar_months[-1])}.", style=_NOTE_STYLE) if beyond else Markup()
    heading = tag("p", tag("strong", title), style=_NOTE_STYLE)
    words = "\n".join([title, *(f"  {_month_text(calendar_month, days)}" for calendar_month in calendar_months)])
    return Picture(words, tag("div", heading, tag("div", *tables, style=_MONTHS_STYLE), rest, class_="svc-picture"))


def days_of(rows: Sequence[Mapping[Any, object]]) -> dict[date, DayMarks]:
    """Return the marks of each day for the records of an instance DataFrame."""
    days: defaultdict[date, DayMarks] = defaultdict(DayMarks)
    before: str | None = None
    for row in rows:
        start, original = row.get("start"), row.get("original_start_time")
        if _is_time(original) and row.get("status") == "cancelled":
            days[original.date()].left_reason = "cancelled"
        elif _is_time(start):
            marks, offset = days[start.date()], offset_text(start)
            marks.times += 1
            if before not in (None, offset):
                marks.offset = offset
            before = offset
            if _is_time(original) and original != start:
                days[original.date()].left_reason = "moved"
    return days


def _is_time(value: object) -> TypeGuard[datetime]:
    """Return whether a value is a datetime other than NaT, which is a datetime that is not equal to itself."""
    return isinstance(value, datetime) and value == value


def _title(days: Mapping[date, DayMarks]) -> str:
    on = sorted(day for day, marks in days.items() if marks.times)
    count = sum(marks.times for marks in days.values())
    if not on:
        return "0 instances"
    return f"{count} instance{'' if count == 1 else 's'} from {on[0]} to {on[-1]}"


def _cell(day: date, marks: DayMarks | None) -> Markup:
    if marks is None:
        return tag("td", day.day, style=_DAY_STYLE)
    shown: object = day.day
    if marks.times:
        shown = tag("mark", shown, style=_MARK_STYLE)
    elif marks.left_reason:
        shown = tag("s", shown)
    below = tag("small", tag("br"), f"UTC{marks.offset}") if marks.offset else Markup()
    return tag("td", join_html(shown, below), style=_DAY_STYLE, title=f"{day:%A}: {_marks_text(marks)}")


def _marks_text(marks: DayMarks) -> str:
    parts = []
    if marks.times:
        parts.append("1 instance" if marks.times == 1 else f"{marks.times} instances")
    if marks.left_reason:
        parts.append(f"one is {marks.left_reason}" if marks.times else marks.left_reason)
    if marks.offset:
        parts.append(f"the offset has changed to UTC{marks.offset}")
    return ", ".join(parts)


def _month_text(month: date, days: Mapping[date, DayMarks]) -> str:
    within = {day: marks for day, marks in sorted(days.items()) if (day.year, day.month) == (month.year, month.month)}
    texts = []
    for day, marks in within.items():
        times = f"{marks.times} times" if marks.times > 1 else ""
        notes = ", ".join(filter(None, [times, marks.left_reason, f"UTC{marks.offset}" if marks.offset else ""]))
        texts.append(f"{day.day} ({notes})" if notes else str(day.day))
    return f"{month_name(month)}: {', '.join(texts) or 'none'}"


# -- the days on which an event takes place


DAY = timedelta(days=1)
_MAX_INSTANCES = 2000
"""The largest number of instances that `event_days` reads. Only hourly or more frequent rules exceed this number in a
few months."""


def event_days(series: Series, first: date, beyond: date) -> set[date]:
    """Return the dates of the event, in its time zone, from `first` up to but not including `beyond`.

    >>> series = Series(("RRULE:FREQ=DAILY;COUNT=2",), date(2026, 11, 2), date(2026, 11, 3))
    >>> sorted(day.day for day in event_days(series, date(2026, 11, 1), date(2026, 12, 1)))
    [2, 3]
    """
    days: set[date] = set()
    instances = series.instances(
        _add(first, -DAY), _add(beyond, DAY)
    )  # one day is more than the UTC offset of any zone
    for instance in islice(instances, _MAX_INSTANCES):
        begins, ends = max(day_of(instance.start), first), min(last_day(instance.end), beyond - DAY)
        days.update(begins + n * DAY for n in range((ends - begins).days + 1))
    return days


def _add(day: date, step: timedelta) -> datetime | None:
    """Return midnight (UTC) of `day` plus `step`. Return None if the result is out of the range of datetime."""
    try:
        return datetime.combine(day, time(), UTC) + step
    except OverflowError:
        return None


def last_day(end: Start) -> date:
    """Return the last day of an event with the exclusive end `end`. If the end is midnight, return the day before."""
    return day_of(end - timedelta(microseconds=1)) if isinstance(end, datetime) else end - DAY


def day_of(moment: Start) -> date:
    """Return a date unchanged, and a datetime as the date in its own time zone."""
    return moment.date() if isinstance(moment, datetime) else moment
