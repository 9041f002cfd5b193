"""Lists the events of a calendar."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from ...client.events.events import get_calendar, list_event_pages
from ...client.session import SessionLike, session_or_current
from ...core.events.times import instant, read_time
from ...core.time_arguments import without_words
from ...core.time_zones import zone
from ..arguments import choice, optional_text, whole
from ..frames.event_schemas import EVENT, EVENTS
from ..frames.frames import concatenate, frame, select_columns, snake
from .body import calendar_id, query_of
from .event_times import When, Zone, time_object, zone_name
from .records import event_record, fields_mask, in_zone

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...core.clock import Clock
    from ..arguments import File

_ORDERS = {"start_time": "startTime", "updated": "updated"}
"""The values of `order_by`, and of the parameter `orderBy`."""


def events(
    text: str | None = None,
    *,
    time_min: When | None = None,
    time_max: When | None = None,
    single_events: bool = False,
    order_by: str | None = None,
    show_deleted: bool = False,
    updated_min: When | None = None,
    private: Mapping[str, str] | None = None,
    shared: Mapping[str, str] | None = None,
    i_cal_uid: str | None = None,
    limit: int | None = None,
    time_zone: Zone | None = None,
    fields: str | Iterable[str] | None = None,
    calendar: File = "primary",
    max_attendees: int | None = None,
    query: str | None = None,
    session: SessionLike = None,
) -> DataFrame:
    """List the events of a calendar. A recurring event is one row, or with `single_events` one row for each instance.

    Without `single_events`, a cancelled instance of a series is a row, too, with the status "cancelled".

    Args:
        text: Words, all of which must be in the title, description, location or attendees of an event.
        time_min, time_max: List only events that end after `time_min` and start before `time_max`. A date means
            midnight in `time_zone`. "today", "tomorrow 10:00", "7 days ago" and "in 2 weeks" are times, too.
        single_events: List the instances of a recurring event instead of the event. This needs `time_max` or `limit`.
        order_by: "start_time" (only with `single_events`) or "updated".
        show_deleted: Include cancelled events.
        updated_min: List only events that were changed at or after this time, including deleted events.
        private, shared: Extended properties that an event must have, as dicts from names to values.
        i_cal_uid: The iCalUID that an event must have.
        limit: The largest number of rows; None: all.
        time_zone: The zone of the frame, and of times without a zone. None: the calendar's time zone.
        fields: The columns to return, as names separated by commas or a list of names. "*" returns all columns of
            `create_event`, and None the columns below.
        calendar: The id, the name or a row of the calendar.
        max_attendees: The maximum number of attendees in the response. If an event has more attendees, its row has only
            the caller.
        query: The earlier name of `text`.

    Returns:
        One row for each event or instance: id, summary (str), start, end (datetime64[ms, zone]), all_day (boolean),
        time_zone, end_time_zone (str, the zones of start and end), status, location (str), recurrence, attendees
        (object), html_link (str).

    Raises:
        TypeError, ValueError: An argument is not valid, or `single_events` is given without `time_max` and `limit`.
        NotFound: The calendar does not exist, or this user has no access to the calendar.

    >>> lab = svc.sandbox()
    >>> made = svc.create_event("Tea", start="2026-11-02", end="2026-11-03", recurrence="daily")
    >>> svc.events(single_events=True, limit=2)["start"].astype(str).tolist()
    ['2026-11-02 00:00:00+00:00', '2026-11-03 00:00:00+00:00']
    """
    session = session_or_current(session)
    optional_text("order_by", order_by)
    order_by = "start_time" if order_by == "start" else order_by
    schema = select_columns(fields, EVENTS, EVENT, "an event")
    name = zone_name("time_zone", time_zone)
    if text is not None and query is not None:
        raise ValueError("text and query are names of the same argument; leave query out")
    if single_events and time_max is None and limit is None:
        raise ValueError("single_events needs time_max or limit, because recurring events can be endless")
    calendar = calendar_id(session, calendar)
    name = name or str(get_calendar(session, calendar).get("timeZone") or "UTC")
    parameters = {
        **query_of({"max_attendees": max_attendees}),
        "q": optional_text("query", query) if text is None else optional_text("text", text),
        **wire_window(time_min, time_max, name, session.clock),
        "updatedMin": wire_instant("updated_min", updated_min, name, session.clock),
        "singleEvents": "true" if single_events else None,
        "showDeleted": "true" if show_deleted else None,
        "orderBy": None if order_by is None else _ORDERS[choice("order_by", snake(order_by), _ORDERS)],
        "privateExtendedProperty": [f"{key}={value}" for key, value in private.items()] if private else None,
        "sharedExtendedProperty": [f"{key}={value}" for key, value in shared.items()] if shared else None,
        "iCalUID": optional_text("i_cal_uid", i_cal_uid),
        "fields": fields_mask(schema),
    }
    most = None if limit is None else whole("limit", limit, 0)
    with closing(list_event_pages(session, calendar, parameters, limit=most)) as listed:
        frames = [frame(schema, [event_record(event, name) for event in page]) for page in listed]
    return in_zone(concatenate(schema, frames), name)


def wire_window(time_min: object, time_max: object, time_zone: str, clock: Clock) -> dict[str, str | None]:
    """Convert the arguments `time_min` and `time_max` to query parameters. Raises ValueError for an empty window."""
    first = wire_instant("time_min", time_min, time_zone, clock)
    last = wire_instant("time_max", time_max, time_zone, clock)
    if first is not None and last is not None and datetime.fromisoformat(last) <= datetime.fromisoformat(first):
        raise ValueError(f"time_max is {time_max}, which is not after time_min, {time_min}; give a later time_max")
    return {"timeMin": first, "timeMax": last}


def wire_instant(argument: str, value: object, time_zone: str, clock: Clock) -> str | None:
    """Convert a time argument to an RFC 3339 str in UTC, or None to None. A date stands for midnight in `time_zone`."""
    if value is None:
        return None
    return read_instant(argument, value, time_zone, clock.now()).isoformat().replace("+00:00", "Z")


def read_instant(argument: str, value: object, time_zone: str, now: datetime) -> datetime:
    """Convert a time argument, also in words such as "today", to an instant. A timedelta is that long before `now`."""
    moment = now - value if isinstance(value, timedelta) else without_words(value, now, time_zone)
    return instant(read_time(time_object(argument, moment, time_zone)), zone(time_zone))
