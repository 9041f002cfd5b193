"""Reads dates, times and durations in all forms that a user may write: values of Python, pandas and numpy, texts."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from numbers import Real
from typing import Any, TypeAlias, cast

from .times import zone

Duration: TypeAlias = str | float | timedelta

# The forms of a duration, for error messages.
DURATION_FORMS = 'a timedelta, a number of seconds, or a text such as "1 day", "1h30m", "90s" or "PT1H"'

_SECONDS = {
    "ms": 0.001,
    **dict.fromkeys(("s", "sec", "second"), 1.0),
    **dict.fromkeys(("m", "min", "minute"), 60.0),
    **dict.fromkeys(("h", "hr", "hour"), 3600.0),
    **dict.fromkeys(("d", "day"), 86400.0),
    **dict.fromkeys(("w", "week"), 604800.0),
}
_NUMBER = r"\d+(?:\.\d+)?"
_AMOUNT = rf"({_NUMBER})\s*([A-Za-z]+)[\s,]*"
_ISO = re.compile(
    r"P(?:(?P<w>\d+)W)?(?:(?P<d>\d+)D)?"
    r"(?:T(?:(?P<h>\d+)H)?(?:(?P<m>\d+)M)?(?:(?P<s>\d+(?:\.\d+)?)S)?)?",
    re.ASCII,
)


def parse_duration(value: object, argument: str = "duration") -> timedelta:
    """Convert a timedelta, a number of seconds, a text such as "1 day" or "1h30m", or ISO 8601 text to a timedelta.

    The units are ms, s, m (minutes), h, d and w, also as words. Durations of pandas and numpy are accepted too. Raises
    TypeError or ValueError, with `argument` in the message, for any other value.

    >>> parse_duration("8 days"), parse_duration(90), parse_duration("PT1H30M") == parse_duration("1h 30min")
    (datetime.timedelta(days=8), datetime.timedelta(seconds=90), True)
    """
    if type(value).__name__ in ("NaTType", "timedelta64") and value != value:
        raise ValueError(f"{argument} is missing (NaT)")
    if type(value).__name__ == "timedelta64":  # of numpy, where it is an integer too
        value = _from_numpy(argument, value)
    if isinstance(value, timedelta):
        return timedelta(value.days, value.seconds, value.microseconds)  # without the nanoseconds of pandas
    if isinstance(value, bool) or not isinstance(value, str | Real):
        raise TypeError(f"{argument} must be {DURATION_FORMS}, not {type(value).__name__}")
    seconds = _parse_seconds(value.strip()) if isinstance(value, str) else value
    if seconds is None or seconds != seconds:
        hours = re.fullmatch(r"(\d+)\s*(?::|h|hours?)\s*(\d+)", str(value).strip(), re.ASCII)
        hint = f"; write '{hours[1]}h{hours[2]}m'" if hours else ""
        raise ValueError(f"{argument} must be {DURATION_FORMS}, not {value!r:.60}{hint}")
    try:
        return timedelta(seconds=float(seconds))
    except OverflowError:
        raise ValueError(f"{argument} is {value!r:.60}, which is longer than 9999 years") from None


def _from_numpy(argument: str, value: Any) -> timedelta:
    """Convert a timedelta64. Raises ValueError for months, years and numbers without a unit, which have no length."""
    unit = value.dtype.name.partition("[")[2].rstrip("]")
    if unit in ("Y", "M", ""):
        raise ValueError(f"{argument} must be {DURATION_FORMS}, not {value!r}")
    return cast("timedelta", value.astype("timedelta64[us]").item())


def _parse_seconds(text: str) -> float | None:
    """Return the seconds of a duration text, or None if the text is not a duration."""
    if re.fullmatch(_NUMBER, text, re.ASCII):
        return float(text)
    iso = _ISO.fullmatch(text)
    if iso and any(iso.groupdict().values()):
        return sum(float(number) * _SECONDS[unit] for unit, number in iso.groupdict().items() if number)
    if not re.fullmatch(f"(?:{_AMOUNT})+", text, re.ASCII):
        return None
    amounts = [(float(number), _unit(name)) for number, name in re.findall(_AMOUNT, text, re.ASCII)]
    if any(unit not in _SECONDS for _number, unit in amounts):
        return None
    return sum(number * _SECONDS[unit] for number, unit in amounts)


def _unit(name: str) -> str:
    """Return the key of a unit in `_SECONDS`. A single M stays, because it stands for months elsewhere."""
    unit = name if name == "M" else name.lower()
    return unit.removesuffix("s") if len(unit) > 2 else unit


_DAYS = {"yesterday": -1, "today": 0, "tomorrow": 1, "last week": -7, "next week": 7}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAY = re.compile(rf"({'|'.join(_DAYS)}|((?:next |last )?)({'|'.join(_WEEKDAYS)}))(?: |$)")
_HOUR = re.compile(r"(?:at )?\b(0?[1-9]|1[0-2])(?:[:.]([0-5]\d))? ?([ap])\.?m\b\.?")
_FORMS = "write a date as 2026-11-02, a time as 2026-11-02 10:00, or 'today', 'tomorrow 10am' or '7 days ago'"
_WITHOUT_DAY = re.compile(r"\d{4}-\d\d?|\d\d?:\d\d(:\d\d)?", re.ASCII)
_DIGITS_OF_DATE = re.compile(r"\d{4}-\d\d?-\d\d?\b.*")
_SHORT_HOUR = re.compile(r"(?<=\d[ T])(?=\d(:|$))")
_PERIOD = re.compile(r"(last|this|next) (week|month)")


def python_time(argument: str, value: object) -> date | datetime:
    """Convert a str, datetime64, date, datetime or Timestamp to a date or datetime. Raises TypeError or ValueError."""
    if isinstance(value, str):
        with suppress(ValueError):
            return date.fromisoformat(value.strip())  # also 20261102
        try:
            return datetime.fromisoformat(_SHORT_HOUR.sub("0", value.strip()))  # 9:00 is 09:00
        except ValueError as error:
            problem = str(error).partition("Invalid isoformat")[0]
            hint = f"{problem}; {_FORMS}" if problem and _DIGITS_OF_DATE.fullmatch(value.strip()) else _FORMS
            if _WITHOUT_DAY.fullmatch(value.strip()):
                hint = "give its day too, as in '2026-11-02', 'today 15:30' or '2026-11-02 15:30'"
            with suppress(ValueError, OverflowError):
                if not value.strip().isdigit():  # 20261302 is a wrong date
                    parse_duration(value)
                    hint = f"write 'in {value}' for a time from now, or '{value} ago'"
            raise ValueError(f"{argument} is {value!r:.80}; {hint}") from None
    if hasattr(value, "tolist") and type(value).__module__ == "numpy":
        moment: Any = value  # a datetime64
        value = moment.item() if moment.dtype == "datetime64[D]" else moment.astype("datetime64[us]").item()
    if not isinstance(value, date):
        raise TypeError(f"{argument} must be a date, a datetime, a Timestamp or a str, not {type(value).__name__}")
    if value != value:  # pandas' NaT, which is a datetime
        raise ValueError(f"{argument} is missing (NaT)")
    return value


def calendar_period(text: str, today: date) -> tuple[date, date] | None:
    """Return the first day of a week or month in words, and the first day after it. Return None for other words.

    >>> [str(day) for day in calendar_period("next week", date(2026, 11, 4))]
    ['2026-11-09', '2026-11-16']
    """
    if not (match := _PERIOD.fullmatch(text.strip().lower())):
        return None
    ahead = ("last", "this", "next").index(match[1]) - 1
    if match[2] == "week":
        monday = today + timedelta(weeks=ahead, days=-today.weekday())
        return monday, monday + timedelta(weeks=1)
    months = [divmod(today.year * 12 + today.month - 1 + ahead + after, 12) for after in (0, 1)]
    first, following = (date(year, month + 1, 1) for year, month in months)
    return first, following


def without_words(value: Any, now: datetime, time_zone: str | None = None) -> Any:
    """Replace words by the date or the time in a time zone for which they stand. Return any other value unchanged.

    The words are "yesterday", "today", "tomorrow", "monday" or "next monday" (the first after today), "last monday",
    "last week" and "next week" (7 days from today), which a time such as "10:00" or "10am" may follow, "this week",
    "last month", "this month" and "next month" (their first day), "now", "7 days ago" and "in 2 hours".

    >>> without_words("tomorrow 10:00", datetime(2026, 11, 2, 23, 30, tzinfo=UTC), "Europe/Berlin")
    '2026-11-04 10:00'
    """
    text = value.strip().lower() if isinstance(value, str) else ""
    text, hours = _HOUR.subn(lambda hour: f"{int(hour[1]) % 12 + 12 * (hour[3] == 'p'):02}:{hour[2] or '00'}", text)
    word, _, rest = text.partition(" ")
    local = now.astimezone(zone(time_zone or "UTC")) if text else now
    if match := _DAY.match(text):
        days, today = _DAYS.get(match[1], 0), local.weekday()
        if match[3]:
            n = _WEEKDAYS.index(match[3])
            days = -((today - n - 1) % 7 + 1) if match[2] == "last " else (n - today - 1) % 7 + 1
        return f"{local.date() + timedelta(days=days)} {text[match.end(1) :].strip().removeprefix('at ')}".strip()
    if word in ("last", "this", "next") and (period := calendar_period(text, local.date())):
        return str(period[0])
    with suppress(ValueError, OverflowError):
        if text == "now":
            return local
        if text.endswith(" ago"):
            return local - parse_duration(text.removesuffix("ago"))
        if word == "in":
            return local + parse_duration(rest)
    return text if hours else value


def instant_of(argument: str, value: object, now: datetime) -> datetime:
    """Convert a time, a date (its midnight), words, or a timedelta before `now` to an instant.

    Times without a zone, and dates, are in UTC. Raises TypeError or ValueError, which names the argument.

    >>> instant_of("modified_after", "yesterday", datetime(2026, 11, 2, 10, tzinfo=UTC)).isoformat()
    '2026-11-01T00:00:00+00:00'
    """
    try:
        moment = now - value if isinstance(value, timedelta) else python_time(argument, without_words(value, now))
        if not isinstance(moment, datetime):
            return datetime(moment.year, moment.month, moment.day, tzinfo=UTC)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    except OverflowError:
        raise ValueError(f"{argument} is {value!r:.80}, which is before the year 1") from None
