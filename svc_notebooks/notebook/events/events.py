"""Creates, reads, changes and deletes events, and responds to invitations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from inspect import signature
from typing import TYPE_CHECKING, Any, NamedTuple

from ...client.events.events import get_calendar, get_event, insert_event, new_event_ids
from ...client.files import get_file
from ...client.session import Session, SessionLike, session_or_current
from ...core.errors.errors import AlreadyExists
from ...core.errors.public_calls import unknown_argument
from ...core.events.fields import RESPONSES
from ...core.http.messages import JSONObject
from ...core.suggestions import nearest_name
from ...core.time_arguments import Duration, without_words
from ..arguments import File, choice, column_values, files_at, flag, is_frame, is_missing, row_ids
from ..batch.batch import (
    ROW_ERRORS,
    Batch,
    Errors,
    Executor,
    Progress,
    Report,
    Resumable,
    Resume,
    RowOperation,
    known_id,
    run,
)
from ..frames import CREATED, DELETED, EVENT, Record, Schema, camel, snake
from .body import (
    QUERY_ARGUMENTS,
    READERS,
    ZONE_OF,
    End,
    EventError,
    When,
    Zone,
    add_required,
    calendar_id,
    event_body,
    local_times,
    needs_start,
    partial_body,
    query_of,
    warn_about,
    warn_deprecated,
    without_periods,
    zone_name,
)
from .records import EventCall, event_frame, event_record, in_zone, own_values, respond_row, run_on_events, with_first

if TYPE_CHECKING:
    from pandas import DataFrame

_UNCHANGED = "unchanged"  # the default of `recurrence` in `update_event`, where None ends a recurrence


def create_event(
    summary: str | None = None,
    *,
    start: When,
    end: End | None = None,
    duration: Duration | None = None,
    time_zone: Zone | None = None,
    recurrence: str | Sequence[str] | None = None,
    attendees: Any = None,
    location: str | None = None,
    description: str | None = None,
    color: str | int | None = None,
    reminders: Sequence[Any] | Mapping[str, Any] | None = None,
    calendar: File = "primary",
    send_updates: str | None = None,
    session: SessionLike = None,
    end_time_zone: Zone | None = None,
    conference: bool | str | Mapping[str, Any] | None = None,
    attachments: Any = None,
    visibility: str | None = None,
    transparency: str | None = None,
    status: str | None = None,
    guests_can_invite_others: bool | None = None,
    guests_can_modify: bool | None = None,
    guests_can_see_other_guests: bool | None = None,
    anyone_can_add_self: bool | None = None,
    private: Mapping[str, str] | None = None,
    shared: Mapping[str, str] | None = None,
    source: str | Mapping[str, str] | None = None,
    gadget: Mapping[str, Any] | None = None,
    sequence: int | None = None,
    original_start_time: When | None = None,
    event_id: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    max_attendees: int | None = None,
    conference_data_version: int | None = None,
    supports_attachments: bool | None = None,
    send_notifications: bool | None = None,
) -> DataFrame:
    """Create an event. The fields are checked by the rules of the service before the event is sent.

    Args:
        summary: The title of the event.
        start: A date ("2026-11-02" or a datetime.date) starts an all-day event. A datetime, a pandas Timestamp or a
            text such as "2026-11-02 10:00" or "tomorrow 10:00" starts a timed event. A time without a time zone is in
            `time_zone`. A dict is sent unchanged, as a time object of the interface. A pandas Period is start and end.
        end: The exclusive end, in the same forms as `start`: an all-day event ends on the day after its last day.
            Without end and duration, a date is one whole day. A time
            such as "11:00" is on the day of the start, a timedelta is the length of the event, and a pandas Period
            means the end of this period.
        duration: The length of the event, instead of `end`, as a timedelta, a number of seconds or a text such as "90
            min" or "2 days". An all-day event needs whole days.
        time_zone: The time zone of start and end, as an IANA name or a ZoneInfo. None: that of `calendar`.
        recurrence: Words such as "weekly on Mon, Wed until 2027-02-12" (see `recurrence_lines`), or RFC 5545 lines.
        attendees: E-mail addresses in a list, a column or one text with commas or semicolons between them, also with
            names ("Ann Lee <ann@x.example>"); dicts (`email`, `display_name`, `optional` ...); or a DataFrame with
            these columns.
        location, description: Texts.
        color: The id or the name of a colour of `event_colors()`.
        reminders: A list such as [10, ("email", "1 day")], in minutes before the start or as durations, or one of
            them. []: no reminders. None: the default reminders of the calendar.
        calendar: The id, the name or a row of a calendar of `calendars()`.
        send_updates: The attendees who are sent an invitation: "all", "externalOnly" or "none". The interface also
            defines "true" for "all", and "false" for "none".
        end_time_zone: The zone of the end if it differs from `time_zone`, as for a flight. Datetimes with zones of
            their own and dicts can say the same.
        conference: True requests a new conference; a text is the type of its solution; a dict is conferenceData.
        attachments: URLs, stored files (rows, frames), dicts of `file_url` and `title`, or a list.
        visibility: "default", "public", "private" or "confidential".
        transparency: "opaque" (busy) or "transparent".
        status: "confirmed", "tentative" or "cancelled".
        guests_can_invite_others: True or False; the service's default is True.
        guests_can_modify: True or False; the service's default is False.
        guests_can_see_other_guests: True or False; the service's default is True.
        anyone_can_add_self: True or False; the service's default is False.
        private: Properties of this calendar's copy.
        shared: Properties of the copies of all attendees.
        source: A URL, or a dict of title and url.
        gadget: A dict of display, height, width (pixels), icon_link, link, preferences, title and type.
        sequence: The revision number of iCalendar.
        original_start_time: The start of an instance by the recurrence, given as `start`.
        event_id: 5 to 1024 of 0-9 and a-v; None lets the service choose.
        metadata: More fields as on the wire; they replace those of the arguments.
        max_attendees: The maximum number of attendees in the response. If the event has more, the response has only the
            caller.
        conference_data_version: 0 or 1, sent as given. With 0 the service ignores conference data. None: 1 if there is
            conference data.
        supports_attachments: True or False, sent as given. With False the service ignores attachments. None: True if
            there are any.
        send_notifications: Deprecated; use `send_updates`. True or False is sent as given, with a FutureWarning.

    Returns:
        One row with a column for each field of the event, first those that were set. Fields without a value have their
        defaults. Columns: summary (str), start, end (datetime64[ms, the zone of the start, or UTC if the start has no
        zone]), all_day (boolean), time_zone, end_time_zone (str, the zones of start and end), id, status, location
        (str), recurrence, attendees (object), html_link (str), original_start_time (datetime64, like start),
        original_start_time_zone (str) and more.

    Raises:
        TypeError, ValueError: An argument is not valid, or the service would refuse the event. Nothing was sent.
        BadRequest: The service refused the event.
        AlreadyExists: An event with the id `event_id` already exists.
        NotFound: The calendar does not exist, or this user has no access to the calendar.
        NotAllowed: This user has no permission to write in the calendar, or the session has no scope for this request.

    See tests/rules.csv (E) and docs/reference.md#fields-of-an-event.

    >>> lab = svc.sandbox()
    >>> made = svc.create_event("Seminar", start="2026-11-02 10:00", end="2026-11-02 11:30", time_zone="Europe/Berlin")
    >>> made[["summary", "start", "guests_can_invite_others"]].astype(str).values.tolist()
    [['Seminar', '2026-11-02 10:00:00+01:00', 'True']]
    >>> flight = svc.create_event("Flight", start="2026-11-02 10:00", end="2026-11-02 13:00",
    ...                           time_zone="Europe/Berlin", end_time_zone="America/New_York")
    >>> flight[["time_zone", "end_time_zone"]].values.tolist(), str(flight["end"][0] - flight["start"][0])
    ([['Europe/Berlin', 'America/New_York']], '0 days 09:00:00')
    """
    given = locals()

    session = session_or_current(session)
    arguments = {name: given[name] for name in ARGUMENTS}
    query = query_of(arguments)
    warn_deprecated(arguments)
    calendar = calendar_id(session, calendar)
    if time_zone is None and _is_without_zone(arguments, session.clock.now()):
        arguments["time_zone"] = get_calendar(session, calendar).get("timeZone")
    body = event_body(**body_arguments(session, arguments))
    created = insert_event(session, calendar, body, query=add_required(query, body))
    return with_first(event_frame(EVENT, [created]), body)


# The arguments of `create_event` that a row of `create_events` and a call of `update_event` accept.
ARGUMENTS = tuple(name for name in signature(create_event).parameters if name not in ("session", "calendar"))


def body_arguments(session: Session, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments for `event_body`, without the query arguments and with a random conference request id.

    Words in times, such as "today", are replaced by dates on the clock of the session. Stored files in
    `attachments` are replaced by their URLs. One request is sent for each stored file.
    """
    fields = {name: value for name, value in arguments.items() if name not in QUERY_ARGUMENTS}
    attachments = fields.get("attachments")
    if attachments is not None:
        urls: list[Any] = []
        for attachment in attachments if isinstance(attachments, list | tuple) else [attachments]:
            is_url = isinstance(attachment, str) and "://" in attachment
            if is_url or (isinstance(attachment, Mapping) and "id" not in attachment):
                urls.append(attachment)
            else:
                ids = files_at(session, attachment)
                urls += [get_file(session, file_id, fields="webViewLink")["webViewLink"] for file_id in ids]
        fields["attachments"] = urls
    time_zone, now = zone_name("time_zone", fields.get("time_zone")), session.clock.now()
    for name in ("start", "end", "original_start_time"):
        if fields.get(name) is not None:
            fields[name] = without_words(fields[name], now, time_zone)
    return {**fields, "request_id": f"conference-{session.random.getrandbits(64):016x}"}


def event(
    event: File, *, calendar: File = "primary", max_attendees: int | None = None, session: SessionLike = None
) -> DataFrame:
    """Get one or more events of a calendar by their ids.

    Args:
        event: An event id, a row, a DataFrame with a column `id`, or a list of these.
        calendar: The id, the name or a row of the calendar that contains the events.
        max_attendees: The maximum number of attendees in the response. If an event has more attendees, its row has only
            the caller.

    Returns:
        One row for each event, with the columns of `create_event`.

    Raises:
        TypeError, ValueError: An argument is not valid; nothing was sent.
        NotFound: There is no such event in this calendar.

    >>> lab = svc.sandbox()
    >>> made = svc.create_event("Tea", start="2026-11-02", end="2026-11-03")
    >>> svc.event(made)["summary"].tolist()
    ['Tea']
    """

    session = session_or_current(session)
    query, ids = query_of({"max_attendees": max_attendees}), row_ids(event, "event")
    calendar = calendar_id(session, calendar)
    made = [get_event(session, calendar, event_id, query=query) for event_id in ids]
    keys = [key for each in made for key in (*(["recurrence"] if each.get("recurrence") else []), *own_values(each))]
    return with_first(event_frame(EVENT, made), keys)


def update_event(
    event: File,
    *,
    this_and_following: bool = False,
    calendar: File = "primary",
    if_match: str | None = None,
    send_updates: str | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    errors: Errors = None,
    progress: Progress = None,
    session: SessionLike = None,
    summary: str | None = None,
    start: When | None = None,
    end: End | None = None,
    duration: Duration | None = None,
    time_zone: Zone | None = None,
    recurrence: str | Sequence[str] | None = _UNCHANGED,
    attendees: Any = None,
    location: str | None = None,
    description: str | None = None,
    color: str | int | None = None,
    reminders: Sequence[Any] | Mapping[str, Any] | None = None,
    end_time_zone: Zone | None = None,
    conference: bool | str | Mapping[str, Any] | None = None,
    attachments: Any = None,
    visibility: str | None = None,
    transparency: str | None = None,
    status: str | None = None,
    guests_can_invite_others: bool | None = None,
    guests_can_modify: bool | None = None,
    guests_can_see_other_guests: bool | None = None,
    anyone_can_add_self: bool | None = None,
    private: Mapping[str, str] | None = None,
    shared: Mapping[str, str] | None = None,
    source: str | Mapping[str, str] | None = None,
    gadget: Mapping[str, Any] | None = None,
    sequence: int | None = None,
    original_start_time: When | None = None,
    event_id: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    max_attendees: int | None = None,
    conference_data_version: int | None = None,
    supports_attachments: bool | None = None,
    send_notifications: bool | None = None,
) -> DataFrame:
    """Change fields of one or more events. The id of an instance changes only this instance of a recurring event.

    The id of a recurring event changes all its instances. Instances that were changed or cancelled individually keep
    their changes, and move with the series if it moves.

    Args:
        event: An event id, a row, a DataFrame with a column `id`, or a list of these.
        this_and_following: True changes an instance and all following ones. The series then ends before the instance,
            and a new series begins there, which the result shows. Only the organizer can do this.
        calendar: The id, the name or a row of the calendar that contains the events.
        if_match: The etag that the event must still have, from the column `etag`. If the event has changed, nothing is
            changed, and the error has the status 412.
        send_updates: The attendees who are sent an update: "all", "externalOnly" or "none".
        workers, executor, errors: The threads or the executor, and what happens with an error, as for `upload`.
        progress: None shows a bar for long calls, True always, False never. A function gets (rows done, rows).
        summary, ...: The new values of fields, as arguments of `create_event`, and query parameters such as
            `conference_data_version`. Other fields do not change. `start` alone keeps the length of the event, and
            moves the recurrence of a series; a date makes an all-day event. A time without a time zone is in the time
            zone of the event. Only `time_zone` changes that zone, and not a time with another one. A Series or a
            list has a value for each event, except for attendees, recurrence, reminders and attachments. `duration`,
            and an `end` such as "11:00", count from the start of the event, unless `start` is given.
            `recurrence=None` ends a recurrence, so that the event takes place once. If another recurrence lacks
            instances with individual changes, a warning says so. `metadata={"location": None}` removes the location.

    Returns:
        One row for each event after the change, with the columns of `create_event`, and outcome, error (str), attempts
        (Int64), seconds (Float64).

    Raises:
        TypeError, ValueError: An argument does not exist or is not valid, a time zone is given without a time, the rule
            of a series cannot be moved, `this_and_following` is given for an event that does not recur or for two
            instances of one series, or `event_id` is given for an existing event; nothing was changed.
        BadRequest: The service refused the change.
        NotFound: The calendar or the event does not exist, or this user has no access to the calendar.
        NotAllowed: Only the organizer can make this change.

    >>> lab = svc.sandbox()
    >>> made = svc.create_event("Tea", start="2026-11-02", end="2026-11-03")
    >>> svc.update_event(made, summary="Coffee")[["summary", "sequence"]].values.tolist()
    [['Coffee', 0]]
    >>> walk = svc.create_event("Walk", start="2026-11-02 10:00", end="11:00", time_zone="UTC", recurrence="daily")
    >>> third = svc.instances(walk, limit=3)["id"][2]
    >>> svc.update_event(third, this_and_following=True, start="2026-11-04 15:00")["start"].astype(str).tolist()
    ['2026-11-04 15:00:00+00:00']
    """
    given = locals()
    session = session_or_current(session)
    changes = {name: given[name] for name in ARGUMENTS if given[name] is not None and name != "send_updates"}
    if isinstance(recurrence, str) and recurrence == _UNCHANGED:
        del changes["recurrence"]
    else:
        changes["recurrence"] = recurrence
    ends = ("end", "duration")
    for zone, times in (("time_zone", ("start", "end", "original_start_time", "duration")), ("end_time_zone", ends)):
        if changes.get(zone) is not None and all(changes.get(time) is None for time in times):
            raise ValueError(f"{zone} is the time zone of {times[0]}; give {times[0]} together with {zone}")
    query = query_of({**changes, "send_updates": send_updates})
    warn_deprecated(changes)
    ids = row_ids(event, "event")
    columns = {
        name: values
        for name, value in changes.items()
        if name not in _LISTS and (values := column_values(name, value, len(ids), "event")) is not None
    }
    if columns and len({*ids}) < len(ids):
        raise ValueError(f"event names an event several times; {next(iter(columns))} has a value for each")
    arguments, body = _checked(session, {name: value for name, value in changes.items() if name not in columns})
    own = {
        event_id: _checked(
            session, changes | {name: None if is_missing(values[n]) else values[n] for name, values in columns.items()}
        )
        for n, event_id in enumerate(ids if columns else ())
    }
    if not _is_following(this_and_following, ids) and event_id is not None:
        raise ValueError("event_id is the id of a new event; leave it out, because the id of an event cannot change")
    warn_about({name: value for name, value in body.items() if name not in ("start", "end", "recurrence")})
    calendar, query = calendar_id(session, calendar), add_required(query, body)
    call = EventCall(calendar, query, if_match, this_and_following, arguments, body, own).update
    keys = [*body, *(key for _, fields in own.values() for key in fields)]
    return run_on_events("Update events", call, ids, session, Batch(workers, executor, errors, progress=progress), keys)


_LISTS = ("attendees", "recurrence", "reminders", "attachments")  # the arguments of which one event has a list


def _checked(session: Session, changes: Mapping[str, Any]) -> tuple[dict[str, Any], JSONObject]:
    """Return the arguments of a change without words and Periods, and the fields that do not depend on the event.

    Raises TypeError or ValueError for an argument that is not valid.
    """
    arguments = without_periods(body_arguments(session, changes))
    is_relative = needs_start(arguments) and arguments.get("start") is None
    known = {name: value for name, value in arguments.items() if not (is_relative and name in ("end", "duration"))}
    return arguments, partial_body(**known | {ZONE_OF[name]: "UTC" for name in local_times(arguments)})


def _is_following(this_and_following: object, ids: list[str]) -> bool:
    """Return the argument as a bool. Raises ValueError if it is True for several instances of one series."""
    series = Counter(one_id.partition("_")[0] for one_id in ids)
    is_following = flag("this_and_following", this_and_following)
    if is_following and len(ids) > len(series):
        name, number = series.most_common(1)[0]
        raise ValueError(f"event has {number} instances of the series {name!r}; this_and_following takes one of them")
    return is_following


def respond(
    event: File,
    response: str,
    *,
    comment: str | None = None,
    calendar: File = "primary",
    workers: int | None = None,
    executor: Executor | None = None,
    errors: Errors = None,
    progress: Progress = None,
    session: SessionLike = None,
) -> DataFrame:
    """Respond to an invitation. The organizer and the other guests see the response.

    Args:
        event: An event id, a row, a DataFrame with a column `id`, or a list of these, from the caller's calendar.
        response: "accepted", "declined", "tentative" or "needsAction".
        comment: A text that is stored with the response.
        calendar: The id, the name or a row of the caller's calendar that contains the events.
        workers, executor, errors: The threads or the executor, and what happens with an error, as for `upload`.
        progress: None shows a bar for long calls, True always, False never. A function gets (rows done, rows).

    Returns:
        One row for each event after the change, with the columns of `create_event`, and outcome, error (str), attempts
        (Int64), seconds (Float64).

    Raises:
        ValueError: `response` is not one of the four values, or the caller is not an attendee of the event.

    >>> lab = svc.sandbox()
    >>> made = svc.create_event("Tea", start="2026-11-02", end="2026-11-03", attendees="bob@svc.example")
    >>> bob = lab.sign_in("bob@svc.example")
    >>> svc.respond(made, "accepted", session=bob)["attendees"][0][0]["responseStatus"]
    'accepted'
    """
    answer: JSONObject = {"responseStatus": choice("response", response, RESPONSES)}
    if comment:
        answer["comment"] = comment
    batch, ids = Batch(workers, executor, errors, progress=progress), row_ids(event, "event")
    session = session_or_current(session)
    call = partial(respond_row, calendar=calendar_id(session, calendar), answer=answer)
    return run_on_events("Respond", call, ids, session, batch, ["attendees"])


def delete_event(
    event: File,
    *,
    this_and_following: bool = False,
    calendar: File = "primary",
    if_match: str | None = None,
    send_updates: str | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    errors: Errors = None,
    progress: Progress = None,
    session: SessionLike = None,
) -> DataFrame:
    """Delete one or more events. The id of an instance cancels only this instance of a recurring event.

    Args:
        event: An event id, a row, a DataFrame with a column `id`, or a list of these, also ids of `instances`.
        this_and_following: True deletes an instance and all following ones. Only the organizer can do this.
        calendar: The id, the name or a row of the calendar that contains the events.
        if_match: The etag that the event must still have, from the column `etag`. If the event has changed, nothing is
            deleted, and the error has the status 412.
        send_updates: The attendees who are sent a cancellation: "all", "externalOnly" or "none".
        workers, executor, errors: The threads or the executor, and what happens with an error, as for `upload`.
        progress: None shows a bar for long calls, True always, False never. A function gets (rows done, rows).

    Returns:
        One row for each event: id (str), deleted (boolean, missing if the call failed), outcome, error (str), attempts
        (Int64), seconds (Float64).

    Raises:
        ValueError: `this_and_following` is given for an event that does not recur, for an event of another organizer or
            for two instances of one series.
        NotFound: The event does not exist, or is already deleted.

    >>> lab = svc.sandbox()
    >>> made = svc.create_event("Tea", start="2026-11-02", end="2026-11-03")
    >>> svc.delete_event(made)["deleted"].tolist()
    [True]
    """
    query, ids = query_of({"send_updates": send_updates}), row_ids(event, "event")
    session = session_or_current(session)
    following = _is_following(this_and_following, ids)
    operation = RowOperation(
        DELETED,
        EventCall(calendar_id(session, calendar), query, if_match, following).delete,
        known=known_id,
        row_errors=(*ROW_ERRORS, ValueError),
        title="Delete events",
        unit="events",
    )
    batch = Batch(workers, executor, errors, progress=progress)
    return run(operation, ids, session, batch)


# -- an event for each row of a DataFrame


def create_events(
    frame: DataFrame,
    *,
    calendar: File = "primary",
    time_zone: Zone | None = None,
    send_updates: str | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    errors: Errors = None,
    resume: Resume = None,
    progress: Progress = None,
    session: SessionLike = None,
    **fields: Any,
) -> DataFrame:
    """Create an event for each row of a DataFrame. If a row is refused, the events of the other rows are still created.

    Args:
        frame: A DataFrame whose columns are arguments of `create_event` (summary, start, end, time_zone, recurrence,
            conference_data_version ...), or synonyms of them, such as title. A missing cell means that the argument is
            not given.
        calendar: The id, the name or a row of the calendar in which all events are created.
        time_zone: The time zone of rows that have no value in a column `time_zone`. None: that of `calendar`.
        send_updates: "all", "externalOnly" or "none", for rows that have no value in a column `send_updates`.
        workers, executor, errors: The threads or the executor for several rows, and what happens with an error of one
            of them. See docs/bulk.md.
        resume: The name of a ledger, a file in the current folder in which the call records the rows that are done. The
            same call again creates only the other events. None records nothing. See docs/bulk.md.
        progress: None shows a bar for long calls, True always, False never. A function gets (rows done, rows).
        **fields: Arguments of `create_event` for rows that have no value in such a column, like `reminders=[10]`.

    Returns:
        One row for each row of `frame`, with the same index: row (object, the index label), id, summary (str), start,
        end (datetime64[ms, `time_zone` or UTC]), html_link (str), each other field that was set, error (str, the
        message if the row was refused), field (str, the field or argument that the error concerns), outcome (str),
        attempts (Int64), seconds (Float64).

    Raises:
        TypeError, ValueError: `frame` is not a DataFrame, or has a column that is not an argument; nothing was sent.
        NotSignedIn, ServiceFailed, Unreachable: An error that concerns all rows. The attribute `result` of the error is
            the frame of the rows that were processed before the error.

    >>> import pandas as pd
    >>> lab = svc.sandbox()
    >>> days = ["2026-11-02", "2026-11-09"]
    >>> term = pd.DataFrame({"summary": ["Algebra", "Geometry"], "start": days, "end": ["2026-11-03", "2026-11-10"]})
    >>> svc.create_events(term)["outcome"].tolist()
    ['done', 'done']
    """
    session = session_or_current(session)
    if not is_frame(frame):
        raise TypeError(
            f"frame must be a DataFrame with a row for each event, not {type(frame).__name__}; give pd.DataFrame(rows)"
        )
    for name in fields.keys() - {*ARGUMENTS}:
        raise TypeError(unknown_argument("create_events", name, [*signature(create_events).parameters, *ARGUMENTS]))
    names = _argument_names(frame)
    common: dict[str, Any] = {
        "time_zone": time_zone,
        "calendar": calendar_id(session, calendar),
        "send_updates": send_updates,
        **fields,
    }
    query_of(common)
    warn_deprecated([*names, *fields])
    keys = [READERS[name][0] if name in READERS else camel(name) for name in dict.fromkeys([*names, *fields])]
    columns_set = EVENT.pick([key for key in keys if key in EVENT.keys and key not in CREATED.keys]).columns
    zone = zone_name("time_zone", time_zone) or "UTC"
    columns = [frame[column].tolist() for column in frame.columns]
    rows: list[_EventRow] = []
    for label, cells in zip(frame.index.tolist(), zip(*columns, strict=True), strict=True):
        present = ((name, cell) for name, cell in zip(names, cells, strict=True) if not is_missing(cell))
        rows.append(_EventRow(label, common | {name: _argument(name, cell) for name, cell in present}))
    now = session.clock.now()
    if time_zone is None and (local := [row for row in rows if _is_without_zone(row.arguments, now)]):
        zone = get_calendar(session, common["calendar"])["timeZone"]
        for row in local:
            row.arguments["time_zone"] = zone
    resumable: Resumable[_EventRow] = Resumable(
        "create_events",
        common,
        identity=lambda row: row.arguments,
        with_id=_with_id,
        new_ids=new_event_ids,
        needs_id=lambda row: "event_id" not in row.arguments,
        repeat=partial(_create, zone=zone, repeated=True),
        current=lambda row: {"row": row.label},
    )
    operation = RowOperation(
        Schema((*CREATED.columns[:-2], *columns_set, *CREATED.columns[-2:])),
        partial(_create, zone=zone),
        known=lambda row: {"row": row.label, "summary": row.arguments.get("summary")},
        error_columns=_field_of,
        row_errors=(*ROW_ERRORS, TypeError, ValueError),
        resumable=resumable,
        title="Create events",
        unit="events",
    )
    try:
        result = run(operation, rows, session, Batch(workers, executor, errors, resume, progress))
    except BaseException as error:
        partial_result: DataFrame | None = getattr(error, "result", None)
        if partial_result is not None:
            vars(error)["result"] = in_zone(partial_result.set_index("row", drop=False), zone)
        raise
    return in_zone(result.set_index(frame.index), zone)


class _EventRow(NamedTuple):
    label: Any
    arguments: dict[str, Any]


def _argument_names(frame: DataFrame) -> list[str]:
    """Return the argument of each column, whose name may be a synonym, such as "title".

    Raises ValueError for other columns, with the call that renames the columns whose names are similar.
    """
    names = [snake(str(column)) for column in frame.columns]
    free = [argument for argument in ARGUMENTS if argument not in names]
    renamed: dict[Any, str] = {}
    others: list[Any] = []
    for n, (column, name) in enumerate(zip(frame.columns, names, strict=True)):
        if name in ARGUMENTS:
            continue
        argument = nearest_name(name, free, similarity=0.8)
        if argument is None or argument not in free:
            others.append(column)
            continue
        free.remove(argument)
        if nearest_name(name, [argument], similarity=1):
            names[n] = argument
        else:
            renamed[column] = argument
    if renamed or others:
        columns = ", ".join(repr(column) for column in (*renamed, *others))
        rename = f"give frame.rename(columns={renamed})" if renamed else ""
        rest = f"rename or drop {', '.join(map(repr, others))}" if others else ""
        advice = ", and ".join(filter(None, (rename, rest)))
        raise ValueError(f"frame has columns that create_event does not take: {columns}; {advice}")
    return names


def _is_without_zone(arguments: Mapping[str, Any], now: datetime) -> bool:
    """Return True if the start is a time without a zone, and False for another start, also one that is no time."""
    try:
        return "start" in local_times({**arguments, "start": without_words(arguments.get("start"), now), "end": None})
    except (TypeError, ValueError):
        return False


_WHOLE_NUMBERS = ("conference_data_version", "max_attendees", "sequence")


def _argument(name: str, cell: Any) -> Any:
    """Return a DataFrame cell as an argument value. A float such as 1.0 in a column of integers becomes an int."""
    return int(cell) if name in _WHOLE_NUMBERS and isinstance(cell, float) and cell.is_integer() else cell


def _create(session: Session, row: _EventRow, report: Report, zone: str, *, repeated: bool = False) -> Record:
    """Create an event and return its record. If `repeated`, an earlier call may have created it with the same id."""
    arguments = row.arguments
    query = query_of(arguments)
    body = event_body(**body_arguments(session, {"start": None, "end": None, **arguments}))
    try:
        made = insert_event(session, arguments["calendar"], body, query=add_required(query, body))
    except AlreadyExists:
        if not repeated:
            raise
        made = get_event(session, arguments["calendar"], arguments["event_id"])
    return {"row": row.label, **event_record(made, zone)}


def _with_id(row: _EventRow, event_id: str) -> _EventRow:
    return row if "event_id" in row.arguments else row._replace(arguments={**row.arguments, "event_id": event_id})


def _field_of(error: Exception) -> Record:
    """Return the field or the argument that an error concerns."""
    if isinstance(error, EventError):
        return {"field": error.problems[0][0]}
    if isinstance(error, TypeError | ValueError):
        argument = str(error).split(" ")[0].rstrip(":")  # messages about arguments begin with the argument's name
        return {"field": argument if argument in ARGUMENTS else None}
    return {"field": getattr(error, "location", None)}
