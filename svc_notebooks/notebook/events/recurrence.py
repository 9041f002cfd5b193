"""Lists the instances of recurring events, and previews the instances of a recurrence without a request (E-21)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from ...client.events.events import get_event, list_instances
from ...client.session import SessionLike, current_clock, session_or_current
from ...core.events import recurrence_words
from ...core.events.instances import occurrences
from ...core.events.rrule import Recurrence
from ...core.events.times import instant, read_time
from ...core.time_arguments import python_time, without_words
from ...core.time_zones import UTC_NAME, zone
from ..arguments import one_row_id, whole
from ..frames.event_schemas import INSTANCES, PREVIEW
from ..frames.frames import Record, frame
from .body import calendar_id, event_body
from .event_times import End, When, Zone, in_its_zone, zone_name
from .query import wire_window
from .records import event_frame, in_zone

if TYPE_CHECKING:
    from pandas import DataFrame

    from ..arguments import File


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
    parameters = {
        **wire_window(time_min, time_max, name, session.clock),
        "showDeleted": "true" if show_deleted else None,
    }
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
