"""Converts a recurrence of the form to an RRULE line and back."""

from __future__ import annotations

from calendar import day_name
from dataclasses import dataclass, replace
from datetime import date, datetime

from ....core.events.rfc5545_times import until_day
from ....core.events.rrule import WEEKDAYS, Freq, Rule, Start, read_line

_WORDS = {
    Freq.YEARLY: ("yearly", "years"),
    Freq.MONTHLY: ("monthly", "months"),
    Freq.WEEKLY: ("weekly", "weeks"),
    Freq.DAILY: ("daily", "days"),
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

    def line(self, start: Start) -> str:
        """Return the RRULE line for an event with this start. The whole day `until`, in the zone of the start, counts.

        >>> Repeat(Freq.WEEKLY, 2, weekdays=(0, 2)).line(date(2026, 11, 2))
        'RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE'
        """
        days = [f"{self.nth[0]}{WEEKDAYS[self.nth[1]]}"] if self.nth else [WEEKDAYS[day] for day in self.weekdays]
        parts = {
            "FREQ": self.freq.name,
            "INTERVAL": "" if self.interval == 1 else str(self.interval),
            "BYMONTHDAY": "" if self.month_day is None else str(self.month_day),
            "BYDAY": ",".join(days),
            "UNTIL": until_day(self.until, start) if self.until else "",
            "COUNT": "" if self.count is None else str(self.count),
        }
        return "RRULE:" + ";".join(f"{name}={value}" for name, value in parts.items() if value)

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
        except ValueError:
            return None
        if name != "RRULE" or values[0].freq > Freq.DAILY:
            return None
        repeat = _from_rule(values[0], start)
        return repeat if read_line(repeat.line(start), start)[1] == values else None


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
