"""Creates, reads, changes and deletes events, and responds to invitations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any, Unpack

from ...core.events.fields import RESPONSES
from ...core.http.messages import JSONObject
from ...core.resources.events import Event
from ..arguments import choice, file_ids
from ..batch import apply_to_rows
from ..current_session import session_or_current
from ..frames.event_schemas import EVENT
from ..frames.frames import Record
from ..frames.schemas import DELETED
from .body import event_body, partial_body
from .details import DETAILS, EventChanges, EventDetails, When, Zone, check_names, describe_details
from .parameters import QUERY_ARGUMENTS, add_required, check_calendar, query_of, warn_deprecated
from .records import common_zone, event_frame, event_record, in_zone

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.session import Session
    from ..arguments import File


@describe_details(EventDetails)
def create_event(
    summary: str | None = None,
    *,
    start: When,
    end: When,
    time_zone: Zone | None = None,
    recurrence: str | Sequence[str] | None = None,
    attendees: Any = None,
    location: str | None = None,
    description: str | None = None,
    color: str | int | None = None,
    reminders: Sequence[Any] | Mapping[str, Any] | None = None,
    calendar: str = "primary",
    send_updates: str | None = None,
    session: Session | None = None,
    **details: Unpack[EventDetails],
) -> DataFrame:
    """Create an event. Its fields are checked by the rules of the service before they are sent.

    Args:
        summary: The title.
        start: A date is all day ("2026-11-02", a datetime.date); a datetime, a pandas Timestamp or a text with a
            time is a moment in its own zone, or in `time_zone`. A dict is taken as on the wire.
        end: As for `start`, and exclusive: the end of one whole day is the next day.
        time_zone: An IANA name or a ZoneInfo, for start and end; recurring events that are not all day need one.
        recurrence: Words ("weekly on Mon, Wed until 2027-02-12"; see `recurrence_lines`), or lines of RFC 5545.
        attendees: E-mail addresses, dicts (`email`, `display_name`, `optional` ...) or a DataFrame of those columns.
        location, description: Texts.
        color: An id or a name of `event_colors()`.
        reminders: [10, ("email", 60)] are minutes before the start; [] is none; None: those of the calendar.
        calendar: An id of `calendars()`.
        send_updates: "all", "externalOnly" or "none": who is sent an invitation. "true" and "false", which the
            interface names, mean "all" and "none".
        session: None: the current session.
        **details.

    Returns:
        One row with a column for each field of the event, defaults filled in: id, summary (str), start, end
        (datetime64[ms, the zone of the start, UTC if it has none]), all_day (boolean), time_zone, end_time_zone (str,
        the zones of start and end), status, location (str), recurrence, attendees (object), html_link (str),
        original_start_time (datetime64, like start), original_start_time_zone (str) and more.

    Raises:
        TypeError, ValueError: An argument is not valid, or the service would refuse it; the message names the
            field, and nothing was sent.
        BadRequest: The service refused the event.
        AlreadyExists: There is an event with this id.
        NotFound: There is no such calendar, or this user may not see it.
        NotAllowed: This user may not write in the calendar, or the scope is missing.

    See docs/rules.md#e-events (E) and docs/reference.md#fields-of-an-event.

    >>> lab = svc.sandbox()
    >>> made = svc.create_event("Seminar", start="2026-11-02 10:00", end="2026-11-02 11:30", time_zone="Europe/Berlin")
    >>> made[["summary", "start", "guests_can_invite_others"]].astype(str).values.tolist()
    [['Seminar', '2026-11-02 10:00:00+01:00', 'True']]
    >>> flight = svc.create_event("Flight", start="2026-11-02 10:00", end="2026-11-02 13:00",
    ...                           time_zone="Europe/Berlin", end_time_zone="America/New_York")
    >>> flight[["time_zone", "end_time_zone"]].values.tolist(), str(flight["end"][0] - flight["start"][0])
    ([['Europe/Berlin', 'America/New_York']], '0 days 09:00:00')
    """
    from ...client.events.events import insert_event

    check_names("create_event", details, tuple(signature(create_event).parameters))
    session = session_or_current(session)
    arguments: dict[str, Any] = {
        "summary": summary,
        "start": start,
        "end": end,
        "time_zone": time_zone,
        "recurrence": recurrence,
        "attendees": attendees,
        "location": location,
        "description": description,
        "color": color,
        "reminders": reminders,
        **{name: details.get(name) for name in DETAILS},
        "calendar": calendar,
        "send_updates": send_updates,
    }
    query = query_of(arguments)
    warn_deprecated(arguments)
    body = event_body(**body_arguments(session, arguments))
    made = insert_event(session, calendar, body, query=add_required(query, body))
    return event_frame(EVENT, [made])


ARGUMENTS = tuple(name for name in signature(create_event).parameters if name not in ("session", "calendar"))
"""The arguments that a row of a frame, or a change, may have."""


def body_arguments(session: Session, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `event_body`, without those of the query, and with stored attachments as URLs."""
    from ...client.files import get_file

    fields = {name: value for name, value in arguments.items() if name not in QUERY_ARGUMENTS}
    attachments = fields.get("attachments")
    if attachments is not None:
        urls: list[Any] = []
        for attachment in attachments if isinstance(attachments, list | tuple) else [attachments]:
            is_url = isinstance(attachment, str) and "://" in attachment
            if is_url or (isinstance(attachment, Mapping) and "id" not in attachment):
                urls.append(attachment)
            else:
                ids = file_ids(attachment)
                urls += [get_file(session, file_id, fields="webViewLink")["webViewLink"] for file_id in ids]
        fields["attachments"] = urls
    return {**fields, "request_id": f"conference-{session.random.getrandbits(64):016x}"}


def event(
    event: File, *, calendar: str = "primary", max_attendees: int | None = None, session: Session | None = None
) -> DataFrame:
    """Get events.

    Args:
        event: An id, a row, a DataFrame or a list of ids.
        calendar: The id of its calendar.
        max_attendees: As for `create_event`.

    Returns:
        One row for each, with the columns of `create_event`.

    Raises:
        TypeError, ValueError: An argument is not valid; nothing was sent.
        NotFound: There is no such event in this calendar.

    >>> lab = svc.sandbox()
    >>> made = svc.create_event("Tea", start="2026-11-02", end="2026-11-03")
    >>> svc.event(made)["summary"].tolist()
    ['Tea']
    """
    from ...client.events.events import get_event

    session = session_or_current(session)
    query = query_of({"calendar": calendar, "max_attendees": max_attendees})
    return event_frame(
        EVENT, [get_event(session, calendar, event_id, query=query) for event_id in file_ids(event, "event")]
    )


@describe_details(EventChanges)
def update_event(
    event: File,
    *,
    calendar: str = "primary",
    send_updates: str | None = None,
    session: Session | None = None,
    **changes: Unpack[EventChanges],
) -> DataFrame:
    """Change fields of events, or of an instance of a recurring event.

    Args:
        event: As for `event`.
        calendar: As for `event`.
        send_updates: Who is sent an update: "all", "externalOnly" or "none".
        **changes: Arguments of `create_event`, including `conference_data_version` and the other query parameters;
            `metadata={"location": None}` removes a field.

    Returns:
        One row for each event after the change, with the columns of `create_event`.

    Raises:
        TypeError, ValueError: There is no such argument, or it is not valid, or a zone is given without its time;
            nothing was sent.
        BadRequest, NotFound: As for `create_event`.
        NotAllowed: Only the organizer may change this.

    >>> lab = svc.sandbox()
    >>> made = svc.create_event("Tea", start="2026-11-02", end="2026-11-03")
    >>> svc.update_event(made, summary="Coffee")[["summary", "sequence"]].values.tolist()
    [['Coffee', 0]]
    """
    from ...client.events.events import patch_event

    session = session_or_current(session)
    check_names("update_event", changes, ARGUMENTS)
    for zone, times in (("time_zone", ("start", "end", "original_start_time")), ("end_time_zone", ("end",))):
        if changes.get(zone) is not None and all(changes.get(time) is None for time in times):
            raise ValueError(f"{zone} is the zone of {times[0]}: give {' and '.join(times[:2])} with it")
    query = query_of({**changes, "calendar": calendar, "send_updates": send_updates})
    warn_deprecated(changes)
    body = partial_body(**body_arguments(session, changes))
    query = add_required(query, body)
    return _apply_to_events(
        file_ids(event, "event"), lambda event_id: patch_event(session, calendar, event_id, body, query=query)
    )


def _apply_to_events(ids: list[str], call: Callable[[str], Event]) -> DataFrame:
    """Return a row for each answer of `call`, with times in the zone of all events, or in UTC if they differ."""
    answers: list[Event] = []

    def record(event_id: str) -> Record:
        answers.append(call(event_id))
        return event_record(answers[-1], "UTC")

    events = apply_to_rows(EVENT, ids, record)
    return in_zone(events, common_zone(answers))


def respond(
    event: File,
    response: str,
    *,
    comment: str | None = None,
    calendar: str = "primary",
    session: Session | None = None,
) -> DataFrame:
    """Respond to an invitation. The organizer and the other guests see the response.

    Args:
        event: As for `event`, in the caller's calendar.
        response: "accepted", "declined", "tentative" or "needsAction".
        comment: A text with the response.

    Returns:
        One row for each event after the change, with the columns of `create_event`.

    Raises:
        ValueError: There is no such response, or the caller is not invited.

    >>> lab = svc.sandbox()
    >>> made = svc.create_event("Tea", start="2026-11-02", end="2026-11-03", attendees="bob@svc.example")
    >>> bob = lab.sign_in("bob@svc.example")
    >>> svc.respond(made, "accepted", session=bob)["attendees"][0][0]["responseStatus"]
    'accepted'
    """
    from ...client.events.events import get_event, patch_event

    session = session_or_current(session)
    answer: JSONObject = {"responseStatus": choice("response", response, RESPONSES)}
    if comment:
        answer["comment"] = comment

    def send_response(event_id: str) -> Event:
        attendees = get_event(session, check_calendar(calendar), event_id).get("attendees") or []
        own = [{"email": attendee["email"]} for attendee in attendees if attendee.get("self")]
        if not own:
            raise ValueError(f"you are not among the attendees of event {event_id!r}")
        body: JSONObject = {"attendeesOmitted": True, "attendees": [{**own[0], **answer}]}
        return patch_event(session, calendar, event_id, body)

    return _apply_to_events(file_ids(event, "event"), send_response)


def delete_event(
    event: File,
    *,
    calendar: str = "primary",
    send_updates: str | None = None,
    session: Session | None = None,
) -> DataFrame:
    """Delete events, or cancel an instance of a recurring event.

    Args:
        event: As for `event`, or the id of an instance from `instances`.
        send_updates: Who is sent a cancellation: "all", "externalOnly" or "none".

    Returns:
        One row for each: id (str), deleted (boolean).

    Raises:
        NotFound: There is no such event, or it was deleted before.

    >>> lab = svc.sandbox()
    >>> made = svc.create_event("Tea", start="2026-11-02", end="2026-11-03")
    >>> svc.delete_event(made)["deleted"].tolist()
    [True]
    """
    from ...client.events.events import delete_event as delete_one

    session = session_or_current(session)
    query = query_of({"send_updates": send_updates, "calendar": calendar})

    def delete_row(event_id: str) -> Record:
        delete_one(session, calendar, event_id, query=query)
        return {"id": event_id, "deleted": True}

    return apply_to_rows(DELETED, file_ids(event, "event"), delete_row)
