"""Moves and deletes events, with the calls of public functions that each of these changes takes.

A change of several instances keeps the instances of the series that were changed or cancelled individually. The service
drops them when their original start is no longer in the recurrence. Cancelled ones become EXDATEs, and changed ones are
changed again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from ....core.errors.errors import NotFound
from ....core.events.instances import duration
from ....core.events.rrule import Start
from ...events.events import create_event, delete_event, update_event
from .call_log import CallLog
from .event_times import Times
from .series_state import SeriesState
from .shown_event import ShownEvent

if TYPE_CHECKING:
    from ....core.resources.events import Event

THIS, FOLLOWING, ALL = "this", "following", "all"

Undo = Callable[[CallLog], str]
"""Reverses a change, and returns the message about it."""


@dataclass(frozen=True, slots=True)
class Changed:
    """What a change has done, as a message. `undo` reverses the change, if that is possible."""

    message: str
    undo: Undo | None = None


def move_event(log: CallLog, shown: ShownEvent, times: Times, span: str) -> Changed:
    """Give one event or instance new times, which `span` has as text."""
    before, name = Times.of(shown.event), shown.title
    at = calendar_argument(shown.calendar_id)
    changed = log.run(
        "moved", update_event, shown.id, **times.arguments(shown.event), **at, if_match=etag_of(shown.event)
    )
    etag = str(changed["etag"].item())

    def undo(log: CallLog) -> str:
        log.run("moved back", update_event, shown.id, **before.arguments(shown.event), **at, if_match=etag)
        return f"Moved {name} back."

    return Changed(f"Moved {name} to {span}.", undo)


def move_series(log: CallLog, state: SeriesState, times: Times) -> Changed:
    """Move and lengthen all instances of a series as the instance of `state` is moved to `times`."""
    series, master, at = state.series, state.master, calendar_argument(state.calendar)
    shift, longer = _difference(state, times)
    before = Times(series.start, series.end)
    named = before.shifted(shift, longer).arguments(master)
    if shift:
        lines = series.without(series.since(series.start, shift), state.cancelled(series.start), shift)
        named["recurrence"] = lines
    event_id = str(master["id"])
    changed = log.run("series moved", update_event, event_id, **named, **at, if_match=etag_of(master))
    edited = state.edited(series.start) if shift else []
    notes = _carry(log, state, edited, event_id, shift)
    etag = str(changed["etag"].item())

    def undo(log: CallLog) -> str:
        old = before.arguments(master)
        if shift:
            old["recurrence"] = series.without(series.lines, state.cancelled(series.start))
        log.run("series moved back", update_event, event_id, **old, **at, if_match=etag)
        return f"Moved all events of {event_name(master)} back." + _carry(log, state, edited, event_id, timedelta())

    return Changed(f"Moved all events of {event_name(master)}.{notes}", undo)


def refused_moves(state: SeriesState, times: Times) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return which scopes of a move are not possible, and notes with the reasons."""
    shift, _ = _difference(state, times)
    try:
        state.series.since(state.split, shift)
        state.series.since(state.series.start, shift)
    except ValueError as error:
        return (FOLLOWING, ALL), (str(error),)
    if not state.is_organizer:
        return (FOLLOWING,), ()
    return (), ()


def edit_event(log: CallLog, shown: ShownEvent, named: dict[str, Any]) -> Changed:
    """Change fields of one event or instance. `named` are arguments of `update_event`."""
    at = calendar_argument(shown.calendar_id)
    log.run("changed", update_event, shown.id, **named, **at, if_match=etag_of(shown.event))
    return Changed(f"Saved {shown.title}.")


def edit_series(log: CallLog, state: SeriesState, named: dict[str, Any], start: Start, lines: Sequence[str]) -> Changed:
    """Change fields of a series, whose first instance then begins at `start` and which has the recurrence `lines`."""
    series, at, event_id = state.series, calendar_argument(state.calendar), str(state.master["id"])
    is_shifted = "start" in named or "recurrence" in named
    shift = Times(series.start, series.end).shift_to(Times(start, start)) if is_shifted else timedelta()
    cancelled, edited = state.cancelled(series.start), state.edited(series.start)
    if lines and is_shifted:
        named = {**named, "recurrence": series.without(lines, cancelled, shift)}
    log.run("series changed", update_event, event_id, **named, **at, if_match=etag_of(state.master))
    notes = _carry(log, state, edited, event_id, shift) if is_shifted else ""
    return Changed(f"Saved all events of {event_name(state.master)}.{notes}")


def move_following(log: CallLog, state: SeriesState, times: Times) -> Changed:
    """Split a series, and move and lengthen its instances from the instance of `state` on."""
    if state.is_first:
        return move_series(log, state, times)
    shift, longer = _difference(state, times)
    length = duration(state.series.start, state.series.end)
    first = Times(state.split, state.split + length).shifted(shift, longer)
    named = {**state.copy_arguments(), **first.arguments(state.master)}
    return split_series(log, state, named, shift, "Moved")


def split_series(
    log: CallLog, state: SeriesState, named: dict[str, Any], shift: timedelta, verb: str, lines: Sequence[str] = ()
) -> Changed:
    """End a series before the instance of `state`, and create a new series from this instance on.

    `named` are the arguments of `create_event` for the new series. `shift` is the difference in clock time between the
    instances of the new and the old series. `lines` is another recurrence of the new series. If the new series cannot
    be created, the old one gets its recurrence back.
    """
    if not state.is_organizer:
        raise ValueError("Only the organizer can split this series. Choose this event, or all events.")
    series, split, at = state.series, state.split, calendar_argument(state.calendar)
    cancelled, edited = state.cancelled(split), state.edited(split)
    new_lines = series.without(lines or series.since(split, shift), cancelled, shift)
    ended = _end_series(log, state)
    restored = series.without(series.lines, cancelled)

    def restore(log: CallLog, event: Any) -> None:
        etag = str(event["etag"].item())
        event_id = str(state.master["id"])
        log.run("series restored", update_event, event_id, recurrence=restored, **at, if_match=etag)
        _carry(log, state, edited, event_id, timedelta())

    try:
        created = log.run("created", create_event, **{**named, "recurrence": new_lines}, **at)
    except Exception:
        restore(log, ended)
        raise
    new_id, name = str(created["id"].item()), event_name(state.master)
    others = [event for event in edited if event["id"] != state.instance["id"]]
    notes = _carry(log, state, others, new_id, shift)

    def undo(log: CallLog) -> str:
        log.run("deleted", delete_event, new_id, **at)
        restore(log, ended)
        return f"Deleted the new series of {name}, and restored the old one."

    return Changed(
        f"{verb} {name} from {split:%d %b %Y} on: the old series ends before, a new one begins.{notes}", undo
    )


def delete_events(log: CallLog, shown: ShownEvent, state: SeriesState | None, scope: str) -> Changed:
    """Delete an event or an instance, an instance and all following ones, or a series."""
    at, name = calendar_argument(shown.calendar_id), shown.title
    if state is None or scope == THIS:
        log.run("deleted", delete_event, shown.id, **at, if_match=etag_of(shown.event))
        return Changed(f"Deleted {name}.")
    if scope == FOLLOWING and not state.is_first:
        _end_series(log, state)
        return Changed(f"Deleted {name} from this event on: the series ends before.")
    log.run("deleted", delete_event, str(state.master["id"]), **at, if_match=etag_of(state.master))
    return Changed(f"Deleted all events of {name}.")


def _end_series(log: CallLog, state: SeriesState) -> Any:
    """End the series before the instance of `state`, and return the row of the series."""
    lines = state.series.until(state.split)
    at = calendar_argument(state.calendar)
    return log.run(
        "series ended", update_event, str(state.master["id"]), recurrence=lines, **at, if_match=etag_of(state.master)
    )


def _carry(log: CallLog, state: SeriesState, edited: Sequence[Event], series_id: str, shift: timedelta) -> str:
    """Repeat the individual changes of instances in a new or shifted series. Return a sentence about them."""
    lost = 0
    for event in edited:
        event_id, fields = state.instance_id(series_id, event, shift), state.own_fields(event)
        if not fields:
            continue
        try:
            log.run("instance kept", update_event, event_id, metadata=fields, **calendar_argument(state.calendar))
        except NotFound:
            lost += 1
    if lost:
        return f" {lost} individually changed event{'s' if lost > 1 else ''} could not be kept."
    return f" {len(edited)} individually changed event{'s' if len(edited) > 1 else ''} kept." if edited else ""


def _difference(state: SeriesState, times: Times) -> tuple[timedelta, timedelta]:
    """Return the difference in clock time and in length between an instance and its new times."""
    old = Times.of(state.instance)
    return old.shift_to(times), duration(times.start, times.end) - duration(old.start, old.end)


def calendar_argument(calendar: str) -> dict[str, str]:
    """Return the argument `calendar` of a call, or no argument for the primary calendar."""
    return {} if calendar == "primary" else {"calendar": calendar}


def etag_of(event: Event) -> str:
    return str(event["etag"])


def event_name(event: Event) -> str:
    return str(event.get("summary") or "(no title)")
