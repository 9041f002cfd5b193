"""Moves, changes and deletes events, with the calls of public functions that each of these changes takes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta, tzinfo
from typing import TYPE_CHECKING, Any, cast

from ...client.session import Session, SessionLike
from ...core.events.event_times import Shift, clock_time, read_time
from ...core.events.instances import duration
from ...core.events.rrule import Start
from ...core.http.messages import JSONObject
from ...notebook.events.body import Times
from ...notebook.events.events import create_event, delete_event, update_event
from ...notebook.events.records import SeriesState, keep_changes, own_values, times_and_recurrence
from ...notebook.frames import EVENT, Record, frame, schema
from ..event.form import EventForm
from ..widgets import ui
from ..widgets.form import call_text
from .listing import ASK_GUESTS, SEND_UPDATES, ChoiceQuestion, ShownEvent, event_name, has_other_guests, span_of

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...core.resources.events import Event


# The columns of the events that the calendar view has changed.
CHANGES = schema(
    "action text, id text, calendar text, summary text, start time, end time, timeZone text, recurrence any, etag text"
)


class CallLog:
    """The calls of one change. `code` is the code of all calls, `records` has a record of each changed event.

    `options` are arguments of all calls, such as `send_updates`.
    """

    def __init__(self, session: Session, options: Mapping[str, str]) -> None:
        self.session, self.options = session, dict(options)
        self._texts: list[str] = []
        self.records: list[Record] = []

    @property
    def code(self) -> str:
        return "\n".join(self._texts)

    def run(self, action: str, function: Callable[..., DataFrame], *positional: Any, **named: Any) -> DataFrame:
        """Call a public function of events, which returns one row, and record the call as `action`."""
        named |= self.options
        quiet = {} if function.__name__ == "create_event" else {"progress": False}
        result = function(*positional, **named, **quiet, session=self.session)
        self._texts.append(call_text(function.__name__, positional, named))
        (row,) = result.astype(object).where(result.notna(), None).to_dict("records")
        fields = {name: row.get(name) for name in ("id", "summary", "start", "end", "recurrence", "etag")}
        calendar = named.get("calendar", "primary")
        self.records.append({"action": action, "calendar": calendar, "timeZone": row.get("time_zone"), **fields})
        return result


@dataclass(frozen=True, slots=True)
class Move:
    """A change of the times of an event, in the clock time of the view.

    `days` and `minutes` move the start. `length` is added to the length of the event, in days for an all-day event and
    otherwise in minutes. `all_day` makes a timed event an all-day event, or an all-day event one of an hour; it is None
    if the event remains what it is.
    """

    days: int = 0
    minutes: int = 0
    length: int = 0
    all_day: bool | None = None


def moved_times(times: Times, move: Move, view_zone: tzinfo) -> Times:
    """Return the times after a move in the clock of `view_zone`. Raises ValueError if no length remains."""
    start, end = times.start, times.end
    if move.all_day and isinstance(start, datetime):
        span = span_of(start, end, view_zone)
        start, end = span.first, span.last + timedelta(days=1)
    elif move.all_day is False and not isinstance(start, datetime):
        start = datetime.combine(start, time(), view_zone)
        end = start + timedelta(hours=1)
    if isinstance(start, datetime):
        shift, longer = timedelta(days=move.days, minutes=move.minutes), timedelta(minutes=move.length)
        moved = Times(start.astimezone(view_zone), end).shifted(shift, longer)
        moved = Times(moved.start.astimezone(start.tzinfo), moved.end)  # type: ignore[union-attr]
    else:
        moved = Times(start, end).shifted(timedelta(days=move.days), timedelta(days=move.length))
    if duration(moved.start, moved.end) <= timedelta():
        raise ValueError("An event must end after its start.")
    return moved


def new_times(first: date, last: date, begin: int | None, end: int | None, view_zone: tzinfo) -> Times:
    """Return the times between two minutes of two days in the view, or for None the times of an all-day event.

    >>> from datetime import UTC
    >>> str(new_times(date(2026, 11, 2), date(2026, 11, 2), 600, 660, UTC).start)
    '2026-11-02 10:00:00+00:00'
    """
    if begin is None or end is None:
        return Times(first, last + timedelta(days=1))
    starts, ends = (datetime.combine(day, time(), view_zone) for day in (first, last))
    return Times(starts + timedelta(minutes=begin), ends + timedelta(minutes=end))


def in_view(times: Times, zone_name: str) -> Any:
    """Return what `Times` reads of an event in the time zone of the view."""
    return dict.fromkeys(("start", "end"), {"timeZone": zone_name} if isinstance(times.start, datetime) else {})


THIS, FOLLOWING, ALL = "this", "following", "all"

# Reverses a change, and returns the message about it.
Undo = Callable[[CallLog], str]


@dataclass(frozen=True, slots=True)
class Changed:
    """What a change has done, as a message. `undo` reverses the change, if that is possible."""

    message: str
    undo: Undo | None = None


def move_event(log: CallLog, shown: ShownEvent, times: Times, span: str) -> Changed:
    """Give one event or instance new times, which `span` has as text."""
    return _move(log, shown.calendar_id, shown.event, times, shown.title, f" to {span}", "moved")


def move_series(log: CallLog, state: SeriesState, times: Times) -> Changed:
    """Move and lengthen all instances of a series as the instance of `state` is moved to `times`."""
    moved = Times.of(state.master).shifted(*_difference(state, times))
    name = f"all events of {event_name(state.master)}"
    return _move(log, state.calendar, state.master, moved, name, "", "series moved")


def _move(log: CallLog, calendar: str, event: Event, times: Times, name: str, where: str, action: str) -> Changed:
    """Give an event or a series new times, of which `where` is the text in the message."""
    event_id, at, before = str(event["id"]), calendar_argument(calendar), Times.of(event).arguments(event)
    rule = {"recurrence": event["recurrence"]} if event.get("recurrence") else {}
    changed = log.run(action, update_event, event_id, **times.arguments(event), **at, if_match=etag_of(event))
    etag = str(changed["etag"].item())

    def undo(log: CallLog) -> str:
        log.run(f"{action} back", update_event, event_id, **before, **rule, **at, if_match=etag)
        return f"Moved {name} back."

    return Changed(f"Moved {name}{where}.", undo)


def refused_moves(state: SeriesState, times: Times) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return which scopes of a move are not possible, and notes with the reasons."""
    if isinstance(times.start, datetime) != isinstance(Times.of(state.instance).start, datetime):
        return (FOLLOWING, ALL), ("Use Edit to make all events of the series all-day or timed events.",)
    shift, _ = _difference(state, times)
    try:
        for start in (state.split, state.series.start):
            state.series.since(start, Times(start, start).shifted(shift, timedelta()).start)
    except ValueError as error:
        return (FOLLOWING, ALL), (str(error),)
    if not state.is_organizer:
        return (FOLLOWING,), ()
    return (), ()


def move_following(log: CallLog, state: SeriesState, times: Times) -> Changed:
    """Split a series, and move and lengthen its instances from the instance of `state` on."""
    if state.is_first:
        return move_series(log, state, times)
    first = Times.of(state.rest).shifted(*_difference(state, times))
    return split_series(log, state, first.arguments(state.master), "Moved")


def split_series(log: CallLog, state: SeriesState, named: dict[str, Any], verb: str) -> Changed:
    """End a series before the instance of `state`, and create a new series from this instance on.

    `named` are the arguments of `update_event` for the new series.
    """
    at, name, split = calendar_argument(state.calendar), event_name(state.master), state.split
    named = {"this_and_following": True, **named, **at, "if_match": etag_of(state.instance)}
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        created = log.run("split", update_event, str(state.instance["id"]), **named)
    new_id, series_id = str(created["id"].item()), str(state.master["id"])

    def undo(log: CallLog) -> str:
        log.run("deleted", delete_event, new_id, **at)
        log.run("series restored", update_event, series_id, recurrence=state.restored, **at)
        keep_changes(log.session, state, series_id, Shift(split, split))
        return f"Deleted the new series of {name}, and restored the old one."

    notes = "".join(f" Note: {row.message}." for row in shown)
    text = f"{verb} {name} from {split:%d %b %Y} on: the old series ends before, a new one begins.{notes}"
    return Changed(text, undo)


def delete_events(log: CallLog, shown: ShownEvent, state: SeriesState | None, scope: str) -> Changed:
    """Delete an event or an instance, an instance and all following ones, or a series."""
    at, name = calendar_argument(shown.calendar_id), shown.title
    if state is None or scope == THIS:
        log.run("deleted", delete_event, shown.id, **at, if_match=etag_of(shown.event))
        return Changed(f"Deleted {name}.")
    if scope == FOLLOWING and not state.is_first:
        named = {"this_and_following": True, **at, "if_match": etag_of(state.instance)}
        log.run("series ended", delete_event, shown.id, **named)
        return Changed(f"Deleted {name} from this event on: the series ends before.")
    log.run("deleted", delete_event, str(state.master["id"]), **at, if_match=etag_of(state.master))
    return Changed(f"Deleted all events of {name}.")


def _difference(state: SeriesState, times: Times) -> tuple[timedelta, timedelta]:
    """Return the difference in clock time and in length between an instance and its new times."""
    old = Times.of(state.instance)
    longer = duration(times.start, times.end) - duration(old.start, old.end)
    return clock_time(times.start) - clock_time(old.start), longer


def calendar_argument(calendar: str) -> dict[str, str]:
    """Return the argument `calendar` of a call, or no argument for the primary calendar."""
    return {} if calendar == "primary" else {"calendar": calendar}


def etag_of(event: Event) -> str:
    return str(event["etag"])


# -- the event form as a part of the calendar view, for a new event and for changes of an event


_TIMES = ("start", "end", "time_zone", "end_time_zone")
_NO_FIELDS = frozenset({"calendar", "send_updates", "max_attendees", "metadata", *_TIMES})


class EventEditor(EventForm):
    """The event form with the buttons Save and Cancel, for a new event (`begin`) or changes of an event (`edit`).

    `saved` is called after the requests. Then `changed` and `call_log` say what was saved, or are None. `options` are
    arguments of the call that the person has chosen in a question.
    """

    title = "Event"
    nothing = "Nothing was saved."

    def __init__(self, session: SessionLike, saved: Callable[[], None], cancelled: Callable[[], None]) -> None:
        self._saved = saved
        self._before: tuple[dict[str, Any], JSONObject] = ({}, {})
        self._stored: Event | None = None
        self._split: SeriesState | None = None
        self._cancelled: Sequence[Start] = ()
        self.changed: Changed | None = None
        self.call_log: CallLog | None = None
        self.options: dict[str, str] = {}
        super().__init__(session)
        self.guests = ChoiceQuestion("Guests", SEND_UPDATES, self._guarded(self._on_answer))
        self.guests.remove_class("svc-over-grid")
        self.create.description, self.create.tooltip = "Save", "Save the event in the calendar"
        self.cancel = self._button("Cancel", "Close the form and save nothing", cancelled)
        (n,) = (n for n, part in enumerate(self.children) if self.create in getattr(part, "children", ()))
        self.children = [*self.children[:n], ui.row(self.create, self.cancel), self.guests, *self.children[n + 1 :]]

    def begin(self, fields: Mapping[str, Any], calendar: str) -> None:
        """Show an event in a calendar. Without times, it begins at the next full hour."""
        times = {name: self.value.get(name) for name in ("start", "end")}
        self.show_event(cast(JSONObject, {**times, **fields}))
        self.controls.calendar.chooser.value = calendar
        self._update()

    def edit(self, shown: ShownEvent, state: SeriesState | None = None, scope: str = THIS) -> None:
        """Show an event, its series, or the series from the instance on. Only changes are saved.

        The preview leaves out the cancelled instances.
        """
        event = fields = shown.event
        if state and scope == FOLLOWING and not state.is_first:
            self._split, fields = state, state.rest
        elif state and scope != THIS:
            event = fields = state.master
        self.begin({**times_and_recurrence(fields), **own_values(fields)}, shown.calendar_id)
        self.controls.calendar.chooser.disabled = True
        self._before = (self.draft.arguments, self.value)
        self._stored, self._calendar, self._start = event, shown.calendar_id, read_time(fields["start"])
        self._cancelled = replace(state, instance=state.master).cancelled if state else ()
        self._update()

    def code(self) -> str:
        if self._stored is None:
            return super().code()
        named = {**({"this_and_following": True} if self._split else {}), **calendar_argument(self._calendar)}
        named |= {"if_match": etag_of(self._stored), **self.options}
        return call_text("update_event", [self._stored["id"]], {**self.changed_arguments(), **named})

    def changed_arguments(self) -> dict[str, Any]:
        """Return the arguments of `update_event` for the changes since `edit`."""
        return changed_arguments(*self._before, self.draft.arguments, self.value)

    def _update(self) -> None:
        super()._update()
        series = self.draft.series
        if series is not None and self._cancelled:
            moved = map(Shift(self._start, series.start).move, self._cancelled)
            self.controls.preview.show(replace(series, lines=tuple(series.without(series.lines, [*moved]))))

    def _create(self) -> None:
        """Save the event. If it has other guests, ask first whether to tell them."""
        self.options = {}
        self._update()
        named = {} if self._stored is None or self._problems else self.changed_arguments()
        has_guests = "attendees" in named or has_other_guests(self._stored or {})
        if named and has_guests and "send_updates" not in named:
            self.guests.ask(ASK_GUESTS)
        else:
            super()._create()

    def _on_answer(self, answer: str | None) -> None:
        if answer is None:
            self.create.focus()
        else:
            self.options = {"send_updates": answer}
            super()._create()

    def _send_event(self) -> DataFrame:
        log = self.call_log = CallLog(self.session, self.options)
        if self._stored is None:
            log.run("created", create_event, **self.draft.arguments)
            self.changed = Changed(f"Created {event_name(self.draft.arguments)}.")
        elif named := self.changed_arguments():
            if self._split:
                self.changed = split_series(log, self._split, named, "Changed")
            else:
                event, recurs = self._stored, bool(self._stored.get("recurrence"))
                at = {**calendar_argument(self._calendar), "if_match": etag_of(event)}
                log.run("series changed" if recurs else "changed", update_event, str(event["id"]), **named, **at)
                self.changed = Changed(f"Saved {'all events of ' if recurs else ''}{event_name(event)}.")
        return frame(EVENT, [])

    def _show_success(self, created: DataFrame, notes: list[str]) -> None:
        self._saved()


def changed_arguments(
    old: Mapping[str, Any], old_body: JSONObject, new: Mapping[str, Any], new_body: JSONObject
) -> dict[str, Any]:
    """Return the arguments of `update_event` that make an event of the old arguments one of the new arguments.

    The fields that the update removes, or parts of them, are None in the argument `metadata`.
    """
    patch = merge_patch_between(old_body, new_body)
    changed = {name: value for name, value in new.items() if name not in _NO_FIELDS and value != old.get(name)}
    if {"start", "end"} & patch.keys():
        changed |= {name: new[name] for name in _TIMES if name in new}
    queries = {name: new[name] for name in ("send_updates", "max_attendees") if name in new}
    written = {"start", "end"} if "start" in changed else set()
    metadata = {
        name: value
        for name, value in patch.items()
        if name not in written and (_removes(value) or name in (new.get("metadata") or {}))
    }
    return {**changed, **queries, **({"metadata": metadata} if metadata else {})}


def merge_patch_between(old: JSONObject, new: JSONObject) -> JSONObject:
    """Return the merge patch (RFC 7386) that changes one object into another.

    >>> merge_patch_between({"a": 1, "b": {"c": 2, "d": 3}}, {"b": {"c": 4, "d": 3}})
    {'a': None, 'b': {'c': 4}}
    """
    patch: JSONObject = {name: None for name in old if name not in new}
    for name, value in new.items():
        before = old.get(name)
        if isinstance(value, dict) and isinstance(before, dict):
            inner = merge_patch_between(before, value)
            if inner:
                patch[name] = inner
        elif name not in old or before != value:
            patch[name] = value
    return patch


def _removes(value: object) -> bool:
    return value is None or (isinstance(value, dict) and any(_removes(part) for part in value.values()))
