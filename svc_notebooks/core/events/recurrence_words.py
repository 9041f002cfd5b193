"""Translates a recurrence in English words to recurrence lines of RFC 5545.

The grammar is small and closed:

    words     = when [ end ] [ "except" ( date *( "," date ) | weekdays ) ]
    when      = frequency [ "on" days ]
              | [ "every" [ number | "other" ] ] weekdays
              | [ "every" ] month-day [ "of" ( [ "the" | "every" ] "month" | "every" number "months" ) ]
              | [ "every" ] year-day
    frequency = "daily" | "weekly" | "biweekly" | "fortnightly" | "monthly" | "quarterly" | "yearly" | "annually"
              | "every" [ number | "other" | nth ] unit
    unit      = "day" | "week" | "fortnight" | "month" | "quarter" | "year", with "s" after a number
    days      = weekdays | month-day | year-day            of a week, a month or a year
    weekdays  = weekday | weekday "-" weekday | "weekdays" | "weekends", with commas between them
    month-day = "day" number | [ "the" ] nth *( "," nth ) [ "day" | weekday | "weekday" ]
    year-day  = month-day "of" month | month number | number month
    end       = "until" ( date | [ number ] month year | weekday ) | [ "for" ] number "times"
              | "for" number ( "days" | "weeks" | "months" | "years" )

nth is 1st, 2nd ... 31st, "first" ... "fifth" or "last". Numbers up to twelve may be words. "and" or a space may replace
a comma, "each" may replace "every", "to" may replace "-", "working day" may replace "weekday", and "x" may replace
"times". A date is yyyy-mm-dd. `until` includes the date, the whole month, or the first such weekday from the start on.
Lines of RFC 5545 (RRULE: and so on) are returned unchanged.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from difflib import get_close_matches

from .rrule import WEEKDAYS, Recurrence, Start, print_moment, until_day

_FREQUENCIES = {
    "daily": ("DAILY", 1),
    "weekly": ("WEEKLY", 1),
    "biweekly": ("WEEKLY", 2),
    "bi-weekly": ("WEEKLY", 2),
    "fortnightly": ("WEEKLY", 2),
    "monthly": ("MONTHLY", 1),
    "quarterly": ("MONTHLY", 3),
    "yearly": ("YEARLY", 1),
    "annually": ("YEARLY", 1),
}
_UNITS = {
    "day": ("DAILY", 1),
    "week": ("WEEKLY", 1),
    "fortnight": ("WEEKLY", 2),
    "month": ("MONTHLY", 1),
    "quarter": ("MONTHLY", 3),
    "year": ("YEARLY", 1),
}
_ORDINALS = {"first": "1st", "second": "2nd", "third": "3rd", "fourth": "4th", "fifth": "5th"}
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_DIGITS = {**_ORDINALS, **{word: str(number) for number, word in enumerate(_NUMBERS, 1)}}
_DAY_NAME = "(?:mon(?!th)|tue|wed|thu|fri|sat|sun)[a-z]*"
_REPLACEMENTS = (
    (r",? (?:and|&) ", ", "),
    (r" ,", ","),
    (r" ?[-\u2013] ?| to | through ", "-"),
    (r"\beach\b", "every"),
    (r"\bevery other\b", "every 2"),
    (r"\bfor an? ", "for 1 "),
    (rf"\b(?:{'|'.join(_DIGITS)})\b", lambda match: _DIGITS[match[0]]),
    (r"\b(?:work(?:ing)?|business) ?day", "weekday"),
    (r"(\d) ?x\b", r"\1 times"),
    (rf"\b({_DAY_NAME}),? (?={_DAY_NAME})", r"\1, "),
    (rf"^((?:bi-?)?weekly|fortnightly|every (?:\d+ )?weeks?) (?={_DAY_NAME})", r"\1 on "),
)
_LINE = re.compile(r"\s*(RRULE|EXRULE|RDATE|EXDATE|DTSTART|DTEND)\b", re.IGNORECASE)
_DATE = r"\d{4}-\d{2}-\d{2}"
_LONG_DATE = r"(?:\d{1,2}(?:st|nd|rd|th)? )?[a-z]+(?: \d{1,2}(?:st|nd|rd|th)?,?)? \d{4}"
_WORDS = re.compile(
    r"(?P<when>.+?)"
    rf"(?:,? until (?P<until>{_DATE}|{_LONG_DATE}|[a-z]+)|,? (?:for )?(?P<count>\d{{1,5}}) times"
    r"|,? for (?P<length>\d{1,5}) (?P<length_unit>day|week|month|year)s?)?"
    rf"(?:,? (?:except|but not|without) (?:on )?(?:(?P<except>{_DATE}(?:, ?{_DATE})*)|(?P<days>[a-z, -]+)))?"
)
_FREQUENCY = re.compile(rf"every (?:(?P<n>\d{{1,4}})(?P<nth>st|nd|rd|th)? )?(?P<unit>{'|'.join(_UNITS)})(?P<plural>s?)")
GRAMMAR = (
    "write, for example, 'daily', 'every 2 weeks on Mon, Wed', 'monthly on the 2nd Tuesday', 'monthly on day 15' or "
    "'yearly', then 'until 2027-02-12', '10 times' or 'for 10 weeks', then 'except 2026-12-24'; or lines such as "
    "'RRULE:FREQ=DAILY'"
)
_PHRASES = (
    *_FREQUENCIES,
    *(f"every {unit}" for unit in _UNITS),
    *(f"every 2 {unit}s" for unit in _UNITS),
    *("every Tuesday", "every weekday", "every weekend", "Mon-Fri", "weekly on Mon, Wed", "every 2 weeks on Tue"),
    *("monthly on day 15", "monthly on the 2nd Tuesday", "monthly on the last day", "the last Friday of every month"),
    *("yearly on the 4th Thursday of November", "yearly on December 24"),
)

# Texts and the phrase of the grammar that an error message suggests for texts like them.
SUGGESTIONS = {
    **{phrase.lower(): phrase for phrase in _PHRASES},
    "every 2 weekdays": "every weekday",
    "daily on monday": "every Monday",
    "bimonthly": "every 2 months",
    **dict.fromkeys(("semiannually", "half-yearly"), "every 6 months"),
    **dict.fromkeys(("hourly", "every hour"), "RRULE:FREQ=HOURLY"),
}


def recurrence_lines(words: str | Sequence[str], start: Start) -> list[str]:
    """Return the recurrence lines for a recurrence in English words. Lines of RFC 5545 are returned unchanged.

    Raises ValueError with the nearest phrase and the grammar for other words, and RecurrenceError for an invalid line.

    >>> recurrence_lines("weekly on Mon, Wed until 2027-02-12", date(2026, 11, 2))
    ['RRULE:FREQ=WEEKLY;BYDAY=MO,WE;UNTIL=20270212']
    >>> recurrence_lines("last Friday of every month, 6 times", date(2026, 11, 27))
    ['RRULE:FREQ=MONTHLY;BYDAY=-1FR;COUNT=6']
    >>> recurrence_lines("FREQ=DAILY;COUNT=3", date(2026, 11, 2))
    ['RRULE:FREQ=DAILY;COUNT=3']
    """
    if isinstance(words, str) and words.strip().upper().startswith("FREQ="):
        words = f"RRULE:{words.strip()}"
    if not isinstance(words, str) or _LINE.match(words):
        lines = [words] if isinstance(words, str) else list(words)
        Recurrence.parse(lines, start)
        return lines
    match = _WORDS.fullmatch(_normalize(words))
    if not match:
        raise _cannot_parse(words)
    parts = _rule_parts(words, match["when"])
    if match["days"]:
        parts = _parts_without(words, parts, weekdays(match["days"]))
    if match["count"]:
        parts.append(f"COUNT={match['count']}")
    elif match["until"] or match["length"]:
        if match["until"]:
            last = _until(words, match["until"], start)
        else:
            last = _last_day(start, int(match["length"]), match["length_unit"])
        parts.append(f"UNTIL={until_day(last, start)}")
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


def _normalize(words: str) -> str:
    """Return the words in lower case, with digits for numbers, commas for "and" and "-" in ranges."""
    text = " ".join(words.lower().split())
    for pattern, replacement in _REPLACEMENTS:
        text = re.sub(pattern, replacement, text)
    return text


def _cannot_parse(words: str, problem: str = "") -> ValueError:
    text = _normalize(words)
    until, other_days = re.search(r"\buntil (.*)", text), re.search(r"(?:except|without|but not) [a-z]+day", text)
    hint = ""
    if not problem and other_days:
        problem = "'except' takes dates, or weekdays after 'daily' and 'weekly'"
    elif not problem and until and not re.fullmatch(_DATE, until[1]):
        problem = f"write the date {until[1]!r:.40} as 2026-12-24"
    elif near := get_close_matches(text[:80], SUGGESTIONS, 1):
        hint = f"; the nearest phrase is {SUGGESTIONS[near[0]]!r}"
    return ValueError(f"cannot parse recurrence {words!r}{problem and ': '}{problem}{hint}; {GRAMMAR}")


def _rule_parts(words: str, when: str) -> list[str]:
    """Return the parts of the rule for everything but its end. Raises ValueError if `when` is not in the grammar."""
    often, _, days = when.partition(" on ")
    if frequency := _frequency(often):
        freq, interval = frequency
        return [*_frequency_parts(freq, interval), *(_days(words, freq, days) if days else [])]
    if match := re.fullmatch(r"(?:on )?(?:every (?:(\d{1,4}) )?)?(.+)", often):
        codes = weekdays(match[2])
        if codes and days:
            raise ValueError(f"recurrence {words!r}: {often!r} cannot be combined with days")
        if codes and not (match[1] and "weekday" in match[2]):  # "every 2 weekdays" is not a part of a week
            return [*_frequency_parts("WEEKLY", int(match[1] or 1)), f"BYDAY={codes}"]
    return _day_of_month_or_year(words, when)


def _frequency(text: str) -> tuple[str, int] | None:
    """Return the frequency and the interval, such as ("WEEKLY", 2) for "every 2 weeks", or None for another text."""
    if text in _FREQUENCIES:
        return _FREQUENCIES[text]
    match = _FREQUENCY.fullmatch(text)
    if not match or (match["plural"] and not match["n"]) or (match["nth"] and match["n"] == "1"):
        return None
    freq, factor = _UNITS[match["unit"]]
    return freq, factor * int(match["n"] or 1)


def _frequency_parts(freq: str, interval: int) -> list[str]:
    return [f"FREQ={freq}", *([f"INTERVAL={interval}"] if interval != 1 else [])]


def _days(words: str, freq: str, text: str) -> list[str]:
    if freq == "WEEKLY" and (codes := weekdays(text)):
        return [f"BYDAY={codes}"]
    if freq == "MONTHLY" and (parts := month_days(re.sub(r" of (?:the|every) month$", "", text))):
        return parts
    if freq == "YEARLY" and (parts := year_days(text)):
        return parts
    if freq == "YEARLY" and month_days(text):
        raise ValueError(f"recurrence {words!r} needs a month, such as 'yearly on {text} of November'")
    raise _cannot_parse(words, f"cannot parse the days {text!r}")


def _day_of_month_or_year(words: str, text: str) -> list[str]:
    """Return the parts of the rule for "last friday of every month", "every december 24" and similar texts."""
    match = re.fullmatch(
        r"(?:on )?(?P<every>every )?(?P<day>.+?)(?P<of> of (?:the|every)(?: (?P<n>\d+))? months?)?", text
    )
    if match and (parts := year_days(match["day"])) and not match["of"]:
        return ["FREQ=YEARLY", *parts]
    if not match or not (parts := month_days(match["day"])):
        raise _cannot_parse(words)
    ambiguous = match["every"] and not match["of"] and re.fullmatch(r"(?!1st)(\d+)\w\w (?!day)(\w+)", match["day"])
    if ambiguous:
        weeks, months = f"every {ambiguous[1]} weeks on {ambiguous[2]}", f"the {match['day']} of every month"
        raise ValueError(f"recurrence {words!r} has two meanings; write {weeks!r} or {months!r}")
    return [*_frequency_parts("MONTHLY", int(match["n"] or 1)), *parts]


def _last_day(start: Start, length: int, unit: str) -> date:
    """Return the last day of a number of days, weeks, months or years that begin on the day of `start`."""
    day = start.date() if isinstance(start, datetime) else start
    try:
        if unit in ("day", "week"):
            return day + timedelta(days=length * (7 if unit == "week" else 1) - 1)
        years, month = divmod(day.month - 1 + length * (12 if unit == "year" else 1), 12)
        year = day.year + years
        return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1])) - timedelta(days=1)
    except (OverflowError, ValueError):
        raise ValueError(f"{length} {unit}s from {day} end after the year 9999") from None


def _parts_without(words: str, parts: list[str], codes: str) -> list[str]:
    """Return the parts of a daily or weekly rule without some weekdays. Raises ValueError for another rule."""
    *others, last = ["FREQ=WEEKLY", f"BYDAY={','.join(WEEKDAYS)}"] if parts == ["FREQ=DAILY"] else parts
    rest = [code for code in last.removeprefix("BYDAY=").split(",") if code not in codes.split(",")]
    if not codes or not rest or others[:1] != ["FREQ=WEEKLY"] or not last.startswith("BYDAY="):
        raise _cannot_parse(words)
    return [*others, f"BYDAY={','.join(rest)}"]


def _until(words: str, text: str, start: Start) -> date:
    """Return the last day for a date, a month with its year, or a weekday. Raises ValueError for another text."""
    day = start.date() if isinstance(start, datetime) else start
    if re.fullmatch(_DATE, text):
        return _date(text)
    if code := _weekday(text):
        return day + min(timedelta((WEEKDAYS.index(code) - day.weekday()) % 7), date.max - day)
    *days, year = re.findall(r"\d+", text) or [""]
    months = [number for name in re.findall(r"[a-z]+", text) if (number := _month(name))]
    if len(months) != 1 or len(days) > 1 or len(year) != 4:
        raise _cannot_parse(words)
    return _date(f"{year}-{months[0]:02}-{int(days[0] if days else monthrange(int(year), months[0])[1]):02}")


def _date(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a date such as 2027-02-12") from None


_WEEKDAY_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WORK_DAYS, _WEEKEND = list(WEEKDAYS[:5]), list(WEEKDAYS[5:])
_DAY_GROUPS = {"weekday": _WORK_DAYS, "weekdays": _WORK_DAYS, "weekend": _WEEKEND, "weekends": _WEEKEND}
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_LEAP_YEAR = 2000
_NTH = r"(?:\d{1,2}(?:st|nd|rd|th)|last)"
_MOST_WORK_DAYS = 23  # the largest number of days from Monday to Friday in a month


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
    numbers = [day for part in days if part.startswith("BYMONTHDAY=") for day in part.partition("=")[2].split(",")]
    is_in_month = month and all(int(day) <= monthrange(_LEAP_YEAR, month)[1] for day in numbers)
    return [f"BYMONTH={month}", *days] if days and is_in_month else []


def _month(text: str) -> int:
    """Return the number of a month from its name or the first three or more letters, or 0 for another text."""
    return next((n for n, name in enumerate(_MONTHS, 1) if len(text) > 2 and name.startswith(text)), 0)
