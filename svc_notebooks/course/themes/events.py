"""Exercises about events: a time in its zone, and a series with an exception."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from random import Random
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from ..definition import Definition
from ..verdict import need
from .words import counted, listed

if TYPE_CHECKING:
    from ..definition import Value
    from ..evidence import Evidence
    from ..exercise_service import ExerciseService


def _one_event(saw: Evidence) -> dict[str, Any]:
    """The event of the name that was given, which a request of the student has made. Raises NotYet."""
    inserted = saw.of("events.insert", "events.import")
    need(inserted, f"The service saw {counted(len(saw.requests), 'request')}, and none of them creates an event.")
    wanted = saw.given["summary"]
    found = [one for one in saw.events() if one.get("summary") == wanted]
    need(found, f"There is no event called {wanted!r}.")
    need(len(found) == 1, f"There are {len(found)} events called {wanted!r}, and one was wanted.")
    made = any(one.result.get("id") == found[0]["id"] for one in inserted)
    need(made, f"There is an event called {wanted!r}, but no request that the service saw has made it.")
    return found[0]


def _instant(event: dict[str, Any], end: str) -> datetime:
    need("dateTime" in event[end], "The event has days and no times: it lasts from midnight to midnight.")
    return datetime.fromisoformat(event[end]["dateTime"])


def _in_zone(event: dict[str, Any], zone: str) -> None:
    found = event["start"].get("timeZone")
    need(found == zone, f"The zone of the event is {found!r}: its time is right by accident, or only today."
         if found else "The event has no zone: its time is an offset from UTC, and clocks on walls change theirs.")  # fmt: skip


# -- event-in-its-zone

_ZONES = (
    "Europe/Berlin",
    "America/New_York",
    "Asia/Tokyo",
    "Australia/Adelaide",
    "America/Sao_Paulo",
    "Asia/Kathmandu",
)


def _lay_out_zone(_: ExerciseService, dice: Random) -> dict[str, Value]:
    day = date(2026, 2, 1) + timedelta(days=dice.randrange(0, 300))
    return {
        "summary": f"Count of birds, {dice.choice(('north pond', 'mill pond', 'abbey pond'))}",
        "day": day.isoformat(),
        "time": f"{dice.randrange(7, 20):02}:{dice.choice((0, 15, 30, 45)):02}",
        "zone": dice.choice(_ZONES),
        "minutes": dice.choice((45, 75, 90, 105)),
    }


def _check_zone(saw: Evidence) -> str:
    given, event = saw.given, _one_event(saw)
    start, end = _instant(event, "start"), _instant(event, "end")
    shown = start.astimezone(ZoneInfo(given["zone"]))
    on_the_wall = shown.strftime("%Y-%m-%d %H:%M")
    wanted = f"{given['day']} {given['time']}"
    need(on_the_wall == wanted, f"On a wall in {given['zone']} the event begins at {on_the_wall}, not at {wanted}.")
    lasts = (end - start).total_seconds() / 60
    need(lasts == given["minutes"], f"The event lasts {lasts:g} minutes, not {given['minutes']}.")
    _in_zone(event, given["zone"])
    return f"The event begins at {given['time']} on the walls of {given['zone']}, and says so."


ZONE = Definition(
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
    lay_out=_lay_out_zone,
    check=_check_zone,
)

# -- series-with-an-exception

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri")


def _lay_out_series(_: ExerciseService, dice: Random) -> dict[str, Value]:
    zone, change = dice.choice((("Europe/Berlin", date(2026, 10, 25)), ("America/New_York", date(2026, 11, 1))))
    first = change - timedelta(days=dice.randrange(15, 36))
    first += timedelta(days=max(0, 7 - first.weekday()) if first.weekday() > 4 else 0)
    weeks = dice.randrange(9, 13)
    return {
        "summary": f"Seminar {dice.randrange(100, 1000)}",
        "zone": zone,
        "first": first.isoformat(),
        "weekday": _DAYS[first.weekday()],
        "time": f"{dice.randrange(8, 18):02}:{dice.choice((0, 15, 30)):02}",
        "last": (first + timedelta(weeks=weeks)).isoformat(),
        "free": (first + timedelta(weeks=dice.randrange(2, weeks - 1))).isoformat(),
    }


def _check_series(saw: Evidence) -> str:
    given, event = saw.given, _one_event(saw)
    need(event.get("recurrence"), "The event does not come again: it has no recurrence.")
    _in_zone(event, given["zone"])
    live = [one for one in saw.instances(event["id"]) if one.get("status") != "cancelled"]
    times = [_instant(one, "start").astimezone(ZoneInfo(given["zone"])) for one in live]
    days = [one.date().isoformat() for one in times]
    need(given["free"] not in days, f"There is a seminar on {given['free']}, which is free.")
    wanted = _weeks(given["first"], given["last"], given["free"])
    missing, more = [one for one in wanted if one not in days], [one for one in days if one not in wanted]
    need(not missing, f"There is no seminar on {listed(missing, 2)}.")
    need(not more, f"There is a seminar on {listed(more, 2)}, and none was wanted.")
    clocks = {one.strftime("%H:%M") for one in times}
    need(
        clocks == {given["time"]},
        f"On the wall the seminar begins at {listed(sorted(clocks))}, not always at {given['time']}.",
    )
    lasts = {(_instant(one, "end") - _instant(one, "start")).total_seconds() / 60 for one in live}
    need(lasts == {90}, f"The seminar lasts {listed(f'{one:g}' for one in sorted(lasts))} minutes, not 90.")
    return f"One series, {counted(len(live), 'instance')}, one day free, and the same time on the wall throughout."


def _weeks(first: str, last: str, free: str) -> list[str]:
    begin, end = date.fromisoformat(first), date.fromisoformat(last)
    every = [begin + timedelta(weeks=n) for n in range((end - begin).days // 7 + 1)]
    return [one.isoformat() for one in every if one.isoformat() != free]


SERIES = Definition(
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
    lay_out=_lay_out_series,
    check=_check_series,
)

ALL = (ZONE, SERIES)
