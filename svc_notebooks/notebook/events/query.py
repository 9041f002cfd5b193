"""Lists the events of a calendar and the instances of recurring events, and previews a recurrence (E-21)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any

from ...client.events.events import get_calendar, get_event, list_event_pages, list_events, list_instances
from ...client.session import Session, SessionLike, current_clock, session_or_current
from ...core.events import recurrence_words
from ...core.events.event_times import instant, read_time
from ...core.events.instances import occurrences
from ...core.events.rrule import Recurrence
from ...core.time_arguments import python_time, without_words
from ...core.times import UTC_NAME, zone
from ..arguments import File, choice, one_row_id, optional_text, whole
from ..frames import EVENT, EVENTS, INSTANCES, PREVIEW, Record, concatenate, frame, select_columns, snake
from .body import End, When, Zone, calendar_id, event_body, in_its_zone, query_of, time_object, zone_name
from .records import event_frame, event_record, fields_mask, in_zone

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...core.times import Clock

_ORDERS = {"start_time": "startTime", "updated": "updated"}  # the values of `order_by`, and of the parameter `orderBy`


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
        single_events: List the instances of a recurring event instead of the event. A series without an end needs
            `time_max` or `limit`.
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
        TypeError, ValueError: An argument is not valid, or `single_events` needs `time_max` or `limit`.
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
    if single_events and time_max is None and limit is None:
        _check_ends(session, calendar, parameters)
    with closing(list_event_pages(session, calendar, parameters, limit=most)) as listed:
        frames = [frame(schema, [event_record(event, name) for event in page]) for page in listed]
    return in_zone(concatenate(schema, frames), name)


def _check_ends(session: Session, calendar: str, parameters: Mapping[str, object]) -> None:
    """Raise ValueError if a series that the parameters select has no end."""
    series = {"singleEvents": None, "orderBy": None, "fields": "nextPageToken,items(id,summary,start,recurrence)"}
    for event in list_events(session, calendar, {**parameters, **series}):
        rules = Recurrence.parse(event.get("recurrence") or [], read_time(event["start"])).rules
        if any(rule.count is None and rule.until is None for rule in rules):
            name = event.get("summary") or event["id"]
            raise ValueError(f"single_events needs time_max or limit, because the series {name!r} has no end")


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


# -- instances of recurring events, and previews of a recurrence


def instances(
    event: File,
    *,
    time_min: When | None = None,
    time_max: When | None = None,
    limit: int | None = 250,
    show_deleted: bool = False,
    time_zone: Zone | None = None,
    calendar: File = "primary",
    session: SessionLike = None,
) -> DataFrame:
    """List the instances of a recurring event, including instances that were changed or moved.

    Args:
        event: An event id, a row, or a DataFrame with one row.
        time_min, time_max: List only instances that end after `time_min` and start before `time_max`.
        limit: The largest number of instances. None: all instances; an event that never ends then needs `time_max`.
        show_deleted: Include cancelled instances.
        time_zone: The time zone of the frame. None: the time zone of the event.
        calendar: The id, the name or a row of the calendar that contains the event.

    Returns:
        One row for each instance: summary (str), start, end (datetime64[ms, `time_zone`]), location (str),
        attendees (object), original_start_time (datetime64[ms, `time_zone`], the start without the change),
        original_start_time_zone, html_link, id, recurring_event_id (str), all_day (boolean), status (str).

    Raises:
        BadRequest: The event is not a recurring event.
        NotFound: The calendar has no event with this id.

    >>> lab = svc.sandbox()
    >>> made = svc.create_event("Run", start="2027-03-27 08:00", end="2027-03-27 09:00",
    ...                         time_zone="Europe/Berlin", recurrence="daily")
    >>> svc.instances(made, limit=2)["start"].astype(str).tolist()
    ['2027-03-27 08:00:00+01:00', '2027-03-28 08:00:00+02:00']
    """
    session, event_id = session_or_current(session), one_row_id(event, "event")
    calendar = calendar_id(session, calendar)
    start: Any = get_event(session, calendar, event_id).get("start") or {}
    name = zone_name("time_zone", time_zone) or str(start.get("timeZone") or UTC_NAME)
    window = wire_window(time_min, time_max, name, session.clock)
    parameters = {**window, "showDeleted": "true" if show_deleted else None}
    maximum = None if limit is None else whole("limit", limit, 0)
    return event_frame(INSTANCES, list(list_instances(session, calendar, event_id, parameters, limit=maximum)), name)


def recurrence_lines(words: str | Sequence[str], *, start: When, time_zone: Zone | None = None) -> list[str]:
    """Convert a recurrence in words to RFC 5545 lines, for an event that starts at `start`.

    The words are, for example, "daily", "weekly on Mon, Wed", "every 2 weeks on Tue", "every other Tuesday",
    "biweekly", "Mon-Fri", "weekdays", "every weekend", "monthly on day 15", "the 2nd Tuesday of the month", "the last
    weekday of every month", "quarterly", "yearly on December 24" or "annually". Then "until 2027-02-12" (inclusive),
    "10 times" or "for 10 weeks", and "except 2026-12-24, 2026-12-31" may follow.

    Args:
        words: The words, or RFC 5545 lines. Lines are checked and returned unchanged.
        start: The start of the event, as for `create_event`.
        time_zone: The time zone of a start without a time zone, as an IANA name or a ZoneInfo.

    Returns:
        A list of lines (str) for the `recurrence` argument of `create_event`.

    Raises:
        ValueError: The words are not understood, or a line is not valid. The message has the nearest phrase that is
            understood, or the position of the error, and the expected form.

    See tests/rules.csv (E-12).

    >>> svc.recurrence_lines("every 2 weeks on Mon, Thu, 10 times", start="2026-11-02")
    ['RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH;COUNT=10']
    """
    name = zone_name("time_zone", time_zone)
    moment = in_its_zone(python_time("start", without_words(start, current_clock().now(), name)), name)
    if isinstance(moment, datetime) and moment.tzinfo is None:
        raise ValueError(f"start is {start!r} without a time zone; give time_zone='Europe/Berlin'")
    return recurrence_words.recurrence_lines(words, moment)


def preview_recurrence(
    start: When,
    end: End,
    recurrence: str | Sequence[str],
    *,
    time_zone: Zone | None = None,
    end_time_zone: Zone | None = None,
    count: int = 10,
    time_min: When | None = None,
    time_max: When | None = None,
) -> DataFrame:
    """List the instances that a new recurring event would have. The preview sends no request and creates no event.

    Args:
        start, end, recurrence, time_zone, end_time_zone: The arguments that you would pass to `create_event`.
        count: The largest number of instances.
        time_min, time_max: List only instances that end after `time_min` and start before `time_max`. A time far after
            the start of the event does not make the preview slower.

    Returns:
        One row for each instance: n (Int64, the row number from 1), start, end (datetime64[ms, `time_zone`, or UTC for
        all-day events]), weekday (str, such as "Mon"), utc_offset (str, of the start, such as "+01:00"), recurrence
        (str, the RFC 5545 lines).

    Raises:
        TypeError, ValueError: An argument is not valid, or the service would refuse the event.

    >>> svc.preview_recurrence("2026-10-23 09:00", "2026-10-23 10:00", "every weekday", time_zone="Europe/Berlin",
    ...                        count=2)[["weekday", "utc_offset"]].values.tolist()
    [['Fri', '+02:00'], ['Mon', '+01:00']]
    """
    given, clock = zone_name("time_zone", time_zone), current_clock()
    start, end = (without_words(each, clock.now(), given) for each in (start, end))
    body = event_body(start=start, end=end, recurrence=recurrence, time_zone=time_zone, end_time_zone=end_time_zone)
    begin, stop = read_time(body["start"]), read_time(body["end"])
    name = getattr(getattr(begin, "tzinfo", None), "key", None) or UTC_NAME
    lines: Any = body.get("recurrence") or []
    bounds = wire_window(time_min, time_max, name, clock).values()
    after, before = (None if bound is None else datetime.fromisoformat(bound) for bound in bounds)
    every = occurrences(Recurrence.parse(lines, begin), begin, stop, after=after, before=before, zone=zone(name))
    rows: list[Record] = []
    for n, occurrence in enumerate(islice(every, whole("count", count, 0)), 1):
        first = instant(occurrence.start, zone(name))
        local = first.astimezone(zone(name))
        rows.append(
            {
                "n": n,
                "start": first,
                "end": instant(occurrence.end, zone(name)),
                "weekday": f"{local:%a}",
                "utc_offset": local.isoformat(timespec="seconds")[len("2026-11-02T10:00:00") :],
                "recurrence": "\n".join(lines),
            }
        )
    return in_zone(frame(PREVIEW, rows), name)
