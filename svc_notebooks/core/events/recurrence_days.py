"""Translates the days of a recurrence in English words to the BY parts of an RRULE line.

The texts are in lower case, with commas for "and", digits for numbers, and "-" between the ends of a range.
"""

from __future__ import annotations

import re
from calendar import monthrange

from .rrule import WEEKDAYS

_WEEKDAY_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WORK_DAYS, _WEEKEND = list(WEEKDAYS[:5]), list(WEEKDAYS[5:])
_DAY_GROUPS = {"weekday": _WORK_DAYS, "weekdays": _WORK_DAYS, "weekend": _WEEKEND, "weekends": _WEEKEND}
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_LEAP_YEAR = 2000
_NTH = r"(?:\d{1,2}(?:st|nd|rd|th)|last)"
_MOST_WORK_DAYS = 23
"""The largest number of days from Monday to Friday in a month."""


def weekdays(text: str) -> str:
    """Return the codes of weekdays in a BYDAY part, or "" if the text is not a list of weekdays.

    >>> weekdays("mon, wed"), weekdays("sat-mon"), weekdays("weekends"), weekdays("moon")
    ('MO,WE', 'SA,SU,MO', 'SA,SU', '')
    """
    groups = [_weekday_group(part.strip()) for part in text.split(",")]
    return ",".join(dict.fromkeys(code for group in groups for code in group)) if all(groups) else ""


def _weekday_group(text: str) -> list[str]:
    if text in _DAY_GROUPS:
        return _DAY_GROUPS[text]
    codes = [_weekday(name) for name in text.split("-")]
    if not all(codes) or len(codes) > 2:
        return []
    first, last = (WEEKDAYS.index(code) for code in (codes[0], codes[-1]))
    return [WEEKDAYS[day % 7] for day in range(first, first + (last - first) % 7 + 1)]


def _weekday(text: str) -> str:
    for code, name in zip(WEEKDAYS, _WEEKDAY_NAMES, strict=True):
        if len(text) > 1 and (name.startswith(text) or text == f"{name}s"):
            return code
    return ""


def month_days(text: str) -> list[str]:
    """Return the parts of a rule for days of a month, or [] if the text has another form.

    >>> month_days("the 1st, 3rd tuesday"), month_days("last day"), month_days("the last weekday")
    (['BYDAY=1TU,3TU'], ['BYMONTHDAY=-1'], ['BYDAY=MO,TU,WE,TH,FR', 'BYSETPOS=-1'])
    """
    if match := re.fullmatch(r"day (\d{1,2})", text):
        return [f"BYMONTHDAY={match[1]}"]
    match = re.fullmatch(rf"(?:the )?({_NTH}(?:, ?(?:the )?{_NTH})*)(?: (\w+))?", text)
    if not match:
        return []
    numbers = [nth[:-2] if nth != "last" else "-1" for nth in re.findall(_NTH, match[1])]
    name = match[2] or "day"
    if name == "day":
        return [f"BYMONTHDAY={','.join(numbers)}"]
    if max(map(int, numbers)) > (_MOST_WORK_DAYS if name == "weekday" else 5):
        return []  # no month has this day
    if name == "weekday":
        return [f"BYDAY={','.join(_WORK_DAYS)}", f"BYSETPOS={','.join(numbers)}"]
    code = _weekday(name)
    return [f"BYDAY={','.join(number + code for number in numbers)}"] if code else []


def year_days(text: str) -> list[str]:
    """Return the parts of a rule for days of one month of the year, or [] if the text has another form.

    >>> year_days("the 4th thursday of november"), year_days("24 dec"), year_days("february 30")
    (['BYMONTH=11', 'BYDAY=4TH'], ['BYMONTH=12', 'BYMONTHDAY=24'], [])
    """
    if match := re.fullmatch(r"(.+) (?:of|in) ([a-z]+)", text):
        month, days = _month(match[2]), month_days(match[1])
    elif match := re.fullmatch(r"(?:the )?(\d{1,2})(?:st|nd|rd|th)? ([a-z]+)", text):
        month, days = _month(match[2]), [f"BYMONTHDAY={match[1]}"]
    elif match := re.fullmatch(r"([a-z]+) (?:the )?(\d{1,2})(?:st|nd|rd|th)?", text):
        month, days = _month(match[1]), [f"BYMONTHDAY={match[2]}"]
    else:
        return []
    is_in_month = month and all(int(day) <= monthrange(_LEAP_YEAR, month)[1] for day in _month_day_numbers(days))
    return [f"BYMONTH={month}", *days] if days and is_in_month else []


def _month_day_numbers(parts: list[str]) -> list[str]:
    return [day for part in parts if part.startswith("BYMONTHDAY=") for day in part.partition("=")[2].split(",")]


def _month(text: str) -> int:
    """Return the number of a month from its name or the first three or more letters, or 0 for another text."""
    return next((n for n, name in enumerate(_MONTHS, 1) if len(text) > 2 and name.startswith(text)), 0)
