"""The instances of a series according to dateutil, as the reference for our expansion.

A rule is expanded in naive local time and the zone is attached afterwards: that is what "every day at 9" means to
a person. Two things are for us to add. The start is an instance whatever the rule says of it, and counts as the
first (RFC 5545, 3.3.10). And a time of day that a clock change leaves out is read with the offset before the change
(3.3.5), which may put it behind the next instance, or where another one already is, which is then counted once.

In three places dateutil does not do what RFC 5545 says; there it is asked differently, so that it does:

1. BYWEEKNO without BYDAY is every day of those weeks to dateutil; what a rule does not say is the start's (3.3.10),
   so it is told the start's weekday.
2. Weekdays with and without a number in one BYDAY (`SU,3WE`) must both be fulfilled in dateutil, which no day does;
   each element of the list adds its days, so a weekday without a number is told as all its numbers.
3. BYSETPOS counts in dateutil's first week of a WEEKLY rule only from the start on; the set is the whole week's, so
   dateutil begins with that week, and what lies before the start is left out.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta, tzinfo
from itertools import chain, islice, takewhile
from unittest.mock import patch
from zoneinfo import ZoneInfo

from dateutil.rrule import rrulestr

from tests.unit.core.written_rules import DAYS, Series, Start

Span = tuple[datetime, datetime]


def instances(series: Series) -> list[Span]:
    """Return the start and end in UTC of all instances that overlap the window. A day begins at midnight UTC."""
    starts = {instant(series.start)}
    for line in series.lines:
        named, _, value = line.partition(":")
        name = named.partition(";")[0]
        is_rule = name.endswith("RULE")
        starts_of_line = _by_rule(series, value, counted=name == "RRULE") if is_rule else _listed(series, line)
        starts = starts - set(starts_of_line) if name.startswith("EX") else starts | set(starts_of_line)
    spans = ((start, start + series.length) for start in sorted(starts))
    return [span for span in spans if span[0] < series.before and span[1] > series.after]


def instant(moment: Start) -> datetime:
    return moment.astimezone(UTC) if isinstance(moment, datetime) else datetime.combine(moment, time(), UTC)


def _by_rule(series: Series, rule: str, *, counted: bool) -> Iterator[datetime]:
    parts = dict(part.split("=") for part in rule.split(";"))
    count, until = parts.pop("COUNT", None), parts.pop("UNTIL", None)
    zone = series.start.tzinfo if isinstance(series.start, datetime) else UTC
    moments = _instants(_naive(series, parts, counted=counted), zone)
    last = _moment(until, UTC) if until else series.before
    return takewhile(lambda moment: moment <= last and moment < series.before, islice(moments, count and int(count)))


def _instants(moments: Iterator[datetime], zone: tzinfo) -> Iterator[datetime]:
    """Yield local times as instants, in their order and each once. A time that is left out waits for the next one."""
    waiting: set[datetime] = set()
    for moment in moments:
        instant = moment.replace(tzinfo=zone).astimezone(UTC)
        waiting.add(instant)
        if instant.astimezone(zone).replace(tzinfo=None) == moment:
            yield from sorted(each for each in waiting if each <= instant)
            waiting = {each for each in waiting if each > instant}
    yield from sorted(waiting)


def _naive(series: Series, parts: dict[str, str], *, counted: bool) -> Iterator[datetime]:
    start = datetime.combine(series.start, time()) if series.all_day else series.start.replace(tzinfo=None)
    first = [start] if counted else []
    begin = start
    if parts["FREQ"] == "WEEKLY" and "BYSETPOS" in parts:  # the begin of the week
        begin -= timedelta(days=(start.weekday() - DAYS.index(parts.get("WKST", "MO"))) % 7)
    moments = _dateutil(begin, _in_its_words(parts, start), last_year=series.before.year + 1)
    return chain(first, (moment for moment in moments if moment > start or (moment == start and not first)))


def _in_its_words(parts: dict[str, str], start: datetime) -> dict[str, str]:
    days = parts["BYDAY"].split(",") if "BYDAY" in parts else []
    if not {"BYDAY", "BYMONTHDAY", "BYYEARDAY"} & set(parts) and ("BYWEEKNO" in parts or parts["FREQ"] == "WEEKLY"):
        return {**parts, "BYDAY": DAYS[start.weekday()]}
    if set(days) & set(DAYS) and set(days) - set(DAYS):
        most = 5 if parts["FREQ"] == "MONTHLY" or "BYMONTH" in parts else 53
        numbered = [[f"{n}{day}" for n in range(1, most + 1)] if day in DAYS else [day] for day in days]
        return {**parts, "BYDAY": ",".join(chain(*numbered))}
    return parts


def _dateutil(start: datetime, parts: dict[str, str], *, last_year: int) -> Iterator[datetime]:
    with patch("datetime.MAXYEAR", last_year):  # an empty rule it would try until the year 9999
        try:
            yield from rrulestr(";".join("=".join(part) for part in parts.items()), dtstart=start)
        except ValueError as error:  # some of the rules that nothing fulfils it refuses
            if "empty" not in str(error):
                raise


def _listed(series: Series, line: str) -> list[datetime]:
    """Parse RDATE or EXDATE, whose values are dates, times in UTC, or times in the zone of TZID or of the start."""
    named, _, values = line.partition(":")
    zone = ZoneInfo(named.partition("TZID=")[2]) if "TZID=" in named else getattr(series.start, "tzinfo", UTC)
    return [_moment(value, UTC if value.endswith("Z") else zone) for value in values.split(",")]


def _moment(text: str, zone: tzinfo) -> datetime:
    return datetime.fromisoformat(text.removesuffix("Z")).replace(tzinfo=zone).astimezone(UTC)
