"""Compares our expansion with the instances that the tests of six other libraries expect.

Each row of `recurrence_vectors.json` has the names of the libraries (dateutil, rrule.js, rust-rrule, libical, ical4j
and sabre/vobject), the start, its time zone, the recurrence lines, and the expected instances. "..." means that more
instances follow.
The libraries leave out a start that its rule does not match. The interface keeps it as the first instance, and COUNT
counts it. `REFUSED` has the reasons to refuse a rule, and `DIFFERENT` the rows whose instances are others here.
"""

import json
import re
from datetime import UTC, date, datetime
from itertools import islice
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from svc_notebooks.core.events.instances import occurrences
from svc_notebooks.core.events.rrule import Recurrence, RecurrenceError, Start

pytestmark = pytest.mark.spec("E-12", "E-12a")

Row = tuple[str, str, str, list[str], list[str]]
VECTORS: list[Row] = [
    tuple(row) for row in json.loads(Path(__file__).with_name("recurrence_vectors.json").read_text(encoding="utf-8"))
]

REFUSED = {  # RFC 5545, 3.3.10: a pattern of a recurrence line, and what the message says
    r"FREQ=(?!YEARLY).*BYWEEKNO": "BYWEEKNO can be used only with FREQ=YEARLY",
    r"FREQ=(MONTHLY|WEEKLY|DAILY).*BYYEARDAY": "BYYEARDAY cannot be used with FREQ=MONTHLY, WEEKLY or DAILY",
    r"FREQ=WEEKLY.*BYMONTHDAY": "BYMONTHDAY cannot be used with FREQ=WEEKLY",
    r"FREQ=(?!YEARLY|MONTHLY).*BYDAY=[-+]?\d": "BYDAY with a number, such as 2TU, needs FREQ=MONTHLY",
    r"COUNT=.*UNTIL=|UNTIL=.*COUNT=": "UNTIL and COUNT cannot be used together",
    r"UNTIL=\d+T\d+(;|$)": "UNTIL must be in UTC",
    r"RRULE:(?!.*BY(?!SETPOS)).*BYSETPOS=": "BYSETPOS needs another rule part that begins with BY",
    r";$": "'' is not a rule part",
}

BYWEEKNO_ALONE = "RFC 5545 does not say which day BYWEEKNO without BYDAY means: the start's (as in libical, ical4j)"
YEARS_OF_WEEKS = "libical counts INTERVAL in years of whole weeks"
DIFFERENT = {
    "19970902T090000 FREQ=YEARLY;COUNT=3;BYWEEKNO=20": BYWEEKNO_ALONE,
    "19970902T090000 FREQ=YEARLY;COUNT=3;BYHOUR=9;BYWEEKNO=20;BYMINUTE=0;BYSECOND=0": BYWEEKNO_ALONE,
    "20240229 FREQ=YEARLY;BYMONTHDAY=29;COUNT=3": "libical adds BYMONTH=2; RFC 5545: in each month",
    "20240201 FREQ=YEARLY;BYMONTHDAY=-29,-1;COUNT=4": "libical adds BYMONTH=2; RFC 5545: in each month",
    "20010101T145311 FREQ=YEARLY;COUNT=8;BYYEARDAY=-366": "sabre expands it also in years of 365 days",
    "20110902T000000 FREQ=YEARLY;BYWEEKNO=-20;BYDAY=TU,FR": "sabre counts -20 from week 53 in years of 52 weeks",
    "20100102T000000 FREQ=YEARLY;BYWEEKNO=53;BYDAY=TU,SA;INTERVAL=6;UNTIL=20170101T000000Z": YEARS_OF_WEEKS,
    "20100102T000000 FREQ=YEARLY;BYWEEKNO=53;BYDAY=TU,SA;INTERVAL=5;UNTIL=20170101T000000Z": YEARS_OF_WEEKS,
    "20241231 FREQ=YEARLY;BYWEEKNO=1;BYDAY=MO,TU;INTERVAL=3;UNTIL=20320101": YEARS_OF_WEEKS,
}


def name_of(row: Row) -> str:
    return f"{row[1]} {' '.join(row[3]).removeprefix('RRULE:')}"


def start_of(text: str, zone: str) -> Start:
    if "T" not in text:
        return date.fromisoformat(text)
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone) if zone else UTC)


def instances_of(recurrence: Recurrence, start: Start, limit: int) -> list[str]:
    pattern = "%Y%m%dT%H%M%S" if isinstance(start, datetime) else "%Y%m%d"
    return [f"{instance.start:{pattern}}" for instance in islice(occurrences(recurrence, start, start), limit)]


def is_same(instances: list[str], row: Row) -> bool:
    """Return whether the instances are the expected ones, after a start that the rule does not match."""
    _, start, _, lines, expected = row
    text = " ".join(lines)
    ends = expected[-1:] != ["..."] and ("COUNT" in text or "UNTIL" in text)
    expected = [moment for moment in expected if moment != "..."]
    if expected[:1] != [start] and "EXDATE" not in text:
        expected = [start, *expected]
        if "COUNT" in text:
            return ends and instances == expected[: len(instances)] and len(instances) == max(1, len(expected) - 1)
    return (instances if ends else instances[: len(expected)]) == expected


@pytest.mark.parametrize("row", VECTORS, ids=name_of)
def test_the_instances_are_those_that_other_libraries_expect(row):
    _, text, zone, lines, expected = row
    start = start_of(text, zone)
    reasons = [reason for pattern, reason in REFUSED.items() if any(re.search(pattern, line) for line in lines)]
    if reasons:
        with pytest.raises(RecurrenceError, match="|".join(map(re.escape, reasons))):
            Recurrence.parse(lines, start)
        return

    instances = instances_of(Recurrence.parse(lines, start), start, len(expected) + 2)

    assert is_same(instances, row) == (name_of(row) not in DIFFERENT), instances
