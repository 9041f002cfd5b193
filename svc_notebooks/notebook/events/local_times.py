"""Reads times without a time zone in the time zones of a stored event, and finds times that the clock skips."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ...core.time_zones import zone
from ..times import python_time
from .event_end import needs_start

if TYPE_CHECKING:
    from ...core.resources.events import Event

ZONE_OF = {"start": "time_zone", "end": "end_time_zone"}
"""The argument with the time zone of each time."""


def local_times(changes: Mapping[str, Any]) -> list[str]:
    """Return which of the arguments start and end are times without a time zone. Raises TypeError or ValueError.

    >>> local_times({"start": "2026-11-02 10:00", "end": "2026-11-02T11:00+01:00"})
    ['start']
    """
    if changes.get("time_zone") is not None:
        return []
    return [name for name, zone in ZONE_OF.items() if changes.get(zone) is None and _is_local(name, changes.get(name))]


def _is_local(argument: str, value: object) -> bool:
    if value is None or isinstance(value, dict) or needs_start({argument: value}):
        return False
    moment = python_time(argument, value)
    return isinstance(moment, datetime) and moment.tzinfo is None


def event_zones(event: Event, changes: Mapping[str, Any]) -> dict[str, str]:
    """Return the time zones of a stored event as arguments of `update_event`, for times without a time zone.

    Raises ValueError for an all-day event, which has no time zone.
    """
    zones: dict[str, str] = {}
    for name in local_times(changes):
        time = event["end"] if name == "end" and event["end"].get("timeZone") else event["start"]
        if (key := time.get("timeZone")) is None:
            raise ValueError(f"{name} has no time zone, and neither has the event; give time_zone='Europe/Berlin'")
        zones[ZONE_OF[name]] = key
    if needs_start(changes) and all(changes.get(name) is None for name in ZONE_OF.values()):
        start_zone, end_zone = (event[name].get("timeZone") for name in ("start", "end"))
        if end_zone and end_zone != start_zone:
            zones["end_time_zone"] = end_zone
    return zones


def check_exists(argument: str, value: object, time_zone: str | None) -> None:
    """Raise ValueError if a time of day does not exist on its day, because the clock of the time zone skips it.

    >>> check_exists("start", "2026-03-29 02:30", "Europe/Berlin")
    Traceback (most recent call last):
        ...
    ValueError: start: 02:30 does not exist on 29 March 2026 in Europe/Berlin: the clock skips it; 03:30 exists
    """
    moment = None if isinstance(value, Mapping) else python_time(argument, value)
    if not isinstance(moment, datetime) or not (moment.tzinfo or time_zone):
        return
    tz = moment.tzinfo or zone(str(time_zone))
    shown = moment.replace(tzinfo=tz).astimezone(UTC).astimezone(tz)
    if shown.replace(tzinfo=None, fold=0) != moment.replace(tzinfo=None, fold=0):
        when = f"{moment:%H:%M} does not exist on {moment.day} {moment:%B %Y} in {tz}"
        raise ValueError(f"{argument}: {when}: the clock skips it; {shown:%H:%M} exists")
