"""The recurrence controls of the event form, a preview of the instances, and months as HTML tables (E-21)."""

from __future__ import annotations

import calendar
from calendar import day_name
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeGuard

import ipywidgets as widgets

from ..core.events.instances import Occurrence
from ..core.events.recurrence_words import recurrence_lines
from ..core.events.rrule import Freq, Rule, Start, read_line
from ..core.events.series import Series
from ..notebook.display import Markup, count_text, join_html, tag
from ..notebook.events.body import offset_text
from ..notebook.exchanges.charts import Picture
from .widgets import ui

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


def month_table(month: date, days: Mapping[date, DayMarks]) -> Markup:
    """Return an HTML table of the month of a day. The days with marks are highlighted and have titles.

    >>> month_table(date(2026, 11, 1), {date(2026, 11, 2): DayMarks(1)}).count("<mark")
    1
    """
    head = tag("tr", *(tag("th", name[:2], scope="col", title=name) for name in WEEKDAYS))
    weeks = calendar.Calendar().monthdayscalendar(month.year, month.month)
    cells = [[month.replace(day=day) if day else None for day in week] for week in weeks]
    rows = [tag("tr", *(_cell(day, days.get(day)) if day else tag("td") for day in week)) for week in cells]
    caption = tag("caption", month_name(month))
    return tag("table", caption, tag("thead", head), tag("tbody", *rows))


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
            tables = [month_table(month, marks) for month in shown]
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
    many = count_text(len(instances), "instance")
    if len(instances) <= SHOWN:
        return f"{many}:"
    return f"{many}, the last on {day_of(instances[-1].start):%a %d %b %Y}; the first {SHOWN}:"


def _instance_text(instance: Occurrence, before: Occurrence | None) -> Markup:
    if not isinstance(instance.start, datetime) or not isinstance(instance.end, datetime):
        last = instance.end - DAY
        return join_html(f"{instance.start:%a %d %b %Y}" + (f" to {last:%a %d %b %Y}" if last > instance.start else ""))
    is_one_day = instance.end.date() == instance.start.date()
    ends = f"{instance.end:%H:%M}" if is_one_day else f"{instance.end:%a %d %b, %H:%M}"
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
    return f"{count_text(count, 'instance')} from {on[0]} to {on[-1]}"


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
        parts.append(count_text(marks.times, "instance"))
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
# The largest number of instances that `event_days` reads. Only hourly or more frequent rules exceed this number in a
# few months.
_MAX_INSTANCES = 2000


def event_days(series: Series, first: date, beyond: date) -> set[date]:
    """Return the dates of the event, in its time zone, from `first` up to but not including `beyond`.

    >>> series = Series(("RRULE:FREQ=DAILY;COUNT=2",), date(2026, 11, 2), date(2026, 11, 3))
    >>> sorted(day.day for day in event_days(series, date(2026, 11, 1), date(2026, 12, 1)))
    [2, 3]
    """
    days: set[date] = set()
    # one day is more than the UTC offset of any zone
    midnights = [datetime.combine(day, time(), UTC) for day in (first, beyond)]
    instances = series.instances(shifted(midnights[0], -DAY), shifted(midnights[1], DAY))
    for instance in islice(instances, _MAX_INSTANCES):
        begins, ends = max(day_of(instance.start), first), min(last_day(instance.end), beyond - DAY)
        days.update(begins + n * DAY for n in range((ends - begins).days + 1))
    return days


def shifted(moment: datetime, step: timedelta) -> datetime | None:
    """Return a moment plus a step. Return None if the result is out of the range of datetime."""
    try:
        return moment + step
    except OverflowError:
        return None


def last_day(end: Start) -> date:
    """Return the last day of an event with the exclusive end `end`. If the end is midnight, return the day before."""
    return day_of(end - timedelta(microseconds=1)) if isinstance(end, datetime) else end - DAY


def day_of(moment: Start) -> date:
    """Return a date unchanged, and a datetime as the date in its own time zone."""
    return moment.date() if isinstance(moment, datetime) else moment


# -- the controls for the frequency and the end of a recurrence, and a text field for any other recurrence


_WORDS = {
    Freq.DAILY: ("daily", "days"),
    Freq.WEEKLY: ("weekly", "weeks"),
    Freq.MONTHLY: ("monthly", "months"),
    Freq.YEARLY: ("yearly", "years"),
}


@dataclass(frozen=True, slots=True)
class Repeat:
    """A recurrence in days, weeks, months or years.

    In `weekdays` and `nth`, Monday is 0. `month_day` is the day of the month, and -1 is the last day of the month.
    `nth` is a weekday of the month, such as (1, 0) for the first Monday or (-1, 4) for the last Friday.
    """

    freq: Freq
    interval: int = 1
    weekdays: tuple[int, ...] = ()
    month_day: int | None = None
    nth: tuple[int, int] | None = None
    until: date | None = None
    count: int | None = None

    def words(self) -> str:
        """Return the recurrence in plain words, which core/events/recurrence_words.py converts back.

        >>> Repeat(Freq.MONTHLY, 2, nth=(-1, 4), count=6).words()
        'every 2 months on the last Friday, 6 times'
        """
        often, unit = _WORDS[self.freq]
        words = often if self.interval == 1 else f"every {self.interval} {unit}"
        end = f" until {self.until}" if self.until else f", {self.count} times" if self.count is not None else ""
        return words + self._days_words() + end

    def _days_words(self) -> str:
        if self.nth:
            ordinal = {-1: "last", 1: "1st", 2: "2nd", 3: "3rd"}.get(self.nth[0], f"{self.nth[0]}th")
            return f" on the {ordinal} {day_name[self.nth[1]]}"
        if self.month_day is not None:
            return f" on day {self.month_day}" if self.month_day > 0 else " on the last day"
        return f" on {', '.join(day_name[day][:3] for day in self.weekdays)}" if self.weekdays else ""

    @classmethod
    def read(cls, line: str, start: Start) -> Repeat | None:
        """Convert an RRULE line to a Repeat. Return None if the line is invalid or the controls cannot represent it.

        >>> Repeat.read("RRULE:FREQ=MONTHLY;BYDAY=-1FR", date(2026, 11, 27)).nth
        (-1, 4)
        """
        try:
            name, values = read_line(line, start)
            if name != "RRULE" or values[0].freq > Freq.DAILY:
                return None
            repeat = _from_rule(values[0], start)
            (same,) = recurrence_lines(repeat.words(), start)
        except ValueError:
            return None
        return repeat if read_line(same, start)[1] == values else None


def _from_rule(rule: Rule, start: Start) -> Repeat:
    """Convert a rule to a Repeat. Parts of the rule that a Repeat cannot represent are dropped."""
    until = rule.until
    if isinstance(until, datetime):
        until = until.astimezone(start.tzinfo).date() if isinstance(start, datetime) else until.date()
    repeat = Repeat(rule.freq, rule.interval, until=until, count=rule.count)
    if rule.freq is Freq.WEEKLY:
        return replace(repeat, weekdays=tuple(day for _, day in rule.by_day))
    if rule.freq is not Freq.MONTHLY:
        return repeat
    day = rule.by_month_day[0] if rule.by_month_day else None
    return replace(repeat, month_day=day, nth=rule.by_day[0] if rule.by_day and day is None else None)


def nth_of_month(day: date) -> tuple[int, int]:
    """Return the position of a day among the same weekdays of its month (-1 for the fifth), and the weekday number.

    >>> nth_of_month(date(2026, 11, 30))
    (-1, 0)
    """
    ordinal = (day.day + 6) // 7
    return (-1 if ordinal == 5 else ordinal), day.weekday()


class StartField(ui.Field):
    """A field whose value follows the start of the event until a person changes the value."""

    _is_set = _updating = False

    def _on_change(self) -> None:
        self._is_set = self._is_set or not self._updating

    def set_start_day(self, day: date) -> None:
        """Set the value that fits an event on this day, unless a person has changed the value."""
        if not self._is_set:
            self._updating = True
            self._propose(day)
            self._updating = False

    def _propose(self, day: date) -> None:
        """Set the controls to the default values for an event that starts on this day."""


class WeekdaySwitches(StartField):
    """Checkboxes for Monday (0) to Sunday (6), which follow the event start until a person changes a checkbox."""

    def __init__(self) -> None:
        self.days = [
            widgets.Checkbox(description=name, tooltip=name, indent=False, layout={"width": "auto"})
            for name in WEEKDAYS
        ]
        super().__init__(ui.heading("on"), *self.days)
        self.add_class("svc-days")
        ui.on_change(self._on_change, *self.days)

    @property
    def value(self) -> tuple[int, ...]:
        return tuple(number for number, day in enumerate(self.days) if day.value)

    @value.setter
    def value(self, numbers: Sequence[int]) -> None:
        self._set(numbers)
        self._is_set = True

    def set_start_day(self, day: date) -> None:
        """Select the weekday of this day, or show a hint if a person has not selected this weekday."""
        super().set_start_day(day)
        stays_out = day.weekday() not in self.value
        self.show_hint(f"The first instance is on {day:%A}, the start of the event." * stays_out)

    def _propose(self, day: date) -> None:
        self._set([day.weekday()])

    def _set(self, numbers: Sequence[int]) -> None:
        for number, switch in enumerate(self.days):
            switch.value = number in numbers


BY_DAY, BY_WEEKDAY = "day", "nth"
_DAY_CHOICES = (("Day of the month", BY_DAY), ("Weekday", BY_WEEKDAY))
_ORDINALS = (("first", 1), ("second", 2), ("third", 3), ("fourth", 4), ("last", -1))
_DAYS = (*((str(day), day) for day in range(1, 32)), ("the last", -1))


class MonthChoice(StartField):
    """A choice of a day of the month by number, such as 15, or by weekday, such as the first Monday."""

    def __init__(self) -> None:
        self.choice = ui.dropdown("on", "How the day of the month is given", _DAY_CHOICES)
        self.day = _narrow("day", "The day of the month; months without it are skipped", _DAYS)
        self.ordinal = _narrow("the", "Which one of the month", _ORDINALS)
        weekdays = [(name, n) for n, name in enumerate(WEEKDAYS)]
        self.weekday = _narrow("weekday", "Which day of the week", weekdays)
        super().__init__(self.choice, self.day, self.ordinal, self.weekday)
        ui.on_change(self._on_change, self.day, self.ordinal, self.weekday)
        ui.on_change(self._update_visibility, self.choice, self.day)
        self._update_visibility()

    @property
    def value(self) -> dict[str, Any]:
        """The argument `month_day` or `nth` of `Repeat`, as a dict."""
        if self.choice.value == BY_DAY:
            return {"month_day": self.day.value}
        return {"nth": (self.ordinal.value, self.weekday.value)}

    @value.setter
    def value(self, chosen: Mapping[str, Any]) -> None:
        day, nth = chosen.get("month_day"), chosen.get("nth")
        if day is not None:
            self.choice.value, self.day.value, self._is_set = BY_DAY, day, True
        if nth is not None:
            self.choice.value, self._is_set = BY_WEEKDAY, True
            self.ordinal.value, self.weekday.value = nth

    def _propose(self, day: date) -> None:
        self.day.value = day.day
        self.ordinal.value, self.weekday.value = nth_of_month(day)

    def _update_visibility(self) -> None:
        by_day = self.choice.value == BY_DAY
        for control, shown in ((self.day, by_day), (self.ordinal, not by_day), (self.weekday, not by_day)):
            ui.set_visible(control, shown)
        self.show_hint("Months without this day are skipped." * (by_day and self.day.value > 28))


def _narrow(label: str, tooltip: str, options: Any) -> widgets.Dropdown:
    return ui.dropdown(label, tooltip, options, style=ui.AUTO_WIDTH, layout={"width": "auto"})


NEVER, UNTIL, COUNT = "never", "until", "count"
_ENDS = (("Never", NEVER), ("On a date", UNTIL), ("After a number of times", COUNT))
_PROPOSED_MONTHS = 3


class RepeatEnd(StartField):
    """The controls for the end of the recurrence, proposed about three months after the start."""

    def __init__(self) -> None:
        self.choice = ui.dropdown("Ends", "When the recurrence ends", _ENDS)
        label = ui.describe("last date", "The last date on which the event can take place")
        self.until = widgets.DatePicker(**label, style=ui.AUTO_WIDTH)
        self.count = ui.number_field(10, "times", "The number of instances")
        super().__init__(self.choice, self.until, self.count)
        ui.on_change(self._on_change, self.until)
        ui.on_change(self._update_visibility, self.choice)
        self._update_visibility()

    @property
    def value(self) -> dict[str, Any]:
        """A dict with the argument `until` or `count` of `Repeat`, or {}. Raises ValueError for a missing end date."""
        if self.choice.value == UNTIL and self.until.value is None:
            raise ValueError("Enter the last date.")
        return {UNTIL: {UNTIL: self.until.value}, COUNT: {COUNT: self.count.value}}.get(self.choice.value, {})

    @value.setter
    def value(self, chosen: Mapping[str, Any]) -> None:
        until, count = chosen.get(UNTIL), chosen.get(COUNT)
        if until is not None:
            self.until.value = until
        if count is not None:
            self.count.value = count
        self.choice.value = UNTIL if until is not None else COUNT if count is not None else NEVER

    def _propose(self, day: date) -> None:
        self.until.value = month_after(day, _PROPOSED_MONTHS)

    def _update_visibility(self) -> None:
        ui.set_visible(self.until, self.choice.value == UNTIL)
        ui.set_visible(self.count, self.choice.value == COUNT)


CUSTOM = "own"
_MAX_INTERVAL, _MAX_COUNT = 9999, 99_999  # the numbers of four and five digits that words can have
_FREQUENCIES = (
    ("Does not repeat", NEVER),
    *((often.capitalize(), freq) for freq, (often, _) in _WORDS.items()),
    ("Custom", CUSTOM),
)
_EXAMPLES = (
    "weekly on Mon, Wed until 2027-02-12\n\nor lines:\nRRULE:FREQ=WEEKLY;BYDAY=MO,WE\nEXDATE;VALUE=DATE:20261223"
)


class RecurrenceBuilder(widgets.VBox):  # type: ignore[misc]
    """The controls for a recurrence. The values follow the start of the event until a person changes the controls."""

    def __init__(self) -> None:
        # the lines of `read`, kept unless a control changes
        self._read_lines: tuple[Repeat | None, tzinfo | None, list[str]] = (None, None, [])
        self.frequency = ui.dropdown("Repeats", "How often the event takes place", _FREQUENCIES)
        self.interval = ui.number_field(1, "every", "1 is each of them, 2 every other")
        self.unit = widgets.HTML()
        self.weekdays, self.month, self.ends = WeekdaySwitches(), MonthChoice(), RepeatEnd()
        self.text_input = ui.text_area("In words", "Plain words, or lines of RFC 5545", hint=_EXAMPLES, rows=5)
        self.frequency_field, self.text = ui.Field(self.frequency, self.interval, self.unit), ui.Field(self.text_input)
        self.field = ui.Field()
        super().__init__([self.frequency_field, self.weekdays, self.month, self.ends, self.text, self.field])
        ui.on_change(self._update_visibility, self.frequency)
        ui.on_change(self._choose_words, self.text_input)
        self._update_visibility()

    def _choose_words(self) -> None:
        """Let words that a program sets repeat the event."""
        if self.text_input.value and self.frequency.value == NEVER:
            self.frequency.value = CUSTOM

    def watch(self, changed: Callable[[], object]) -> None:
        for part in (self.frequency_field, self.weekdays, self.month, self.ends, self.text):
            part.watch(changed)

    def field_at(self, path: str) -> ui.Field:
        return self.field

    def set_start_day(self, day: date) -> None:
        """Update the controls that follow the start day of the event."""
        self.weekdays.set_start_day(day)
        self.month.set_start_day(day)
        self.ends.set_start_day(day)

    def lines(self, start: Start) -> list[str]:
        """Return the RFC 5545 lines, or [] without a recurrence. Raises ValueError for an invalid recurrence."""
        if self.frequency.value == NEVER:
            return []
        if self.frequency.value == CUSTOM:
            lines = [line.strip() for line in self.text_input.value.splitlines() if line.strip()]
            if not lines:
                raise ValueError("Enter a recurrence such as weekly on Mon, Wed until 2027-02-12, or RRULE lines.")
            return lines if ":" in self.text_input.value else recurrence_lines(" ".join(lines), start)
        repeat = self.repeat()
        is_read = self._read_lines[:2] == (repeat, _zone(start))
        return self._read_lines[2] if is_read else recurrence_lines(repeat.words(), start)

    def argument(self, lines: list[str], start: Start) -> str | list[str]:
        """Return the argument `recurrence` of `create_event`, which is plain words or else the RFC 5545 lines."""
        is_custom = self.frequency.value == CUSTOM
        words = " ".join(str(self.text_input.value).split()) if is_custom else self.repeat().words()
        try:
            means = recurrence_lines(words, start)
        except ValueError:
            means = []
        return words if means == lines else lines

    def repeat(self) -> Repeat:
        """Return the recurrence in the controls. Raises ValueError for a missing end date or an unsuitable number."""
        freq = self.frequency.value
        days: dict[str, Any] = self.month.value if freq == Freq.MONTHLY else {}
        if freq == Freq.WEEKLY:
            days = {"weekdays": self.weekdays.value}
        repeat = Repeat(freq, self.interval.value, **days, **self.ends.value)
        if not 1 <= repeat.interval <= _MAX_INTERVAL or not (repeat.count is None or 1 <= repeat.count <= _MAX_COUNT):
            raise ValueError(f"Enter 1 to {_MAX_INTERVAL:,} as interval, and 1 to {_MAX_COUNT:,} as number of times.")
        return repeat

    def read(self, lines: Sequence[str], start: Start | None) -> None:
        """Set the controls from RFC 5545 lines, or the text field if the controls cannot represent the lines."""
        repeat = Repeat.read(lines[0], start) if start is not None and len(lines) == 1 else None
        if start is None or repeat is None:
            self.text_input.value = "\n".join(lines)
            self.frequency.value = CUSTOM if lines else NEVER
            return
        self.frequency.value, self.interval.value = repeat.freq, repeat.interval
        if repeat.weekdays:
            self.weekdays.value = repeat.weekdays
        self.month.value = {"month_day": repeat.month_day, "nth": repeat.nth}
        self.ends.value = {"until": repeat.until, "count": repeat.count}
        self._read_lines = (self.repeat(), _zone(start), list(lines))

    def _update_visibility(self) -> None:
        way = self.frequency.value
        is_rule = way in _WORDS
        self.unit.value = _WORDS[way][1] if is_rule else ""
        for part, shown in (
            (self.interval, is_rule),
            (self.unit, is_rule),
            (self.weekdays, way == Freq.WEEKLY),
            (self.month, way == Freq.MONTHLY),
            (self.ends, is_rule),
            (self.text, way == CUSTOM),
        ):
            ui.set_visible(part, shown)


def _zone(start: Start) -> tzinfo | None:
    return start.tzinfo if isinstance(start, datetime) else None
