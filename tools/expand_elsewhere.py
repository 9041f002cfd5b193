"""Expands calendars with recurring-ical-events, whose results the tests compare with the expansion of this project.

The library needs an older dateutil than this project, so it runs in its own environment:

    uv run --no-project --with recurring-ical-events==3.8.2 tools/expand_elsewhere.py tests/unit/calendars/*.ics \\
        > tests/unit/calendars/expanded.json

A calendar that the library refuses is null.
"""

from __future__ import annotations

import json
import sys
from datetime import UTC, date, datetime
from pathlib import Path

import icalendar
import recurring_ical_events

FIRST, BEHIND = date(2018, 1, 1), date(2028, 1, 1)


def expanded(path: Path) -> list[list[str]] | None:
    """Return UID, start and end (dates, UTC instants, or local times) of all instances in a calendar file."""
    calendar = icalendar.Calendar.from_ical(path.read_bytes())
    try:
        instances = recurring_ical_events.of(calendar).between(FIRST, BEHIND)
    except ValueError:
        return None
    return sorted(
        [str(instance["UID"]), _text(instance["DTSTART"].dt), _text(instance["DTEND"].dt)] for instance in instances
    )


def _text(moment: date) -> str:
    aware = isinstance(moment, datetime) and moment.tzinfo is not None
    return (moment.astimezone(UTC) if aware else moment).isoformat()


if __name__ == "__main__":
    answers = {path.stem: expanded(path) for path in map(Path, sorted(sys.argv[1:]))}
    lines = (f"{json.dumps(name)}: {json.dumps(instances)}" for name, instances in answers.items())
    print("{\n" + ",\n".join(lines) + "\n}")
