"""Changes a stored event, a series, or a series from an instance on, as the arguments of `update_event` say."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from ...client.events.events import get_event, insert_event, new_event_ids, patch_event
from ...core.errors.caller_warning import warn_caller
from ...core.events.instances import duration
from ...core.events.series import Series
from ...core.events.times import Shift, TimeError, print_time, read_time
from ...core.http.messages import JSONObject, merge_patch
from ...core.time_zones import zone
from .body import partial_body, warn_about
from .event_times import event_zones
from .parameters import add_required
from .series_state import SeriesState, exceptions, keep_changes

if TYPE_CHECKING:
    from ...client.session import Session
    from ...core.resources.events import Event

_DAY = timedelta(days=1)


def changed_fields(event: Event, arguments: Mapping[str, Any]) -> JSONObject:
    """Return the merge patch that changes a stored event as the arguments of `update_event` say.

    A new start alone keeps the length of the event, and moves the recurrence of a series. Raises TypeError or
    ValueError, which names the argument.
    """
    if "recurrence" in arguments and (series := event.get("recurringEventId")):
        raise ValueError(f"recurrence is that of the series; give its id {series!r}, or this_and_following=True")
    start = arguments.get("start")
    named = {**arguments, **event_zones(event, arguments), "start": dict(event["start"]) if start is None else start}
    body: Any = partial_body(**named)
    if "recurrence" in arguments:
        body.setdefault("recurrence", None)
    if start is not None:
        body = {**_moved_fields(event, body["start"]), **body}
    elif body["start"] == event["start"]:
        del body["start"]
    for name, old in (("start", event["start"]), ("end", event["end"])):
        if isinstance(body.get(name), dict) and ("date" in old) != ("date" in body[name]):
            body[name] = {**dict.fromkeys(old), **body[name]}  # removes what the old time has
    if {"start", "recurrence"} & body.keys():
        merged: Any = merge_patch(event, body)
        warn_about({"start": merged["start"], "end": body.get("end"), "recurrence": merged.get("recurrence")})
    return body  # type: ignore[no-any-return]


def _moved_fields(event: Event, start: JSONObject) -> JSONObject:
    """Return the end and the recurrence that an event has at another start, if it keeps its length and its rule."""
    series, zones = Series.of(event), [event[name].get("timeZone") for name in ("start", "end")]
    named: dict[str, Any] = {"timeZone": zones[0], **start}
    try:
        first = read_time(named)
    except TimeError as error:
        raise ValueError(f"start: {error}") from None
    length, end_zone = duration(series.start, series.end), zones[1] if zones[1] != zones[0] else named["timeZone"]
    if isinstance(first, datetime):
        end = (first.astimezone(UTC) + length).astimezone(zone(end_zone) if end_zone else first.tzinfo)
        fields: Any = {"end": print_time(end, end.tzinfo or UTC, end_zone)}
    else:
        fields = {"end": {"date": str(first + max(_DAY, -(-length // _DAY) * _DAY))}}
    if series.lines and (lines := series.since(series.start, first)) != [*series.lines]:
        fields["recurrence"] = lines
    return fields  # type: ignore[no-any-return]


def change_event(
    session: Session,
    calendar: str,
    event_id: str,
    arguments: Mapping[str, Any],
    query: Mapping[str, object],
    if_match: str | None,
) -> Event:
    """Change the times or the recurrence of an event. Shows a warning if changed instances leave the series."""

    event = get_event(session, calendar, event_id)
    fields = changed_fields(event, arguments)
    is_other_series = "recurrence" in arguments and event.get("recurrence") not in (None, fields["recurrence"])
    edited = _edited(session, calendar, event) if is_other_series else 0
    query = add_required(query, fields)
    changed = patch_event(session, calendar, event_id, fields, query=query, if_match=if_match)
    if edited and (lost := edited - _edited(session, calendar, changed)):
        warn_caller(f"individual changes of {lost} instances are lost, which the new recurrence of {event_id!r} lacks")
    return changed


def _edited(session: Session, calendar: str, series: Event) -> int:
    return sum(event.get("status") != "cancelled" for event in exceptions(session, calendar, series))


def change_following(
    session: Session,
    calendar: str,
    event_id: str,
    arguments: Mapping[str, Any],
    query: Mapping[str, object],
    if_match: str | None,
) -> Event:
    """Change an instance and all following ones: the series ends before the instance, and a new series begins there.

    Returns the new series, or the changed series if the instance is its first one. If the new series cannot be created,
    the old one is restored. Raises ValueError if the event does not recur, or another user is its organizer.
    """

    state = SeriesState.read(session, calendar, event_id)
    master_id, split = str(state.master["id"]), state.split
    is_current = if_match in (None, "*", state.instance["etag"])  # the service refuses any other etag
    etag = str(state.master["etag"]) if is_current else if_match
    if state.is_first:
        return change_event(session, calendar, master_id, arguments, query, etag)
    if not state.is_organizer:
        raise ValueError("Only the organizer can split this series. Change this event, or all events.")
    fields = changed_fields(state.rest, arguments)
    body: Any = merge_patch(state.rest, fields)
    shift = Shift(split, read_time(body["start"]))
    if body.get("recurrence"):
        body["recurrence"] = state.series.without(body["recurrence"], [*map(shift.move, state.cancelled)])
    patch = partial(patch_event, session, calendar, master_id)
    patch({"recurrence": [*state.series.until(split)]}, query=query, if_match=etag)
    try:
        body["id"] = new_event_ids(session, 1)[0]  # so that a lost response creates no second series
        created = insert_event(session, calendar, body, query=add_required(query, body))
    except BaseException:
        patch({"recurrence": [*state.restored]})
        keep_changes(session, state, master_id, Shift(split, split))
        raise
    times = ("start", "end") if {"start", "end"} & fields.keys() else ()
    keep_changes(session, state, str(created["id"]), shift, (*fields, *times))
    return created
