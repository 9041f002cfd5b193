"""A timetable of 10,000 events: created from a DataFrame and read back as one, beside a bare loop of `requests`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pandas as pd
import requests

from bench.processes import TOKEN, Served, folder, ours
from bench.rounds import Run, alternate, timed
from bench.table import Row, at_most, compare, milliseconds
from svc_notebooks.client.session import Session
from svc_notebooks.core.http.messages import segment
from svc_notebooks.notebook.events.calendars import create_calendar
from svc_notebooks.notebook.events.events import create_events
from svc_notebooks.notebook.events.query import events

ROUNDS = 9  # and one that is not counted
AT_ONCE = 1000
ALL = (ROUNDS + 1) * AT_ONCE
ZONE = "Europe/Berlin"


def timetable() -> Iterator[Row]:
    """Both sides speak to one service over one socket; each has a calendar of its own."""
    with ours() as served, folder() as state:
        session = Session(served.base_url, TOKEN, state_dir=state)
        own, bare = (create_calendar(name, session=session)["id"].item() for name in ("frames", "loop"))
        loop = RequestsLoop(served, bare)
        made = alternate({"ours": _creating(session, own), "requests": _posting(loop)}, ROUNDS)
        read = alternate(
            {"ours": timed(lambda: events(calendar=own, session=session)), "requests": timed(loop.frame)}, ROUNDS
        )
        _check_equal(session, own, loop)
    work, name = f"{ALL:,} events", "a loop of requests"
    yield compare(
        f"{work} by create_events",
        _cost_per_event(made["ours"]),
        _cost_per_event(made["requests"]),
        name,
        at_most(1.5),
        _milliseconds_each,
    )
    yield compare(f"{work} read as a frame", read["ours"], read["requests"], name, at_most(1.0), milliseconds)


def _milliseconds_each(seconds: float) -> str:
    return f"{milliseconds(seconds)} each"


def _cost_per_event(costs: Sequence[float]) -> tuple[float, ...]:
    return tuple(cost / AT_ONCE for cost in costs)


def _begins(first: int) -> list[datetime]:
    begin = datetime(2026, 1, 1, 8, tzinfo=UTC)
    return [begin + timedelta(hours=n) for n in range(first, first + AT_ONCE)]


def _creating(session: Session, calendar: str) -> Run:
    """The next thousand rows at every call."""
    done = 0

    def run() -> float:
        nonlocal done
        begins = pd.Series(_begins(done))
        frame = pd.DataFrame({"summary": "Lecture", "start": begins, "end": begins + pd.Timedelta(minutes=90)})
        done += AT_ONCE
        return timed(lambda: create_events(frame, calendar=calendar, time_zone=ZONE, session=session))()

    return run


def _posting(loop: RequestsLoop) -> Run:
    done = 0

    def run() -> float:
        nonlocal done
        bodies = [_body(begin) for begin in _begins(done)]
        done += AT_ONCE
        return timed(lambda: [loop.create(body) for body in bodies])()

    return run


def _body(begin: datetime) -> dict[str, Any]:
    end = begin + timedelta(minutes=90)
    times = {"start": {"dateTime": begin.isoformat()}, "end": {"dateTime": end.isoformat()}}
    return {"summary": "Lecture", **{name: {**time, "timeZone": ZONE} for name, time in times.items()}}


class RequestsLoop:
    """What a person writes who has nothing but `requests` and pandas."""

    def __init__(self, served: Served, calendar: str) -> None:
        self._url = f"{served.base_url}/calendar/v3/calendars/{segment(calendar)}/events"
        self._web = requests.Session()
        self._web.headers["Authorization"] = f"Bearer {TOKEN}"

    def create(self, body: dict[str, Any]) -> Any:
        response = self._web.post(self._url, json=body)
        response.raise_for_status()
        return response.json()

    def frame(self) -> pd.DataFrame:
        read = pd.DataFrame(self.read(), columns=["summary", "start", "end", "location", "status", "id"])
        for name in ("start", "end"):
            read[name] = pd.to_datetime(read[name].str["dateTime"], utc=True).dt.tz_convert(ZONE)
        return read

    def read(self) -> list[dict[str, Any]]:
        events_read: list[dict[str, Any]] = []
        query: dict[str, Any] = {"maxResults": 2500}
        while True:
            response = self._web.get(self._url, params=query)
            response.raise_for_status()
            page = response.json()
            events_read += page["items"]
            if "nextPageToken" not in page:
                return events_read
            query["pageToken"] = page["nextPageToken"]


def _check_equal(session: Session, calendar: str, loop: RequestsLoop) -> None:
    """Both have made the same events."""
    frame, events_read = events(calendar=calendar, session=session), loop.read()
    ours = sorted(frame["start"].dt.tz_convert("UTC"))
    theirs = sorted(pd.to_datetime([event["start"]["dateTime"] for event in events_read], utc=True))
    if ours != theirs or len(ours) != ALL:
        raise AssertionError(f"{len(ours)} events are not the {len(theirs)} of the loop")
