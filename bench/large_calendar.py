"""A calendar of recurring events: the first page of a month, and the whole month beside recurring-ical-events.

`make bench` installs the peer into an environment of its own. All times are processor time, and ours include the JSON.
The peer takes a quarter of the events: it expands each event by itself, so the time of both grows with their number.
"""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any
from zoneinfo import ZoneInfo

import icalendar

from bench.rounds import alternate
from bench.table import Row, at_most, compare, milliseconds, within
from svc_notebooks.core.http.messages import Headers, Request
from svc_notebooks.server.service import Service, open_service

SERIES = 10_000
SERIES_OF_MONTH = 2_500
ROUNDS = 9
PEERS = Path(__file__).parents[1] / "build" / "peers-env" / "bin" / "python"
EVENTS = "http://svc.test/calendar/v3/calendars/primary/events"
MONTH = datetime(2026, 11, 1, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC)
ZONES = ("Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Sydney", "Europe/London")
RULES = (
    *("FREQ=DAILY",) * 4,
    *("FREQ=WEEKLY;BYDAY=MO,WE", "FREQ=WEEKLY;BYDAY=TU,TH,FR", "FREQ=WEEKLY", "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR") * 2,
    *("FREQ=MONTHLY;BYDAY=1MO", "FREQ=MONTHLY;BYDAY=-1FR", "FREQ=MONTHLY;BYDAY=2TU", "FREQ=MONTHLY;BYMONTHDAY=15"),
    *("FREQ=YEARLY", "FREQ=YEARLY;BYMONTH=11;BYDAY=4TH"),
    *("FREQ=DAILY;COUNT=320", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;UNTIL=20271231T235959Z"),
)


def large_calendar() -> Iterator[Row]:
    """Every page is a response of the service with JSON. The peer has parsed its file before."""
    calendar = Calendar(SERIES)
    page = calendar.page(maxResults=250)
    first = [_cpu(lambda: calendar.page(maxResults=250)) for _ in range(5)]
    dumped = [_cpu(lambda: json.dumps(page)) for _ in range(5)]
    work = f"{SERIES:,} recurring events, the first page of a month (CPU time)"
    yield within(work, tuple(first), 1, tuple(dumped), "json.dumps of the page", milliseconds)
    later = [_cpu(calendar.next_page) for _ in range(5)]
    yield compare("the second page of it", tuple(later), tuple(first), "the first page", at_most(0.5), milliseconds)
    if not PEERS.exists():
        return
    calendar = Calendar(SERIES_OF_MONTH)
    with TemporaryDirectory() as folder:
        peer = Peer(Path(folder), SERIES_OF_MONTH)
        _check_equal(calendar.month(), peer.count())
        costs = alternate({"ours": lambda: _cpu(calendar.month), "peer": peer.month}, ROUNDS)
        peer.close()
    work = f"the whole month of {SERIES_OF_MONTH:,} recurring events (CPU time)"
    yield compare(work, costs["ours"], costs["peer"], "recurring-ical-events", at_most(0.5), milliseconds)


def _cpu(work: Callable[[], object]) -> float:
    """Return the seconds of processor time that a piece of work takes."""
    begun = process_time()
    work()
    return process_time() - begun


class Calendar:
    """A service with the events, and the requests for pages of a month."""

    def __init__(self, series: int) -> None:
        self._service: Service = open_service(seed=0)
        self._headers = Headers([("Authorization", f"Bearer {self._service.sign_in()}")])
        self._token = ""
        for body in _bodies(series):
            self._call("POST", "", json.dumps(body).encode())

    def page(self, **parameters: str | int) -> Any:
        """Return a page of the month."""
        begin, end = (f"{moment:%Y-%m-%dT%H:%M:%SZ}" for moment in MONTH)
        window = {"singleEvents": "true", "orderBy": "startTime", "timeMin": begin, "timeMax": end, **parameters}
        query = "&".join(f"{name}={value}" for name, value in window.items())
        page = json.loads(self._call("GET", f"?{query}"))
        self._token = page.get("nextPageToken", "")
        return page

    def next_page(self) -> Any:
        """Return the page after the last one."""
        return self.page(maxResults=250, pageToken=self._token)

    def month(self) -> int:
        """Return the number of instances of the month, in pages of 2,500 without indentation."""
        page = self.page(maxResults=2500)
        total = len(page["items"])
        while self._token:
            total += len(self.page(maxResults=2500, pageToken=self._token)["items"])
        return total

    def _call(self, method: str, target: str, body: bytes = b"") -> bytes:
        response = self._service.handle(Request(method, EVENTS + target, self._headers, body))
        if response.status != 200:
            raise AssertionError(response.content())
        return response.content()


def _bodies(series: int) -> Iterator[dict[str, Any]]:
    draw = random.Random(24)
    for number in range(series):
        zone, rule = draw.choice(ZONES), RULES[number % len(RULES)]
        start = datetime(2026, 1, 1) + timedelta(days=draw.randrange(280), minutes=15 * draw.randrange(28, 80))  # noqa: DTZ001
        end = start + timedelta(minutes=draw.choice((30, 60, 90)))
        times = {"start": start, "end": end}
        body = {name: {"dateTime": time.isoformat(), "timeZone": zone} for name, time in times.items()}
        yield {"id": f"series{number}", "summary": f"Course {number}", "recurrence": [f"RRULE:{rule}"], **body}


class Peer:
    """recurring-ical-events with the same events, in a process of the environment of `make peers`."""

    def __init__(self, folder: Path, series: int) -> None:
        path = folder / "large.ics"
        path.write_bytes(_calendar_file(series))
        script = Path(__file__).with_name("recurring_peer.py")
        command = [PEERS, script, path, *(moment.isoformat() for moment in MONTH)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def month(self) -> float:
        """Expand the month and return the seconds, which do not include the reading of the file."""
        return float(self._expand()["seconds"])

    def count(self) -> int:
        """Return the number of instances of the month."""
        return int(self._expand()["count"])

    def close(self) -> None:
        """End the process."""
        self._process.communicate()

    def _expand(self) -> dict[str, float]:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        answer: dict[str, float] = json.loads(self._process.stdout.readline())
        return answer


def _calendar_file(series: int) -> bytes:
    file = icalendar.Calendar()
    for body in _bodies(series):
        event = icalendar.Event()
        event.add("uid", body["id"])
        event.add("summary", body["summary"])
        event.add("rrule", icalendar.vRecur.from_ical(body["recurrence"][0].removeprefix("RRULE:")))
        for name, field in (("dtstart", "start"), ("dtend", "end")):
            time = datetime.fromisoformat(body[field]["dateTime"])
            event.add(name, time.replace(tzinfo=ZoneInfo(body[field]["timeZone"])))
        file.add_component(event)
    return bytes(file.to_ical())


def _check_equal(ours: int, theirs: int) -> None:
    if ours != theirs or ours < SERIES_OF_MONTH:
        raise AssertionError(f"{ours} instances are not the {theirs} of recurring-ical-events")
