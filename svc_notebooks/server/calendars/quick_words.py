"""Reads an event in one line of English words, such as "Lunch with Bob at Mario's tomorrow 12:30-13:30".

The grammar is small and closed:

    words  = summary [ "at" place ] when
    when   = [ "on" ] ( day | series ) [ times ] | times [ [ "on" ] ( day | series ) ]
    day    = "today" | "tomorrow" | weekday | yyyy-mm-dd | month number [ year ] | number month [ year ]
    series = words of recurrence_words.py with "every", "weekly" and so on [ "starting" [ "on" ] day ]
    times  = [ "at" | "from" ] time [ ( "-" | "to" | "until" ) time ] [ "for" number ( "hours" | "minutes" ) ]
    time   = hh:mm | hour "am" | hour "pm" | "noon" | "midnight"

A weekday, and a date without a year, is the next such day. An event without times lasts a day, an event without an end
an hour. The words of `when` cannot be part of the summary, except as its first word.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta

from ...core.events.instances import occurrences
from ...core.events.recurrence_words import recurrence_lines, weekdays, year_days
from ...core.events.rrule import WEEKDAYS, Recurrence, Start
from ...core.http.messages import JSONObject
from ...core.time_arguments import parse_duration

_HOUR = timedelta(hours=1)
_MAX_LENGTH = 1000
_TIME = r"(?:\d{1,2}:\d{2} ?(?:am|pm)?|\d{1,2} ?(?:am|pm)|noon|midnight)"
_LENGTH = r"\d+(?:\.\d+)? ?(?:hours?|hrs?|h|minutes?|mins?)(?: ?\d+ ?(?:minutes?|mins?))?"
_TIMES = re.compile(
    rf"(?<![\w:-])(?:(?:at|from) )?(?P<begin>{_TIME}|\d{{1,2}}(?= ?(?:-|\u2013|to) ?\d{{1,2}}(?::\d\d)? ?[ap]m))"
    rf"(?: ?(?:-|\u2013| to | until ) ?(?P<end>{_TIME}))?(?P<for> for (?P<length>{_LENGTH}))?(?![\w:-])"
)
_DAYS_AHEAD = {"today": 0, "tomorrow": 1}
_REPEATING = re.compile(
    r"\b(?:every|each|daily|weekly|bi-?weekly|fortnightly|monthly|quarterly|yearly|annually|weekdays|weekends"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days)\b"
)
_RESERVED = re.compile(
    rf"(?:{_REPEATING.pattern}|\b(?:today|tomorrow|tonight|next|until|except|starting)\b"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b\d+(?:st|nd|rd|th)\b|\b\d{4}-\d{2}-\d{2}\b"
    rf"|\b(?:{_TIME})(?!\w))"
)
_DANGLING = re.compile(r".*\b(?:at|by|for|from|in|of|on|the|to|and|or|first|second|third|fourth|fifth|last)")
_STARTING = re.compile(r"(?P<series>.+?),? (?:starting|beginning)(?: on)? (?P<day>.+)")

GRAMMAR = (
    "write a title and then the time, for example 'Lunch with Bob tomorrow 12:30-13:30', "
    "'Dentist at Main Street on June 3rd 10am', 'Standup every weekday 9:00 for 15 min' or 'Holiday 2026-12-24'"
)


def quick_event(words: str, now: datetime) -> JSONObject:
    """Return the fields of the event that one line of words describes.

    `now` is the current time in the time zone of the event, which has an IANA name. Raises ValueError with the grammar
    for other words.

    >>> from zoneinfo import ZoneInfo
    >>> quick_event("Standup every weekday 9:00", datetime(2026, 11, 1, 12, tzinfo=ZoneInfo("Europe/Berlin")))["start"]
    {'dateTime': '2026-11-02T09:00:00', 'timeZone': 'Europe/Berlin'}
    """
    text = " ".join(words.split())
    if len(text) > _MAX_LENGTH:
        raise ValueError(f"the text has more than {_MAX_LENGTH} characters; {GRAMMAR}")
    starts = [match.end() for match in re.finditer(r" ", text)]
    problem = ""
    for position in starts:
        title, when = text[: position - 1].rstrip(","), text[position:].lower()
        if _RESERVED.search(title.lower().partition(" ")[2]):
            break  # a part of the time would become a part of the title
        try:
            fields = _times_of(when, now)
        except ValueError as error:
            if _REPEATING.match(when) or "recurrence" not in str(error):
                problem = problem or f"{error}; "
            continue
        if fields and not _DANGLING.fullmatch(title.lower()):
            summary, at, place = title.rpartition(" at ")
            return {"summary": summary, "location": place, **fields} if at else {"summary": title, **fields}
    raise ValueError(f"cannot read {words[:80]!r} as an event: {problem}{GRAMMAR}")


def _times_of(when: str, now: datetime) -> JSONObject:
    """Return start, end and recurrence of an event. Returns an empty dict, or raises ValueError, for other words."""
    match = _TIMES.search(when)
    rest = " ".join((when[: match.start()] + when[match.end() :] if match else when).replace(" ,", ",").split())
    rest = rest.strip(" ,").removeprefix("on ").strip(" ,")
    begin, length = _clock_times(match) if match else (None, timedelta(days=1))
    today = now.date()
    is_over = begin is not None and begin <= now.time()
    if not rest and begin is None:
        return {}
    day = _day(rest, today, is_over=is_over) if rest else today + timedelta(days=is_over)
    if day is not None:
        return _fields(day, begin, length, now)
    if not _REPEATING.search(rest):
        return {}
    starting = _STARTING.fullmatch(rest)
    series, base = (starting["series"], _day(starting["day"], today)) if starting else (rest, today)
    if base is None:
        return {}
    first = _first_day(series, base if starting else base + timedelta(days=is_over))
    fields = _fields(first, begin, length, now)
    fields["recurrence"] = [*recurrence_lines(series, _moment(first, begin, now))]
    return fields


def _fields(day: date, begin: time | None, length: timedelta, now: datetime) -> JSONObject:
    start = _moment(day, begin, now)
    zone = str(now.tzinfo)
    if not isinstance(start, datetime):
        return {"start": {"date": day.isoformat()}, "end": {"date": (day + length).isoformat()}}
    end = start.replace(tzinfo=None) + length
    return {
        "start": {"dateTime": start.replace(tzinfo=None).isoformat(), "timeZone": zone},
        "end": {"dateTime": end.isoformat(), "timeZone": zone},
    }


def _moment(day: date, begin: time | None, now: datetime) -> Start:
    return day if begin is None else datetime.combine(day, begin, now.tzinfo)


def _clock_times(match: re.Match[str]) -> tuple[time, timedelta]:
    """Return the time of day at which an event begins, and its length. Raises ValueError if the times contradict."""
    begin, end = match["begin"], match["end"]
    if begin.isdigit():  # the "3" of "3-4pm"
        begin += str(end)[-2:]
    start = _clock(begin)
    if match["length"]:
        if end:
            raise ValueError(f"{match[0].strip()!r} has an end and a length; leave out one of them")
        return start, parse_duration(match["length"])
    if not end:
        return start, _HOUR
    length = datetime.combine(date.min, _clock(end)) - datetime.combine(date.min, start)
    if length <= timedelta(0):
        raise ValueError(f"{match[0].strip()!r} does not end after its begin")
    return start, length


def _clock(text: str) -> time:
    """Return a time of day such as "10:30", "10am" or "noon". Raises ValueError for an impossible time."""
    if text in ("noon", "midnight"):
        return time(12 if text == "noon" else 0)
    match = re.fullmatch(r"(\d{1,2})(?::(\d{2}))? ?(am|pm)?", text)
    hour, minute = (int(match[1]), int(match[2] or 0)) if match else (24, 0)
    if match and match[3]:
        hour = hour % 12 + (12 if match[3] == "pm" else 0) if 1 <= hour <= 12 else 24
    try:
        return time(hour, minute)
    except ValueError:
        raise ValueError(f"{text!r} is not a time of day such as 10:30 or 10am") from None


def _day(text: str, today: date, *, is_over: bool = False) -> date | None:
    """Return the day that a text names, or None for another text. `is_over` excludes today from weekdays and dates."""
    if text in _DAYS_AHEAD:
        return today + timedelta(days=_DAYS_AHEAD[text])
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
        return date.fromisoformat(text)
    return _named_day(text, today + timedelta(days=is_over))


def _named_day(text: str, first: date) -> date | None:
    """Return the next day from `first` on that is a weekday or a date of a year, or None for another text."""
    if re.fullmatch(r"[a-z]+", text) and (code := weekdays(text)) in WEEKDAYS and not text.endswith("days"):
        return first + timedelta(days=(WEEKDAYS.index(code) - first.weekday()) % 7)
    match = re.fullmatch(r"(.+?),?(?: (\d{4}))?", text)
    parts = re.fullmatch(r"BYMONTH=(\d+);BYMONTHDAY=(\d+)", ";".join(year_days(match[1]))) if match else None
    if match is None or parts is None:
        return None
    month, day = int(parts[1]), int(parts[2])
    if match[2]:
        return date(int(match[2]), month, day)
    rule = Recurrence.parse([f"RRULE:FREQ=YEARLY;BYMONTH={month};BYMONTHDAY={day}"], first)
    return _first_match(rule, first)


def _first_day(series: str, base: date) -> date:
    """Return the first day from `base` on that a recurrence contains."""
    rule = recurrence_lines(series, base)[0]
    if "BY" not in rule:
        return base
    return _first_match(Recurrence.parse([re.sub(r";(?:INTERVAL|COUNT|UNTIL)=[^;]*", "", rule)], base), base)


def _first_match(recurrence: Recurrence, base: date) -> date:
    """Return the first day from `base` on that an endless recurrence contains."""
    before = base - timedelta(days=1)  # the start of a series is always an instance
    return next(day.start for day in occurrences(recurrence, before, base) if day.start >= base)
