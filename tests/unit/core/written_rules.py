"""Hypothesis strategies for recurrences as people and programs write them, with every frequency and part."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from hypothesis import strategies as st

from svc_notebooks.core.events.series_starts import DAY, SeriesStarts
from svc_notebooks.core.times import to_millis

ZONES = (
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",  # summer time is half an hour
    "Asia/Kathmandu",  # 5:45, no summer time
    "America/St_Johns",
    "America/Nuuk",  # an hour is left out before midnight, so that what is skipped comes on the next day
    "Africa/Casablanca",  # winter time for Ramadan
    "UTC",
)

CLOCK_CHANGES = [date(2026, 2, 15), date(2026, 3, 8), date(2026, 3, 22), date(2026, 3, 29), date(2026, 4, 5)]
CLOCK_CHANGES += [date(2026, 10, 4), date(2026, 10, 25), date(2026, 11, 1)]

DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")

OF_A_DAY = ("BYHOUR", "BYMINUTE", "BYSECOND")

# The parts that RFC 5545 (3.3.10) allows with each frequency; not those of days for SECONDLY, where
# dateutil tries each second until such a day comes.
PARTS = {
    "YEARLY": ("BYMONTH", "BYWEEKNO", "BYYEARDAY", "BYMONTHDAY", "BYDAY", *OF_A_DAY),
    "MONTHLY": ("BYMONTH", "BYMONTHDAY", "BYDAY", *OF_A_DAY),
    "WEEKLY": ("BYMONTH", "BYDAY", *OF_A_DAY),
    "DAILY": ("BYMONTH", "BYMONTHDAY", "BYDAY", *OF_A_DAY),
    "HOURLY": ("BYMONTH", "BYYEARDAY", "BYMONTHDAY", "BYDAY", *OF_A_DAY),
    "MINUTELY": ("BYMONTH", "BYYEARDAY", "BYMONTHDAY", "BYDAY", *OF_A_DAY),
    "SECONDLY": OF_A_DAY,
}

# How far from the start it is worth to look.
REACH = {
    "YEARLY": timedelta(days=4000),
    "MONTHLY": timedelta(days=1000),
    "WEEKLY": timedelta(days=500),
    "DAILY": timedelta(days=300),
    "HOURLY": timedelta(days=12),
    "MINUTELY": timedelta(hours=18),
    "SECONDLY": timedelta(minutes=15),
}

# Parts of that reach: when a window begins, how long it is, and when UNTIL comes.
BEGINS = (-0.1, 0, 0.01, 0.2, 0.5, 1)
LENGTHS = (0.3, 0.5, 0.8, 0.01)
ENDS = (0.4, 0.8, 0.05, 1.3, 0)

LARGEST = {"BYMONTH": 12, "BYWEEKNO": 53, "BYYEARDAY": 366, "BYMONTHDAY": 31}
LARGEST |= {"BYHOUR": 23, "BYMINUTE": 59, "BYSECOND": 59}
# Of sets as small as an hour's or a minute's only the first and the last are sure to be there: dateutil looks for
# the second one until the year 9999.
POSITIONS = dict.fromkeys(("YEARLY", "MONTHLY", "WEEKLY", "DAILY"), ("1", "-1", "2,-2", "1,3"))

# The first weeks of a year, -52 and -53, are left out: some of their days lie in the year before, where dateutil looks
# for week 1 only under that name.
FROM_THE_END = {"BYWEEKNO": -51, "BYYEARDAY": -366, "BYMONTHDAY": -31}

Start = date | datetime


@dataclass(frozen=True, slots=True)
class Series:
    start: Start
    length: timedelta
    lines: tuple[str, ...]
    after: datetime
    before: datetime

    @property
    def end(self) -> Start:
        """The end of the first instance, exactly its duration later."""
        if isinstance(self.start, datetime):
            return (self.start.astimezone(UTC) + self.length).astimezone(self.start.tzinfo)
        return self.start + self.length

    @property
    def all_day(self) -> bool:
        return not isinstance(self.start, datetime)


def values_of(start: Start) -> dict[str, int]:
    day = start.timetuple()
    clock = start.time() if isinstance(start, datetime) else time()
    return {
        "BYMONTH": start.month,
        "BYWEEKNO": start.isocalendar().week,
        "BYYEARDAY": day.tm_yday,
        "BYMONTHDAY": start.day,
        "BYHOUR": clock.hour,
        "BYMINUTE": clock.minute,
        "BYSECOND": clock.second,
    }


SECONDS = st.times().map(lambda clock: clock.replace(microsecond=0))


@st.composite
def starts(draw: st.DrawFn, *, all_day: bool) -> Start:
    """Draw a date, or a time in a zone, often on the eve of a change of clocks.

    A time that the clock skips is said as the clock shows it, as the service reads it.
    """
    eve = st.sampled_from(CLOCK_CHANGES).map(lambda change: change - timedelta(days=1))
    day = draw(st.dates(date(2015, 1, 1), date(2028, 12, 31)) | eve)
    if all_day:
        return day
    clock = draw(st.sampled_from([time(9), time(2, 30), time(0), time(23, 59, 59)]) | SECONDS)
    zone = ZoneInfo(draw(st.sampled_from(ZONES)))
    return datetime.combine(day, clock, zone).astimezone(UTC).astimezone(zone)


@st.composite
def weekdays(draw: st.DrawFn, frequency: str, parts: set[str], start: Start) -> str:
    """Draw BYDAY, with ordinals only where RFC 5545 defines them."""
    ordinals = frequency in {"YEARLY", "MONTHLY"} and "BYWEEKNO" not in parts
    most = 5 if frequency == "MONTHLY" or "BYMONTH" in parts else 53
    ordinal = st.sampled_from([str(n) for n in (*range(-most, 0), *range(1, most + 1))])
    day = st.just(DAYS[start.weekday()]) | st.sampled_from(DAYS)
    part = st.tuples(st.just("") | ordinal, day).map("".join) if ordinals else day
    return ",".join(draw(st.lists(part, min_size=1, max_size=4, unique=True)))


@st.composite
def numbers(draw: st.DrawFn, part: str, start: Start) -> str:
    least = 1 if part in FROM_THE_END or part == "BYMONTH" else 0
    drawn = st.integers(least, LARGEST[part])
    if part in FROM_THE_END:
        drawn = drawn | st.integers(FROM_THE_END[part], -1)
    some = draw(st.lists(drawn, min_size=1, max_size=4, unique=True))
    own = draw(st.sampled_from([[values_of(start)[part]], []]))
    return ",".join(map(str, dict.fromkeys(own + some)))


@st.composite
def rules(draw: st.DrawFn, frequency: str, start: Start) -> str:
    allowed = [part for part in PARTS[frequency] if isinstance(start, datetime) or part not in OF_A_DAY]
    parts = set(draw(st.lists(st.sampled_from(allowed), max_size=4)))
    values = {"FREQ": frequency, "INTERVAL": draw(st.sampled_from(["", "1", "2", "3", "5", "12"]))}
    for part in sorted(parts):
        values[part] = draw(weekdays(frequency, parts, start) if part == "BYDAY" else numbers(part, start))
    if parts:
        values["BYSETPOS"] = draw(st.sampled_from(["", "", *POSITIONS.get(frequency, ("1", "-1"))]))
    values["WKST"] = draw(st.sampled_from(["", *DAYS]))
    values |= draw(ends(frequency, start))
    return ";".join(f"{name}={value}" for name, value in values.items() if value)


@st.composite
def ends(draw: st.DrawFn, frequency: str, start: Start) -> dict[str, str]:
    """Draw no end, COUNT, or UNTIL as RFC 5545 requires it: a date for a date, otherwise a time in UTC."""
    kind = draw(st.sampled_from(["", "COUNT", "UNTIL"]))
    if kind == "COUNT":
        return {kind: str(draw(st.integers(1, 40)))}
    if kind == "":
        return {}
    later = draw(st.sampled_from(ENDS)) * REACH[frequency]
    is_timed = isinstance(start, datetime)
    return {kind: f"{start.astimezone(UTC) + later:%Y%m%dT%H%M%SZ}" if is_timed else f"{start + later:%Y%m%d}"}


@st.composite
def series(draw: st.DrawFn, frequency: str, *, all_day: bool) -> Series:
    """Draw an RRULE and a window before, over or beyond it."""
    start = draw(starts(all_day=all_day))
    line = f"RRULE:{draw(rules(frequency, start))}"
    return Series(start, draw(_lengths(all_day)), (line,), *draw(windows(frequency, start)))


def _lengths(all_day: bool) -> st.SearchStrategy[timedelta]:
    if all_day:
        return st.integers(1, 9).map(lambda days: timedelta(days=days))
    return st.sampled_from([timedelta(minutes=1), timedelta(minutes=90), timedelta(hours=30)])


@st.composite
def windows(draw: st.DrawFn, frequency: str, start: Start) -> tuple[datetime, datetime]:
    """Draw a time from a little before the start to the end of the interesting range."""
    reach = REACH[frequency]
    origin = start if isinstance(start, datetime) else datetime.combine(start, time())
    after = origin.replace(tzinfo=UTC) + draw(st.sampled_from(BEGINS)) * reach
    return after, after + draw(st.sampled_from(LENGTHS)) * reach + timedelta(seconds=1)


@st.composite
def several_lines(draw: st.DrawFn, frequency: str, *, all_day: bool) -> Series:
    """Draw up to two RRULEs, up to two EXRULEs, and single dates to add or remove."""
    start = draw(starts(all_day=all_day))
    plain = rules(frequency, start)
    endless = plain.filter(lambda rule: "COUNT" not in rule)  # what COUNT counts in an EXRULE, nobody says
    lines = [f"RRULE:{rule}" for rule in draw(st.lists(plain, max_size=2))]
    lines += [f"RDATE{draw(moments(frequency, start))}" for _ in range(draw(st.integers(0, 1)))]
    lines += [f"EXRULE:{rule}" for rule in draw(st.lists(endless, max_size=2))]
    lines += [f"EXDATE{draw(moments(frequency, start))}" for _ in range(draw(st.integers(0, 1)))]
    return Series(start, draw(_lengths(all_day)), tuple(lines), *draw(windows(frequency, start)))


@st.composite
def moments(draw: st.DrawFn, frequency: str, start: Start) -> str:
    """Draw the value of RDATE or EXDATE, with times that a rule may match as well."""
    steps = draw(st.lists(st.integers(-2, 20), min_size=1, max_size=4))
    if not isinstance(start, datetime):
        return ";VALUE=DATE:" + ",".join(f"{start + timedelta(days=n):%Y%m%d}" for n in steps)
    return draw(st.sampled_from(WRITTEN))([start + n * STEPS[frequency] for n in steps])


STEPS = {
    "HOURLY": timedelta(hours=1),
    "MINUTELY": timedelta(minutes=1),
    "SECONDLY": timedelta(seconds=1),
} | dict.fromkeys(("YEARLY", "MONTHLY", "WEEKLY", "DAILY"), timedelta(days=1))

TOKYO = ZoneInfo("Asia/Tokyo")

WRITTEN: tuple[Callable[[list[datetime]], str], ...] = (
    lambda moments: ":" + ",".join(f"{moment.astimezone(UTC):%Y%m%dT%H%M%SZ}" for moment in moments),
    lambda moments: ":" + ",".join(f"{moment:%Y%m%dT%H%M%S}" for moment in moments),
    lambda moments: ";TZID=Asia/Tokyo:" + ",".join(f"{moment.astimezone(TOKYO):%Y%m%dT%H%M%S}" for moment in moments),
)


def simple_starts(recurrence, start, length, *, after=None, before=None) -> Iterator[int] | None:
    """Return the starts of a simple series in Unix milliseconds, or None for another series.

    Only those of instances that overlap the window, from 64 days at a time.
    """
    series = SeriesStarts.of(recurrence, start, length)
    if series is None:
        return None
    low = series.begin if after is None else to_millis(after) - length // timedelta(milliseconds=1) + 1
    at, high = max(low, series.begin), series.stop if before is None else min(to_millis(before), series.stop)
    return (moment for day in range(at, high, 64 * DAY) for moment in series.between(day, min(high, day + 64 * DAY)))
