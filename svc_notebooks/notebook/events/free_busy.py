"""Tells when the owners of calendars are busy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ...core.errors.errors import NotFound
from ...core.http.messages import JSONObject
from ..current_session import SessionLike, session_or_current
from ..frames.event_schemas import FREE_BUSY
from ..frames.frames import frame
from ..times import zone_name
from .parameters import check_calendar
from .query import wire_instant
from .records import in_zone

if TYPE_CHECKING:
    from pandas import DataFrame

    from .event_arguments import When, Zone

_MAX_CALENDARS = 50
"""The largest number of calendars in one request of the interface."""


def free_busy(
    calendars: str | Iterable[str] = "primary",
    *,
    time_min: When,
    time_max: When,
    time_zone: Zone | None = None,
    session: SessionLike = None,
) -> DataFrame:
    """List the periods in which the owners of calendars are busy. No other fields of their events are shown.

    Args:
        calendars: The id of a calendar, or up to 50 ids, such as the column `id` of `calendars()`.
        time_min, time_max: The window. A date means midnight in `time_zone`.
        time_zone: The zone of the frame, and of times without a zone. None: the zone of the primary calendar.

    Returns:
        One row for each period, without overlaps in a calendar: start, end (datetime64[ms, zone]), calendar (str).

    Raises:
        TypeError, ValueError: An argument is not valid.
        NotFound: One of the calendars does not exist, or this user has no access to it.

    The service has this operation only with `Policy(extensions=True)`, which is the default.

    >>> lab = svc.sandbox()
    >>> tea = svc.create_event("Tea", start="2026-11-02 10:00", end="11:00", time_zone="UTC", recurrence="daily")
    >>> svc.free_busy(time_min="2026-11-02", time_max="2026-11-04")["start"].astype(str).tolist()
    ['2026-11-02 10:00:00+00:00', '2026-11-03 10:00:00+00:00']
    """
    from ...client.events.events import get_calendar, query_free_busy

    names = [calendars] if isinstance(calendars, str) else list(dict.fromkeys(calendars))
    if not 1 <= len([check_calendar(name) for name in names]) <= _MAX_CALENDARS:
        raise ValueError(f"calendars has {len(names)} ids; give 1 to {_MAX_CALENDARS}")
    session = session_or_current(session)
    zone = zone_name("time_zone", time_zone) or str(get_calendar(session, "primary").get("timeZone") or "UTC")
    query: JSONObject = {
        "timeMin": wire_instant("time_min", time_min, zone),
        "timeMax": wire_instant("time_max", time_max, zone),
        "items": [{"id": name} for name in names],
    }
    answered: Any = query_free_busy(session, query).get("calendars", {})
    if unknown := [name for name in names if answered.get(name, {}).get("errors")]:
        raise NotFound(f"No calendar {unknown[0]}.", reason="notFound")
    rows = [{**period, "calendar": name} for name in names for period in answered[name]["busy"]]
    return in_zone(frame(FREE_BUSY, rows), zone)
