"""Builds HTML tables of months, in which some days are marked."""

from __future__ import annotations

import calendar
from collections.abc import Callable, Collection
from datetime import date

from ...notebook.html import Markup, join_html, tag

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def month_picture(month: date, marked: Collection[date]) -> Markup:
    """Return an HTML table of the month of a day, with `marked` days highlighted and titled for screen readers.

    >>> month_picture(date(2026, 11, 1), [date(2026, 11, 2)]).count("<mark")
    1
    """
    return month_table(month, lambda day: _cell(day, marked), class_="svc-month")


def month_table(month: date, cell: Callable[[date], Markup], **attributes: str) -> Markup:
    """Return an HTML table of a month. `cell` returns the `td` element of a day."""
    head = tag("tr", *(tag("th", name[:2], scope="col", title=name) for name in WEEKDAYS))
    weeks = calendar.Calendar().monthdayscalendar(month.year, month.month)
    rows = [tag("tr", *(cell(month.replace(day=day)) if day else tag("td") for day in week)) for week in weeks]
    caption = tag("caption", month_name(month))
    return tag("table", caption, tag("thead", head), tag("tbody", *rows), **attributes)


def month_name(month: date) -> str:
    """Return the month and the year of a day as text.

    >>> month_name(date(2026, 11, 30))
    'November 2026'
    """
    return f"{MONTHS[month.month - 1]} {month.year}"


def month_pictures(first: date, count: int, marked: Collection[date]) -> Markup:
    """Return HTML tables of `count` months side by side, from the month of the day `first`."""
    months = [month_after(first, n) for n in range(count)]
    return tag("div", join_html(*(month_picture(month, marked) for month in months)), class_="svc-months")


def month_after(day: date, months: int) -> date:
    """Return the first day of the month that is `months` months after `day` (before, if negative), in years 1 to 9999.

    >>> month_after(date(2026, 11, 30), 3)
    datetime.date(2027, 2, 1)
    """
    year, number = divmod(min(max(day.year * 12 + day.month - 1 + months, _FIRST), _LAST), 12)
    return date(year, number + 1, 1)


_FIRST, _LAST = date.min.year * 12, date.max.year * 12 + 11


def _cell(day: date, marked: Collection[date]) -> Markup:
    shown = tag("mark", day.day, title=f"{day:%A}: 1 instance") if day in marked else day.day
    return tag("td", shown)
