"""Exercises about an event in a time zone, and about a recurring event with a changed or cancelled instance."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from random import Random
from typing import TYPE_CHECKING, Literal
from zoneinfo import ZoneInfo

from ..check_result import require
from ..definition import ExerciseDefinition
from .shared_checks import list_text, quantity

if TYPE_CHECKING:
    from ...core.resources.events import Event
    from ..definition import Value
    from ..evidence import Evidence
    from ..exercise_service import ExerciseService


def _require_single_event(evidence: Evidence) -> Event:
    """Return the event of the task. Raises CheckFailedError unless the student created exactly one such event."""
    inserted = evidence.requests_of("events.insert", "events.import")
    require(
        inserted, f"The service saw {quantity(len(evidence.requests), 'request')}, and none of them creates an event."
    )
    summary = evidence.values["summary"]
    events = [event for event in evidence.events() if event.get("summary") == summary]
    require(events, f"There is no event called {summary!r}.")
    require(len(events) == 1, f"There are {len(events)} events called {summary!r}, and one was wanted.")
    was_created = any(request.response_json.get("id") == events[0]["id"] for request in inserted)
    require(was_created, f"There is an event called {summary!r}, but no request that the service saw has made it.")
    return events[0]


def _instant(event: Event, end: Literal["start", "end"]) -> datetime:
    require("dateTime" in event[end], "The event has days and no times: it lasts from midnight to midnight.")
    return datetime.fromisoformat(event[end]["dateTime"])


def _require_zone(event: Event, zone: str) -> None:
    event_zone = event["start"].get("timeZone")
    require(event_zone == zone, f"The zone of the event is {event_zone!r}: its time is right by accident, or only today."
         if event_zone else "The event has no zone: its time is an offset from UTC, and clocks on walls change theirs.")  # fmt: skip


_ZONES = (
    "Europe/Berlin",
    "America/New_York",
    "Asia/Tokyo",
    "Australia/Adelaide",
    "America/Sao_Paulo",
    "Asia/Kathmandu",
)


def _set_up_zone(_: ExerciseService, rng: Random) -> dict[str, Value]:
    day = date(2026, 2, 1) + timedelta(days=rng.randrange(0, 300))
    return {
        "summary": f"Count of birds, {rng.choice(('north pond', 'mill pond', 'abbey pond'))}",
        "day": day.isoformat(),
        "time": f"{rng.randrange(7, 20):02}:{rng.choice((0, 15, 30, 45)):02}",
        "zone": rng.choice(_ZONES),
        "minutes": rng.choice((45, 75, 90, 105)),
    }


def _check_zone(evidence: Evidence) -> str:
    values, event = evidence.values, _require_single_event(evidence)
    start, end = _instant(event, "start"), _instant(event, "end")
    shown = start.astimezone(ZoneInfo(values["zone"]))
    local_start = shown.strftime("%Y-%m-%d %H:%M")
    expected_start = f"{values['day']} {values['time']}"
    require(
        local_start == expected_start,
        f"On a wall in {values['zone']} the event begins at {local_start}, not at {expected_start}.",
    )
    minutes = (end - start).total_seconds() / 60
    require(minutes == values["minutes"], f"The event lasts {minutes:g} minutes, not {values['minutes']}.")
    _require_zone(event, values["zone"])
    return f"The event begins at {values['time']} on the walls of {values['zone']}, and says so."


ZONE = ExerciseDefinition(
    name="event-in-its-zone",
    theme="events",
    title="Ten o'clock, but where?",
    text=(
        "Create an event `given.summary` that begins on `given.day` at `given.time`, as clocks in `given.zone` show it, and"
        " lasts `given.minutes` minutes. The event itself shall know its zone."
    ),
    hints=(
        "A start without an offset needs a zone: `svc.create_event(..., time_zone=...)`.",
        'The start can be a text, such as `f"{given.day} {given.time}"`.',
        "The end is `pandas.Timestamp(start) + pandas.Timedelta(minutes=...)`. Nothing has to be converted.",
    ),
    set_up=_set_up_zone,
    check=_check_zone,
)


_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri")


def _set_up_series(_: ExerciseService, rng: Random) -> dict[str, Value]:
    zone, change = rng.choice((("Europe/Berlin", date(2026, 10, 25)), ("America/New_York", date(2026, 11, 1))))
    first = change - timedelta(days=rng.randrange(15, 36))
    first += timedelta(days=max(0, 7 - first.weekday()) if first.weekday() > 4 else 0)
    weeks = rng.randrange(9, 13)
    return {
        "summary": f"Seminar {rng.randrange(100, 1000)}",
        "zone": zone,
        "first": first.isoformat(),
        "weekday": _DAYS[first.weekday()],
        "time": f"{rng.randrange(8, 18):02}:{rng.choice((0, 15, 30)):02}",
        "last": (first + timedelta(weeks=weeks)).isoformat(),
        "free": (first + timedelta(weeks=rng.randrange(2, weeks - 1))).isoformat(),
    }


def _check_series(evidence: Evidence) -> str:
    values, event = evidence.values, _require_single_event(evidence)
    require(event.get("recurrence"), "The event does not come again: it has no recurrence.")
    _require_zone(event, values["zone"])
    instances = [instance for instance in evidence.instances(event["id"]) if instance.get("status") != "cancelled"]
    times = [_instant(instance, "start").astimezone(ZoneInfo(values["zone"])) for instance in instances]
    days = [time.date().isoformat() for time in times]
    require(values["free"] not in days, f"There is a seminar on {values['free']}, which is free.")
    first, last = date.fromisoformat(values["first"]), date.fromisoformat(values["last"])
    every_day = [(first + timedelta(weeks=n)).isoformat() for n in range((last - first).days // 7 + 1)]
    expected_days = [day for day in every_day if day != values["free"]]
    missing = [day for day in expected_days if day not in days]
    unexpected = [day for day in days if day not in expected_days]
    require(not missing, f"There is no seminar on {list_text(missing, 2)}.")
    require(not unexpected, f"There is a seminar on {list_text(unexpected, 2)}, and none was wanted.")
    start_times = {time.strftime("%H:%M") for time in times}
    require(
        start_times == {values["time"]},
        f"On the wall the seminar begins at {list_text(sorted(start_times))}, not always at {values['time']}.",
    )
    durations = {
        (_instant(instance, "end") - _instant(instance, "start")).total_seconds() / 60 for instance in instances
    }
    require(
        durations == {90},
        f"The seminar lasts {list_text(f'{minutes:g}' for minutes in sorted(durations))} minutes, not 90.",
    )
    return (
        f"One series, {quantity(len(instances), 'instance')}, one day free, and the same time on the wall throughout."
    )


SERIES = ExerciseDefinition(
    name="series-with-an-exception",
    theme="events",
    title="Every week but one",
    text=(
        "The seminar `given.summary` is weekly, on `given.weekday`, from `given.first` to `given.last`, both included. It"
        " begins at `given.time` by the clocks of `given.zone` and lasts 90 minutes. On `given.free` it does not take place."
        " Create it as one series."
    ),
    hints=(
        "`06-recurrence-and-time-zones` has a course in it that is nearly this one.",
        '`recurrence="weekly on Mon until 2027-04-14 except 2027-03-29"` is how it is said in words.',
        "`svc.instances(event)` shows what it comes to. Is the last day among them, and the free one not?",
    ),
    set_up=_set_up_series,
    check=_check_series,
)

ALL = (ZONE, SERIES)
