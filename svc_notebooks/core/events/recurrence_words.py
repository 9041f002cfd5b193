"""Translates a recurrence in English words to recurrence lines of RFC 5545.

The grammar is small and closed:

    words     = how often [ "on" days ] [ "until" date | count "times" ] [ "except" date *( "," date ) ]
    how often = "daily" | "weekly" | "monthly" | "yearly" | "every" unit | "every" number unit
    unit      = "day" | "weekday" | "week" | "month" | "year", with "s" after a number
    days      = weekday *( "," weekday )                   of a week
              | "day" number | "the" nth                   of a month or a year
              | "the" nth weekday                          nth is 1st, 2nd ... 31st, or "last"

"every Monday" and "every Mon, Wed" mean weekly recurrence, and "and" may replace a comma. A date is
yyyy-mm-dd, and `until` includes the date. Lines of RFC 5545 (RRULE: and so on) are returned unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime

from .rfc5545_times import print_moment, until_day
from .rrule import WEEKDAYS, Recurrence, Start

_WEEKDAY_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_FREQUENCIES = {"daily": "DAILY", "weekly": "WEEKLY", "monthly": "MONTHLY", "yearly": "YEARLY"}
_UNITS = {"day": "DAILY", "week": "WEEKLY", "month": "MONTHLY", "year": "YEARLY"}
_LINE = re.compile(r"\s*(RRULE|EXRULE|RDATE|EXDATE|DTSTART|DTEND)\b", re.IGNORECASE)
_DATE = r"\d{4}-\d{2}-\d{2}"
_WORDS = re.compile(
    r"(?P<often>daily|weekly|monthly|yearly|every (?:(?P<n>\d{1,4}) )?(?P<unit>[a-z, ]+?))"
    r"(?: on (?P<days>.+?))?"
    rf"(?:,? until (?P<until>{_DATE})|,? (?:for )?(?P<count>\d{{1,5}}) times)?"
    rf"(?:,? except (?P<except>{_DATE}(?:, ?{_DATE})*))?"
)
GRAMMAR = (
    "write, for example, 'daily', 'every 2 weeks on Mon, Wed', 'monthly on the 2nd Tuesday', 'monthly on day 15' or "
    "'yearly', then 'until 2027-02-12' or '10 times', then 'except 2026-12-24'; or lines such as 'RRULE:FREQ=DAILY'"
)


def recurrence_lines(words: str | Sequence[str], start: Start) -> list[str]:
    """Return the recurrence lines for a recurrence in English words. Lines of RFC 5545 are returned unchanged.

    Raises ValueError with the grammar for other words, and RecurrenceError for an invalid line.

    >>> recurrence_lines("weekly on Mon, Wed until 2027-02-12", date(2026, 11, 2))
    ['RRULE:FREQ=WEEKLY;BYDAY=MO,WE;UNTIL=20270212']
    >>> recurrence_lines("every 2 months on the last Friday, 6 times", date(2026, 11, 27))
    ['RRULE:FREQ=MONTHLY;INTERVAL=2;BYDAY=-1FR;COUNT=6']
    >>> recurrence_lines("FREQ=DAILY;COUNT=3", date(2026, 11, 2))
    ['RRULE:FREQ=DAILY;COUNT=3']
    """
    if isinstance(words, str) and words.strip().upper().startswith("FREQ="):
        words = f"RRULE:{words.strip()}"
    if not isinstance(words, str) or _LINE.match(words):
        lines = [words] if isinstance(words, str) else list(words)
        Recurrence.parse(lines, start)
        return lines
    text = " ".join(words.lower().replace(" and ", ", ").split()).replace(" ,", ",")
    match = _WORDS.fullmatch(text)
    if not match:
        raise ValueError(f"cannot parse recurrence {words!r}; {GRAMMAR}")
    parts = _frequency(words, match)
    if match["count"]:
        parts.append(f"COUNT={match['count']}")
    elif match["until"]:
        parts.append(f"UNTIL={until_day(_date(match['until']), start)}")
    lines = ["RRULE:" + ";".join(parts)]
    Recurrence.parse(lines, start)
    if match["except"]:
        days = [_date(part.strip()) for part in match["except"].split(",")]
        if isinstance(start, datetime):
            exdate = "EXDATE:" + ",".join(print_moment(datetime.combine(day, start.timetz())) for day in days)
        else:
            exdate = "EXDATE;VALUE=DATE:" + ",".join(map(print_moment, days))
        Recurrence.parse([exdate], start)
        lines.append(exdate)
    return lines


def _frequency(words: str, match: re.Match[str]) -> list[str]:
    unit = (match["unit"] or "").strip()
    days = "MO,TU,WE,TH,FR" if unit == "weekday" and not match["n"] else unit and _weekdays(unit)
    if days:
        if match["days"]:
            raise ValueError(f"recurrence {words!r}: {match['often']!r} cannot be combined with days")
        return ["FREQ=WEEKLY", *([f"INTERVAL={match['n']}"] if match["n"] else []), f"BYDAY={days}"]
    freq = _FREQUENCIES.get(match["often"]) or _UNITS.get(unit.removesuffix("s") if match["n"] else unit)
    if freq is None:
        raise ValueError(f"recurrence {words!r}: cannot parse {match['often']!r}; {GRAMMAR}")
    interval = [f"INTERVAL={match['n']}"] if match["n"] not in (None, "1") else []
    return [f"FREQ={freq}", *interval, *_days(words, freq, match["days"])]


def _days(words: str, freq: str, text: str | None) -> list[str]:
    if text is None:
        return []
    if freq == "WEEKLY" and (days := _weekdays(text)):
        return [f"BYDAY={days}"]
    if freq in ("MONTHLY", "YEARLY") and (part := _month_day(text)):
        return [part]
    raise ValueError(f"recurrence {words!r}: cannot parse the days {text!r}; {GRAMMAR}")


def _weekdays(text: str) -> str:
    """Return the codes of comma-separated weekday names, such as "MO,WE" for "mon, wed", or "" for an unknown name."""
    codes = [_weekday(name) for name in re.split(r", ?", text)]
    return ",".join(codes) if all(codes) else ""


def _weekday(text: str) -> str:
    text = text.strip()
    for code, name in zip(WEEKDAYS, _WEEKDAY_NAMES, strict=True):
        if len(text) > 1 and (name.startswith(text) or text == f"{name}s"):
            return code
    return ""


def _month_day(text: str) -> str:
    if match := re.fullmatch(r"day (\d{1,2})", text):
        return f"BYMONTHDAY={match[1]}"
    if match := re.fullmatch(r"the (?:(\d{1,2})(?:st|nd|rd|th)|last)(?: (\w+))?", text):
        number, day_name = match[1] or "-1", match[2] or "day"
        if day_name == "day":
            return f"BYMONTHDAY={number}"
        return f"BYDAY={number}{_weekday(day_name)}" if _weekday(day_name) else ""
    return ""


def _date(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a date such as 2027-02-12") from None
