"""Parses and checks the recurrence lines RRULE, EXRULE, RDATE and EXDATE of RFC 5545 (E-12).

    recurrence = *line
    line       = ("RRULE" / "EXRULE") ":" part *(";" part)
               / ("RDATE" / "EXDATE") *(";" ("VALUE=" type / "TZID=" zone)) ":" value *("," value)

All-day events have dates, and timed events have date-times. A date-time without `Z` and TZID is in the start's zone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from enum import IntEnum
from functools import lru_cache
from typing import Any

from ..time_arguments import parse_duration
from ..times import zone

# The start of an event, which is a date if all-day and otherwise a date-time with a time zone.
Start = date | datetime

_DATE = re.compile(r"\d{8}")
_DATE_TIME = re.compile(r"\d{8}T\d{6}Z?")
_LAST_SECOND = time(23, 59, 59)


def is_all_day(start: Start) -> bool:
    """Return whether an event's start is a date."""
    return not isinstance(start, datetime)


def read_moment(text: str) -> Start:
    """Parse a DATE or DATE-TIME, as UTC if the text ends in Z, else without a zone. Raises ValueError if invalid."""
    try:
        if _DATE.fullmatch(text):
            return datetime.strptime(text, "%Y%m%d").replace(tzinfo=UTC).date()
        if _DATE_TIME.fullmatch(text):
            read = datetime.strptime(text[:15], "%Y%m%dT%H%M%S")  # noqa: DTZ007  the zone comes from elsewhere
            return read.replace(tzinfo=UTC) if text.endswith("Z") else read
    except ValueError:
        pass  # for example, month 13
    raise ValueError(f"{text[:30]!r} is not a date such as 20270212, or a date-time such as 20270212T090000Z")


def print_moment(moment: Start) -> str:
    """Format a date as DATE, or a date-time as DATE-TIME in UTC, with leading zeros in early years, unlike `%Y`.

    >>> print_moment(date(999, 12, 30)), print_moment(datetime(2026, 3, 10, 14, tzinfo=UTC))
    ('09991230', '20260310T140000Z')
    """
    if isinstance(moment, datetime):
        moment = moment.astimezone(UTC)
        return f"{print_moment(moment.date())}T{moment:%H%M%S}Z"
    return moment.isoformat().replace("-", "")


def until_day(day: date, start: Start) -> str:
    """Return the UNTIL value that includes a day, a date if `start` is a date, else the day's last second in UTC."""
    if is_all_day(start):
        return print_moment(day)
    try:
        return print_moment(datetime.combine(day, _LAST_SECOND, getattr(start, "tzinfo", None)))
    except OverflowError:  # the last valid date, in a zone west of UTC
        return print_moment(datetime.combine(day, _LAST_SECOND, UTC))


class Freq(IntEnum):
    """The frequencies of rules, from the longest to the shortest period."""

    YEARLY = 0
    MONTHLY = 1
    WEEKLY = 2
    DAILY = 3
    HOURLY = 4
    MINUTELY = 5
    SECONDLY = 6


WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")


@dataclass(frozen=True, slots=True)
class Rule:
    """A parsed RRULE or EXRULE. `by_day` has pairs of ordinal (0 for all) and weekday (0 for Monday)."""

    freq: Freq
    interval: int = 1
    count: int | None = None
    until: Start | None = None
    week_start: int = 0
    by_month: tuple[int, ...] = ()
    by_week: tuple[int, ...] = ()
    by_year_day: tuple[int, ...] = ()
    by_month_day: tuple[int, ...] = ()
    by_day: tuple[tuple[int, int], ...] = ()
    by_hour: tuple[int, ...] = ()
    by_minute: tuple[int, ...] = ()
    by_second: tuple[int, ...] = ()
    by_position: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class RDate:
    """A value of an RDATE line. `duration` is None unless the value is a period."""

    start: Start
    duration: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Recurrence:
    """The parsed recurrence lines of an event, which are rules and single times to include or exclude."""

    rules: tuple[Rule, ...] = ()
    exrules: tuple[Rule, ...] = ()
    rdates: tuple[RDate, ...] = ()
    exdates: tuple[Start, ...] = ()

    @classmethod
    def parse(cls, lines: Sequence[str], start: Start) -> Recurrence:
        """Parse the recurrence lines of an event. Raises RecurrenceError for the first invalid line.

        >>> Recurrence.parse(["RRULE:FREQ=WEEKLY;BYDAY=MO,WE"], date(2026, 11, 2)).rules[0].by_day
        ((0, 0), (0, 2))
        """
        if not lines:
            return cls()
        values_by_name: dict[str, list[Any]] = {name: [] for name in _READERS}
        for index, line in enumerate(lines):
            try:
                name, values = read_line(line, start)
            except ValueError as error:
                raise RecurrenceError(index, str(error)) from None
            values_by_name[name] += values
        return cls(*(tuple(values) for values in values_by_name.values()))

    @property
    def is_endless(self) -> bool:
        """True if a rule has neither COUNT nor UNTIL, so that the event recurs forever."""
        return any(rule.count is None and rule.until is None for rule in self.rules)


class RecurrenceError(ValueError):
    """A recurrence line is invalid. `index` is the line's position, and `message` states the expected value."""

    def __init__(self, index: int, message: str) -> None:
        super().__init__(f"recurrence[{index}]: {message}")
        self.index = index
        self.message = message


_NAME = re.compile(r"[A-Za-z]+(?=[:;])")
_LINE = re.compile(r"(?P<name>[A-Za-z]+)(?P<parameters>(;[^:;]*)*):(?P<value>[!-~]*)")
_MAX_SHOWN = 120


def read_line(line: str, start: Start) -> tuple[str, Sequence[Any]]:
    """Parse a recurrence line into its name and values. Raises ValueError, which quotes the line, if invalid."""
    if not isinstance(line, str):
        raise ValueError(f"expected text such as RRULE:FREQ=DAILY, not {type(line).__name__}")
    return _parsed(line, is_all_day(start), getattr(start, "tzinfo", None))


@lru_cache(maxsize=4096)
def _parsed(line: str, all_day: bool, tz: tzinfo | None) -> tuple[str, Sequence[Any]]:
    """Parse a line of an event whose start is a date or is in the zone `tz`, which is all that matters of a start."""
    start = datetime(2000, 1, 1, tzinfo=tz)
    begin, match = _NAME.match(line), _LINE.fullmatch(line)
    name = begin[0].upper() if begin else line[:7].upper()
    if name in ("DTSTART", "DTEND"):
        raise ValueError(f"{line[:_MAX_SHOWN]!r}: {name} is not allowed here; use start and end")
    if not begin or name not in _READERS:
        raise ValueError(f"{line[:_MAX_SHOWN]!r} does not begin with RRULE:, EXRULE:, RDATE: or EXDATE:")
    if not match:
        raise ValueError(f"{line[:_MAX_SHOWN]!r}: expected one line of ASCII without spaces, such as RRULE:FREQ=DAILY")
    try:
        pairs = [part.partition("=") for part in match["parameters"].split(";")[1:]]
        parameters = {parameter.upper(): value.strip('"') for parameter, _, value in pairs}
        return name, tuple(_READERS[name](match["value"], parameters, start.date() if all_day else start))
    except ValueError as error:
        raise ValueError(f"{line[:_MAX_SHOWN]!r}: {error}") from None


# -- RRULE, EXRULE ---------------------------------------------------------------------------------------------------


def _number(minimum: int, maximum: int | None = None) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not re.fullmatch(r"\d{1,9}", text) or int(text) < minimum or (maximum is not None and int(text) > maximum):
            raise ValueError(
                f"{text[:20]!r} is not a number "
                + (f"from {minimum} to {maximum}" if maximum else f"of {minimum} or more")
            )
        return int(text)

    return read


def _numbers(minimum: int, maximum: int, *, signed: bool = False) -> Callable[[str], tuple[int, ...]]:
    read_unsigned = _number(minimum, maximum)

    def read(text: str) -> int:
        if signed and text[:1] in ("+", "-"):
            return read_unsigned(text[1:]) * (-1 if text[0] == "-" else 1)
        return read_unsigned(text)

    return lambda text: tuple(sorted({read(part) for part in text.split(",")}))


_DAY = re.compile(r"([+-]?\d{1,2})?(MO|TU|WE|TH|FR|SA|SU)")


def _days(text: str) -> tuple[tuple[int, int], ...]:
    days = set()
    for part in text.upper().split(","):
        match = _DAY.fullmatch(part)
        if not match or (match[1] and not 1 <= abs(int(match[1])) <= 53):
            raise ValueError(f"{part[:20]!r} is not a weekday such as MO, 2TU or -1FR")
        days.add((int(match[1] or 0), WEEKDAYS.index(match[2])))
    return tuple(sorted(days))


def _choice(values: Mapping[str, Any]) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        if text.upper() not in values:
            raise ValueError(f"{text[:20]!r} is not one of {', '.join(values)}")
        return values[text.upper()]

    return read


# The `Rule` field and the parser of each rule part, in the order of RFC 5545, section 3.3.10.
_PARTS: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    "FREQ": ("freq", _choice(Freq.__members__)),
    "UNTIL": ("until", read_moment),
    "COUNT": ("count", _number(1)),
    "INTERVAL": ("interval", _number(1)),
    "BYSECOND": ("by_second", _numbers(0, 60)),
    "BYMINUTE": ("by_minute", _numbers(0, 59)),
    "BYHOUR": ("by_hour", _numbers(0, 23)),
    "BYDAY": ("by_day", _days),
    "BYMONTHDAY": ("by_month_day", _numbers(1, 31, signed=True)),
    "BYYEARDAY": ("by_year_day", _numbers(1, 366, signed=True)),
    "BYWEEKNO": ("by_week", _numbers(1, 53, signed=True)),
    "BYMONTH": ("by_month", _numbers(1, 12)),
    "BYSETPOS": ("by_position", _numbers(1, 366, signed=True)),
    "WKST": ("week_start", _choice({day: index for index, day in enumerate(WEEKDAYS)})),
}

_BY_PARTS = tuple(field for field, _ in _PARTS.values() if field.startswith("by_") and field != "by_position")


# The rule parts that RFC 5545 ignores if the start is a date (3.3.10).
_TIME_PARTS = ("by_second", "by_minute", "by_hour")


def _rule(text: str, parameters: Mapping[str, str], start: Start) -> list[Rule]:
    if parameters:
        raise ValueError("RRULE and EXRULE must not have parameters before the colon")
    values: dict[str, Any] = {}
    for part in text.split(";"):
        name, equals, value = part.partition("=")
        if not equals or name.upper() not in _PARTS:
            raise ValueError(f"{part[:30]!r} is not a rule part; the rule parts are {', '.join(_PARTS)}")
        field, read = _PARTS[name.upper()]
        if field in values:
            raise ValueError(f"{name.upper()} occurs twice")
        try:
            values[field] = read(value)
        except ValueError as error:
            raise ValueError(f"{name.upper()}: {error}") from None
    if "freq" not in values:
        raise ValueError("FREQ is missing")
    if is_all_day(start):
        values = {field: value for field, value in values.items() if field not in _TIME_PARTS}
    rule = Rule(**values)
    for is_wrong, message in _FORBIDDEN:
        if is_wrong(rule, start):
            raise ValueError(message)
    return [rule]


# Tests, with error messages, for combinations of rule parts that RFC 5545 forbids or leaves undefined.
_FORBIDDEN: tuple[tuple[Callable[[Rule, Start], bool], str], ...] = (
    (lambda rule, _: rule.count is not None and rule.until is not None, "UNTIL and COUNT cannot be used together"),
    (
        lambda rule, start: isinstance(rule.until, datetime) and rule.until.tzinfo is None and not is_all_day(start),
        "UNTIL must be in UTC, such as 20270212T225959Z, or a date",
    ),
    (
        lambda rule, start: rule.freq > Freq.DAILY and is_all_day(start),
        "FREQ of an all-day event must be DAILY, WEEKLY, MONTHLY or YEARLY",
    ),
    (
        lambda rule, _: any(ordinal for ordinal, _ in rule.by_day) and (rule.freq > Freq.MONTHLY or bool(rule.by_week)),
        "BYDAY with a number, such as 2TU, needs FREQ=MONTHLY, or FREQ=YEARLY without BYWEEKNO",
    ),
    (
        lambda rule, _: bool(rule.by_month_day) and rule.freq is Freq.WEEKLY,
        "BYMONTHDAY cannot be used with FREQ=WEEKLY",
    ),
    (
        lambda rule, _: bool(rule.by_year_day) and rule.freq in (Freq.MONTHLY, Freq.WEEKLY, Freq.DAILY),
        "BYYEARDAY cannot be used with FREQ=MONTHLY, WEEKLY or DAILY",
    ),
    (lambda rule, _: bool(rule.by_week) and rule.freq is not Freq.YEARLY, "BYWEEKNO can be used only with FREQ=YEARLY"),
    (
        lambda rule, _: bool(rule.by_position) and not any(getattr(rule, field) for field in _BY_PARTS),
        "BYSETPOS needs another rule part that begins with BY",
    ),
)


# -- RDATE, EXDATE ---------------------------------------------------------------------------------------------------

_TYPES = ("DATE", "DATE-TIME", "PERIOD")
# The allowed days, which are valid in every time zone.
_FIRST_DAY, _LAST_DAY = date(3, 1, 1).toordinal(), date(9997, 12, 31).toordinal()


def _rdates(text: str, parameters: Mapping[str, str], start: Start) -> list[RDate]:
    value_type, tz = _value_type(parameters, start)
    named, parts = "TZID" in parameters, text.split(",")
    if value_type == "PERIOD":
        return [_period(part, tz, named=named) for part in parts]
    return [RDate(_moment(part, value_type, tz, named=named)) for part in parts]


def _exdates(text: str, parameters: Mapping[str, str], start: Start) -> list[Start]:
    value_type, tz = _value_type(parameters, start)
    if value_type == "PERIOD":
        raise ValueError("EXDATE must have dates or date-times, not periods")
    return [_moment(part, value_type, tz, named="TZID" in parameters) for part in text.split(",")]


def _value_type(parameters: Mapping[str, str], start: Start) -> tuple[str, tzinfo | None]:
    """Return a line's value type and default time zone. Raises ValueError if the type does not fit the start."""
    if unknown := sorted(set(parameters) - {"VALUE", "TZID"}):
        raise ValueError(f"{unknown[0][:20]} is not a parameter; use VALUE and TZID")
    value_type = parameters.get("VALUE", "DATE" if is_all_day(start) else "DATE-TIME").upper()
    if value_type not in _TYPES:
        raise ValueError(f"VALUE is {value_type[:20]}; it must be one of {', '.join(_TYPES)}")
    if (value_type == "DATE") != is_all_day(start):
        fit = "dates (VALUE=DATE:20270212)" if is_all_day(start) else "date-times (20270212T090000)"
        raise ValueError(f"the event {'lasts all day' if is_all_day(start) else 'has a start time'}: write {fit}")
    zone_name = parameters.get("TZID")
    return value_type, zone(zone_name) if zone_name is not None else getattr(start, "tzinfo", None)


def _moment(text: str, value_type: str, tz: tzinfo | None, *, named: bool) -> Start:
    moment = read_moment(text)
    if isinstance(moment, datetime) != (value_type != "DATE"):
        raise ValueError(f"{text[:30]!r} is not a {value_type}")
    if not _FIRST_DAY <= moment.toordinal() <= _LAST_DAY:
        raise ValueError(f"{text[:30]!r} is outside the years 0003 to 9997")
    if named and text.endswith("Z"):
        raise ValueError(f"{text[:30]!r} ends with Z, which means UTC: leave out either TZID or the Z")
    return moment.replace(tzinfo=tz) if isinstance(moment, datetime) and moment.tzinfo is None else moment


def _period(text: str, tz: tzinfo | None, *, named: bool) -> RDate:
    """Parse a period, such as 20270212T090000Z/20270212T100000Z or .../PT1H. Raises ValueError if invalid."""
    first, slash, second = text.partition("/")
    start = _moment(first, "PERIOD", tz, named=named)
    if not slash:
        raise ValueError(f"{text[:40]!r} is not a period such as 20270212T090000Z/PT1H")
    length = parse_duration(second) if second[:1] in ("P", "p") else _moment(second, "PERIOD", tz, named=named) - start
    if length <= timedelta(0):
        raise ValueError(f"{text[:40]!r}: a period must end after its start")
    if start.toordinal() + length.days > _LAST_DAY:
        raise ValueError(f"{text[:40]!r} ends outside the years 0003 to 9997")
    return RDate(start, length)


# The parser of each recurrence line by line name, in the order of the fields of `Recurrence`.
_READERS: Mapping[str, Callable[[str, Mapping[str, str], Start], list[Any]]] = {
    "RRULE": _rule,
    "EXRULE": _rule,
    "RDATE": _rdates,
    "EXDATE": _exdates,
}


class WorkExceeded(Exception):
    """The work took more steps than its budget allows."""


class WorkBudget:
    """Counts the steps of a computation, and raises WorkExceeded after `limit` steps. None means no limit.

    >>> work = WorkBudget(2)
    >>> work.spend(2)
    >>> work.spend()
    Traceback (most recent call last):
        ...
    svc_notebooks.core.events.rrule.WorkExceeded: the work needs more than 2 steps
    """

    __slots__ = ("_limit", "done")

    def __init__(self, limit: int | None = None) -> None:
        self._limit = limit
        self.done = 0

    def renew(self) -> None:
        """Begin to count from 0 again."""
        self.done = 0

    def spend(self, steps: int = 1) -> None:
        """Add steps to the total. Raises WorkExceeded if the total is larger than the limit."""
        self.done += steps
        if self._limit is not None and self.done > self._limit:
            raise WorkExceeded(f"the work needs more than {self._limit} steps")
