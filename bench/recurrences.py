"""Recurring events: ten years of a course beside dateutil, and one month of it ten years on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from dateutil.rrule import rrulestr

from bench.rounds import alternate, median_of
from bench.table import Row, at_most, compare, microseconds, milliseconds
from svc_notebooks.core.events.instances import occurrences
from svc_notebooks.core.events.rrule import Recurrence

BERLIN = ZoneInfo("Europe/Berlin")
START = datetime(2026, 11, 2, 10, tzinfo=BERLIN)
END = START + timedelta(minutes=90)
LAST = datetime(2036, 11, 2, 10, tzinfo=BERLIN)
MONTH = datetime(2036, 11, 1, tzinfo=BERLIN), datetime(2036, 12, 1, tzinfo=BERLIN)
RULE = "FREQ=WEEKLY;BYDAY=MO,WE,FR"
ROUNDS = 15

Expansion = Callable[[], Sequence[datetime]]


def ten_years() -> Iterator[Row]:
    """All instances from the rule's text, with their ends, beside the starts, which is what dateutil has."""
    theirs: Expansion = lambda: list(rrulestr(f"{RULE};UNTIL={_utc(LAST)}", dtstart=START))  # noqa: E731
    _check_equal(_ten_years, theirs)
    costs = alternate({"ours": median_of(_ten_years, 9), "dateutil": median_of(theirs, 9)}, ROUNDS)
    work = "ten years of WEEKLY;BYDAY=MO,WE,FR"
    yield compare(f"{work}, with ends", costs["ours"], costs["dateutil"], "dateutil", at_most(0.25), milliseconds)


def _ten_years(rule: str = RULE) -> list[datetime]:
    recurrence = Recurrence.parse([f"RRULE:{rule}"], START)
    some = occurrences(recurrence, START, END, before=LAST + timedelta(seconds=1))
    return [occurrence.start for occurrence in some]


def monthly() -> Iterator[Row]:
    """Ten years of the last Friday of the month, whose days differ from month to month."""
    rule = "FREQ=MONTHLY;BYDAY=-1FR"
    ours: Expansion = lambda: _ten_years(rule)  # noqa: E731
    theirs: Expansion = lambda: [START, *rrulestr(f"{rule};UNTIL={_utc(LAST)}", dtstart=START)]  # noqa: E731
    _check_equal(ours, theirs)
    costs = alternate({"ours": median_of(ours, 25), "dateutil": median_of(theirs, 9)}, ROUNDS)
    work = "ten years of MONTHLY;BYDAY=-1FR"
    yield compare(work, costs["ours"], costs["dateutil"], "dateutil", at_most(0.5), milliseconds)


def ten_years_on() -> Iterator[Row]:
    """The instances of one month, which dateutil reaches from the start."""
    after, before = MONTH
    theirs: Expansion = lambda: rrulestr(RULE, dtstart=START).between(after, before)  # noqa: E731
    _check_equal(_one_month, theirs)
    costs = alternate({"ours": median_of(_one_month, 51), "dateutil": median_of(theirs, 9)}, ROUNDS)
    yield compare(
        "one month of it, ten years on", costs["ours"], costs["dateutil"], "dateutil", at_most(0.05), microseconds
    )


def _one_month() -> list[datetime]:
    after, before = MONTH
    recurrence = Recurrence.parse([f"RRULE:{RULE}"], START)
    return [occurrence.start for occurrence in occurrences(recurrence, START, END, after=after, before=before)]


def _check_equal(ours: Expansion, theirs: Expansion) -> None:
    """What is faster and something else is not faster."""
    ours_found, expected = ([start.astimezone(UTC) for start in expansion()] for expansion in (ours, theirs))
    if ours_found != expected or len(ours_found) < 10:
        raise AssertionError(f"{len(ours_found)} instances are not the {len(expected)} of dateutil")


def _utc(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y%m%dT%H%M%SZ}"
