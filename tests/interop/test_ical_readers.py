"""ical.js and khal find the instances in an exported .ics file that the service has.

vobject and dateutil read the files in tests/unit/client.
"""

import json
import os
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from svc_notebooks.client.events.ical import calendar_file
from svc_notebooks.core.events.event_times import read_time
from svc_notebooks.core.events.instances import occurrences
from svc_notebooks.core.events.rrule import Recurrence

SCRIPT = Path(__file__).with_name("instances.cjs")
BUILD = Path(__file__).parents[2] / "build"  # in which `make peers` installs ical.js and khal


@cache
def _node_path() -> str | None:
    """Return the folders in which node finds ical.js, or None if this machine has no node or no ical.js."""
    if (node := shutil.which("node")) is None:
        return None
    folders = os.pathsep.join(filter(None, (os.environ.get("NODE_PATH"), str(BUILD / "ical.js" / "node_modules"))))
    resolve = [node, "-e", "require.resolve('ical.js')"]
    is_missing = subprocess.run(resolve, env={**os.environ, "NODE_PATH": folders}, capture_output=True).returncode
    return None if is_missing else folders


def _event(zone: str, start: str, *lines: str) -> dict[str, Any]:
    hours = {"start": 12, "end": 13}
    times = {name: {"dateTime": f"{start}T{hour}:00:00", "timeZone": zone} for name, hour in hours.items()}
    return {"id": "series", "iCalUID": "series@svc.example", "summary": "Series", **times, "recurrence": [*lines]}


def _instants(event: dict[str, Any], most: int = 400) -> list[int]:
    start, end = read_time(event["start"]), read_time(event["end"])
    instances = occurrences(Recurrence.parse(event["recurrence"], start), start, end)
    return [int(instance.start.timestamp()) for instance in islice(instances, most)]


SERIES = [
    ("Africa/Casablanca", "2024-01-08", ["RRULE:FREQ=WEEKLY"]),
    ("Africa/Cairo", "2023-01-09", ["RRULE:FREQ=WEEKLY"]),
    ("Asia/Gaza", "2024-01-08", ["RRULE:FREQ=WEEKLY"]),
    ("America/New_York", "2005-01-10", ["RRULE:FREQ=WEEKLY"]),
    ("America/Recife", "2000-09-04", ["RRULE:FREQ=DAILY;COUNT=90"]),
    ("Europe/Berlin", "2024-01-08", ["RRULE:FREQ=DAILY;COUNT=300", "EXRULE:FREQ=WEEKLY;COUNT=30"]),
    ("Australia/Lord_Howe", "2024-01-08", ["RRULE:FREQ=MONTHLY;BYDAY=-1FR;COUNT=20"]),
]


@pytest.mark.parametrize("zone, start, lines", SERIES, ids=[zone for zone, *_ in SERIES])
def test_ical_js_finds_the_instances_of_the_service(zone, start, lines):
    event = _event(zone, start, *lines)
    if (folders := _node_path()) is None:
        pytest.skip("ical.js is not installed; make peers")

    environment = {**os.environ, "NODE_PATH": folders}
    file = calendar_file([event])
    read = subprocess.run(["node", SCRIPT], input=file, env=environment, capture_output=True, check=True)

    assert json.loads(read.stdout) == _instants(event)


KHAL = """
[calendars]
[[exported]]
path = {folder}/calendar
[locale]
timeformat = %H:%M
dateformat = %Y-%m-%d
longdateformat = %Y-%m-%d
datetimeformat = %Y-%m-%d %H:%M
longdatetimeformat = %Y-%m-%d %H:%M
default_timezone = UTC
local_timezone = UTC
[sqlite]
path = {folder}/khal.db
"""


@pytest.mark.parametrize("zone, start, lines", SERIES, ids=[zone for zone, *_ in SERIES])
def test_khal_finds_the_instances_of_the_service(zone, start, lines, tmp_path):
    """khal has zone data of its own for the names of zones, so only past years are compared."""
    if (khal := shutil.which("khal", path=BUILD / "peers-env" / "bin")) is None:
        pytest.skip("khal is not installed; make peers")
    event = _event(zone, start, *lines)
    (tmp_path / "calendar").mkdir()
    (tmp_path / "calendar" / "series.ics").write_bytes(calendar_file([event]))
    (tmp_path / "config").write_text(KHAL.format(folder=tmp_path), encoding="utf-8")

    command = [khal, "-c", tmp_path / "config", "list", "--format", "{start}", "--day-format", "", start, "360d"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")

    end = datetime.fromisoformat(f"{start}T00:00Z") + timedelta(days=360)
    times = [datetime.fromtimestamp(instant, UTC) for instant in _instants(event)]
    assert [line for line in listed if line] == [f"{time:%Y-%m-%d %H:%M}" for time in times if time < end]
