"""The days that the calendar view shows."""

from __future__ import annotations

from calendar import Calendar
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any

from ..widgets.month_table import MONTHS, month_after, month_name

VIEWS = ("month", "week", "day")
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_FIRST, _LAST = date(3, 1, 1), date(9997, 12, 1)
"""The days between which the view moves, so that all days around them exist in every time zone."""


@dataclass(frozen=True, slots=True)
class Period:
    """The month, week or day of the view that contains `day`. A week begins on Monday.

    >>> Period("week", date(2026, 11, 4)).title
    '2 to 8 November 2026'
    """

    view: str
    day: date

    @property
    def days(self) -> list[date]:
        """The shown days. A month has whole weeks."""
        if self.view == "month":
            return [*Calendar().itermonthdates(self.day.year, self.day.month)]
        if self.view == "day":
            return [self.day]
        monday = self.day - timedelta(days=self.day.weekday())
        return [monday + timedelta(days=n) for n in range(7)]

    @property
    def end(self) -> date:
        """The day after the last shown day."""
        return self.days[-1] + timedelta(days=1)

    @property
    def title(self) -> str:
        """The title of the period, such as "November 2026"."""
        first, last = self.days[0], self.days[-1]
        if self.view == "month":
            return month_name(self.day)
        if self.view == "day":
            return day_text(self.day)
        parts = [str(first.day)]
        if first.month != last.month:
            parts.append(MONTHS[first.month - 1])
        if first.year != last.year:
            parts.append(str(first.year))
        return f"{' '.join(parts)} to {last.day} {month_name(last)}"

    def moved(self, periods: int) -> Period:
        """Return the period that is `periods` later, or earlier if negative."""
        if self.view == "month":
            return self.at(month_after(self.day, periods))
        return self.at(self.day + timedelta(days=periods * (7 if self.view == "week" else 1)))

    def at(self, day: date) -> Period:
        """Return the period of the same kind that contains a day."""
        return replace(self, day=min(max(day, _FIRST), _LAST))


class GridPeriod(dict[str, Any]):
    """The period for the grid: view, days, month, title, and the day and the minute of the current time."""

    @classmethod
    def of(cls, period: Period, now: datetime) -> GridPeriod:
        return cls(
            view=period.view,
            days=[day.isoformat() for day in period.days],
            month=f"{period.day:%m}" if period.view == "month" else "",
            title=period.title,
            today=now.date().isoformat(),
            minute=now.hour * 60 + now.minute,
        )


def day_text(day: date) -> str:
    """Return a day as text.

    >>> day_text(date(2026, 11, 2))
    'Monday 2 November 2026'
    """
    return f"{_DAYS[day.weekday()]} {day.day} {month_name(day)}"
