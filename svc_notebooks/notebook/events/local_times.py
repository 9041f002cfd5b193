"""Reads times without a time zone in the time zones of a stored event, for `update_event`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ..times import python_time
from .event_end import needs_start

if TYPE_CHECKING:
    from ...client.session import Session

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


def zones_of_event(session: Session, calendar: str, event_id: str, times: list[str]) -> dict[str, str]:
    """Return the time zones of a stored event as arguments of `update_event`, for the arguments `times`.

    Raises ValueError for an all-day event, which has no time zone.
    """
    from ...client.events.events import get_event

    if not times:
        return {}
    event = get_event(session, calendar, event_id)
    zones: dict[str, str] = {}
    for name in times:
        zone = (event["start"] if name == "start" else event["end"]).get("timeZone")
        if zone is None:
            raise ValueError(f"{name} has no time zone, and neither has the event; give time_zone='Europe/Berlin'")
        zones[ZONE_OF[name]] = zone
    return zones
