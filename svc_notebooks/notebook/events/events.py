"""Creates, reads, changes and deletes events: create_event, event, update_event, respond, delete_event."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any

from ...core.events.fields import RESPONSES
from ...core.http.messages import JSONObject
from ..arguments import choice, file_ids
from ..batch import apply_to_rows
from ..current_session import session_or_current
from ..frames.event_schemas import EVENT
from ..frames.schemas import DELETED
from .body import event_body, partial_body
from .parameters import QUERY_ARGUMENTS, checked_calendar, query_of, warn_deprecated, with_required
from .records import common_zone, event_frame, event_record, in_zone

if TYPE_CHECKING:
    from datetime import date, datetime, tzinfo

    from pandas import DataFrame

    from ...client.session import Session
    from ..arguments import File

    When = date | datetime | str | Mapping[str, str]
    Zone = str | tzinfo


def create_event(
    summary: str | None = None,
    *,
    start: When,
    end: When,
    time_zone: Zone | None = None,
    end_time_zone: Zone | None = None,
    recurrence: str | Sequence[str] | None = None,
    attendees: Any = None,
    location: str | None = None,
    description: str | None = None,
    color: str | int | None = None,
    reminders: Sequence[Any] | Mapping[str, Any] | None = None,
    conference: bool | str | Mapping[str, Any] = False,
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
    calendar: str = "primary",
    send_updates: str | None = None,
    max_attendees: int | None = None,
    conference_data_version: int | None = None,
    supports_attachments: bool | None = None,
    send_notifications: bool | None = None,
    session: Session | None = None,
) -> DataFrame:
    """Create an event. Everything is checked before it is sent, by the rules of the service.

    Args:
        summary: The title.
        start: A date is all day ("2026-11-02", a datetime.date); a datetime, a pandas Timestamp or a text with a
            time is a moment in its own zone, or in `time_zone`. A dict is taken as on the wire.
        end: Likewise, and exclusive: the end of one whole day is the next day.
        time_zone: An IANA name or a ZoneInfo, for start and end; recurring events that are not all day need one.
        end_time_zone: The zone of the end, if it differs: of a flight, for example. Datetimes with zones of their own
            and dicts say the same.
        recurrence: Words ("weekly on Mon, Wed until 2027-02-12"; see `recurrence_lines`), or lines of RFC 5545.
        attendees: E-mail addresses, dicts (`email`, `display_name`, `optional` ...) or a DataFrame of those columns.
        color: An id or a name of `event_colors()`.
        reminders: None: the calendar's. [10, ("email", 60)] are minutes before the start; [] is none.
        conference: True asks for a new one; a text is the type of its solution; a dict is conferenceData.
        attachments: URLs, stored files (rows, frames), dicts of `file_url` and `title`, or a list of them.
        visibility: "default", "public", "private" or "confidential".
        transparency: "opaque" (busy) or "transparent".
        private, shared: Properties of this calendar's copy, and of all attendees' copies.
        source: A URL, or a dict of title and url.
        gadget: A dict of display, height, width (pixels), icon_link, link, preferences, title and type.
        event_id: 5 to 1024 of 0-9 and a-v; None lets the service choose.
        metadata: More fields as on the wire; they win over the arguments.
        calendar: An id of `calendars()`.
        send_updates: "all", "externalOnly" or "none": who is sent an invitation. "true" and "false", which the
            interface names, mean "all" and "none".
        max_attendees: How many attendees the answer may have; more, and only the caller is shown.
        conference_data_version: 0 or 1, sent as given. With 0 the service ignores conference data, and the frame has
            none. None: 1 if there is conference data.
        supports_attachments: True or False, sent as given. With False the service keeps no attachments. None: True if
            there are attachments.
        send_notifications: Deprecated; use `send_updates`. True or False is sent as given, with a FutureWarning.

    Returns:
        One row with a column for each field of the event, defaults filled in: id, summary (str), start, end
        (datetime64[ms, the zone of the start, UTC if it has none]), all_day (boolean), time_zone, end_time_zone (str,
        the zones of start and end), status, location (str), recurrence, attendees (object), html_link (str),
        original_start_time (datetime64, like start), original_start_time_zone (str) and more.

    Raises:
        TypeError, ValueError: An argument cannot be meant, or the service would refuse it; the message names the
            field, and nothing was sent.
        BadRequest: The service refused it.
        AlreadyExists: There is an event of this id.
        NotFound: There is no such calendar, or not for this user.
        NotAllowed: This user may not write in it, or the scope is missing.

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

    arguments = dict(locals())
    del arguments["insert_event"]
    session = session_or_current(arguments.pop("session"))
    query = query_of(arguments)
    warn_deprecated(arguments)
    body = body_of(session, arguments)
    made = insert_event(session, arguments["calendar"], body, query=with_required(query, body))
    return event_frame(EVENT, [made])


def body_of(session: Session, arguments: Mapping[str, Any]) -> JSONObject:
    """The event to send, checked. Raises TypeError, ValueError."""
    of_event = {name: value for name, value in arguments.items() if name not in QUERY_ARGUMENTS}
    if of_event.get("attachments") is not None:
        of_event["attachments"] = attachment_urls(session, of_event["attachments"])
    return event_body(request_id=f"conference-{session.random.getrandbits(64):016x}", **of_event)


def attachment_urls(session: Session, attachments: Any) -> list[Any]:
    """Attachments as URLs: those of stored files are where they are viewed."""
    from ...client.files import get_file

    several = attachments if isinstance(attachments, list | tuple) else [attachments]
    urls: list[Any] = []
    for attachment in several:
        if (isinstance(attachment, str) and "://" in attachment) or (
            isinstance(attachment, Mapping) and "id" not in attachment
        ):
            urls.append(attachment)
        else:
            urls += [
                get_file(session, file_id, fields="webViewLink")["webViewLink"] for file_id in file_ids(attachment)
            ]
    return urls


ARGUMENTS = tuple(name for name in signature(create_event).parameters if name not in ("session", "calendar"))
"""What a row of a frame, or a change, may name."""


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


def update_event(
    event: File,
    *,
    calendar: str = "primary",
    send_updates: str | None = None,
    session: Session | None = None,
    **changes: Any,
) -> DataFrame:
    """Change some of an event's fields; of an instance of a recurring event, only that one.

    Args:
        event: As for `event`.
        calendar: Likewise.
        send_updates: Who is told: "all", "externalOnly" or "none".
        **changes: Arguments of `create_event`, including `conference_data_version` and the other query parameters;
            `metadata={"location": None}` takes a field away.

    Returns:
        One row for each, as it is now, with the columns of `create_event`.

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
    if unknown := [name for name in changes if name not in ARGUMENTS]:
        raise TypeError(f"update_event takes no {unknown[0]!r}; it takes {', '.join(ARGUMENTS)}")
    _check_zones(changes)
    query = query_of({**changes, "calendar": calendar, "send_updates": send_updates})
    warn_deprecated(changes)
    fields = {name: value for name, value in changes.items() if name not in QUERY_ARGUMENTS}
    if fields.get("attachments") is not None:
        fields["attachments"] = attachment_urls(session, fields["attachments"])
    body = partial_body(request_id=f"conference-{session.random.getrandbits(64):016x}", **fields)
    ids = file_ids(event, "event")
    return _apply_to_events(
        ids, lambda event_id: patch_event(session, calendar, event_id, body, query=with_required(query, body))
    )


def _check_zones(changes: Mapping[str, Any]) -> None:
    """Raise ValueError for a zone whose time is not given: it would change nothing."""
    for zone, times in (("time_zone", ("start", "end", "original_start_time")), ("end_time_zone", ("end",))):
        if changes.get(zone) is not None and all(changes.get(time) is None for time in times):
            raise ValueError(f"{zone} is the zone of {times[0]}: give {' and '.join(times[:2])} with it")


def _apply_to_events(ids: Iterable[str], call: Callable[[str], JSONObject]) -> DataFrame:
    """One row for each id; the zone is the one that all of them have."""
    done: list[JSONObject] = []

    def record(event_id: str) -> dict[str, Any]:
        done.append(call(event_id))
        return event_record(done[-1], "UTC")

    events = apply_to_rows(EVENT, ids, record)
    return in_zone(events, common_zone(done))


def respond(
    event: File,
    response: str,
    *,
    comment: str | None = None,
    calendar: str = "primary",
    session: Session | None = None,
) -> DataFrame:
    """Answer an invitation; the organizer and the other guests see it.

    Args:
        event: As for `event`, in one's own calendar.
        response: "accepted", "declined", "tentative" or "needsAction".
        comment: A word with it.

    Returns:
        One row for each, as it is now, with the columns of `create_event`.

    Raises:
        ValueError: There is no such response, or one is not invited.

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

    def send_response(event_id: str) -> JSONObject:
        own = _own_entry(get_event(session, checked_calendar(calendar), event_id))
        return patch_event(session, calendar, event_id, {"attendeesOmitted": True, "attendees": [own | answer]})

    return _apply_to_events(file_ids(event, "event"), send_response)


def _own_entry(event: JSONObject) -> JSONObject:
    """Oneself among the attendees."""
    attendees: Any = event.get("attendees") or []
    for attendee in attendees:
        if attendee.get("self"):
            return {"email": attendee["email"]}
    raise ValueError(f"you are not among the attendees of event {event.get('id')!r}")


def delete_event(
    event: File,
    *,
    calendar: str = "primary",
    send_updates: str | None = None,
    session: Session | None = None,
) -> DataFrame:
    """Cancel events; an instance of a recurring event is cancelled by itself.

    Args:
        event: As for `event`; the id of an instance, as `instances` has it, is one, too.
        send_updates: Who is told: "all", "externalOnly" or "none".

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

    def delete_row(event_id: str) -> dict[str, Any]:
        delete_one(session, calendar, event_id, query=query)
        return {"id": event_id, "deleted": True}

    return apply_to_rows(DELETED, file_ids(event, "event"), delete_row)
