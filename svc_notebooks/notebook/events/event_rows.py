"""Changes one event of a call for many, and converts the results of all to a DataFrame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...core.http.messages import JSONObject
from ...core.time_zones import UTC_NAME
from ..batch.batch import Batch, RowOperation, known_id, run
from ..batch.row_call import ROW_ERRORS, Report, RowCall
from ..frames.event_schemas import EVENT
from .event_changes import change_event, change_following
from .records import event_record, in_zone

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.session import Session
    from ..frames.frames import Record


def change_row(
    session: Session,
    event_id: str,
    report: Report,
    calendar: str,
    query: Mapping[str, object],
    body: JSONObject,
    arguments: dict[str, Any],
    if_match: str | None = None,
    this_and_following: bool = False,
) -> Record:
    """Change an event, and return its record. `body` has the fields of arguments that do not depend on the event."""
    from ...client.events.events import patch_event

    if this_and_following:
        return event_record(change_following(session, calendar, event_id, arguments, query, if_match), UTC_NAME)
    times = (arguments.get(name) for name in ("start", "end", "duration"))
    if "recurrence" in arguments or any(time is not None for time in times):
        return event_record(change_event(session, calendar, event_id, arguments, query, if_match), UTC_NAME)
    return event_record(patch_event(session, calendar, event_id, body, query=query, if_match=if_match), UTC_NAME)


def run_on_events(title: str, call: RowCall[str], ids: list[str], session: Session, batch: Batch) -> DataFrame:
    """Run `call` for each event id, and return a DataFrame of the events, with times in their common zone or in UTC."""
    operation = RowOperation(
        EVENT, call, known=known_id, row_errors=(*ROW_ERRORS, ValueError), title=title, unit="events"
    )
    try:
        result = run(operation, ids, session, batch)
    except BaseException as error:
        if hasattr(error, "result"):
            error.result = _in_common_zone(error.result)
        raise
    return _in_common_zone(result)


def _in_common_zone(events: DataFrame) -> DataFrame:
    zones = set(events.loc[events["start"].notna(), "time_zone"].fillna(UTC_NAME))
    return in_zone(events, zones.pop() if len(zones) == 1 else UTC_NAME)


def respond_row(session: Session, event_id: str, report: Report, calendar: str, answer: JSONObject) -> Record:
    """Respond to an event, and return its record. Raises ValueError if the user is not an attendee of the event."""
    from ...client.events.events import get_event, patch_event

    attendees = get_event(session, calendar, event_id).get("attendees") or []
    own = [{"email": attendee["email"]} for attendee in attendees if attendee.get("self") and attendee.get("email")]
    if not own:
        raise ValueError(f"you are not among the attendees of event {event_id!r}")
    body: JSONObject = {"attendeesOmitted": True, "attendees": [{**own[0], **answer}]}
    return event_record(patch_event(session, calendar, event_id, body), UTC_NAME)


def delete_row(
    session: Session,
    event_id: str,
    report: Report,
    calendar: str,
    query: Mapping[str, object],
    if_match: str | None = None,
) -> Record:
    """Delete an event, and return its record."""
    from ...client.events.events import delete_event

    delete_event(session, calendar, event_id, query=query, if_match=if_match)
    return {"id": event_id, "deleted": True}
