"""Reads durations, in the same forms wherever a function or a request takes one."""

from __future__ import annotations

import re
from datetime import timedelta
from numbers import Real
from typing import Any, TypeAlias, cast

Duration: TypeAlias = str | float | timedelta

DURATION_FORMS = 'a timedelta, a number of seconds, or a text such as "1 day", "1h30m", "90s" or "PT1H"'
"""The forms of a duration, for error messages."""

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
