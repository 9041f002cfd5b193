"""The event form as a part of the calendar view, for a new event and for changes of an event."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from ...core.events.rrule import Start
from ...core.events.times import Shift, read_time
from ...core.http.messages import JSONObject
from ...notebook.current_session import SessionLike
from ...notebook.events.events import create_event
from ...notebook.events.series_state import SeriesState, own_values, times_and_recurrence
from ...notebook.frames.event_schemas import EVENT
from ...notebook.frames.frames import frame
from ..event.form import EventForm
from ..widgets.field import row
from ..widgets.form import call_text
from . import changes
from .changes import CallLog, Changed
from .listing import ShownEvent, event_name, has_other_guests
from .panels import ASK_GUESTS, SEND_UPDATES, ChoiceQuestion

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...core.resources.events import Event


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
        self.guests = ChoiceQuestion(
            "Guests", SEND_UPDATES, lambda answer: self._guard(lambda: self._on_answer(answer))
        )
        self.guests.remove_class("svc-over-grid")
        self.create.description, self.create.tooltip = "Save", "Save the event in the calendar"
        self.cancel = self._button("Cancel", "Close the form and save nothing", cancelled)
        (n,) = (n for n, part in enumerate(self.children) if self.create in getattr(part, "children", ()))
        self.children = [*self.children[:n], row(self.create, self.cancel), self.guests, *self.children[n + 1 :]]

    def begin(self, fields: Mapping[str, Any], calendar: str) -> None:
        """Show an event in a calendar. Without times, it begins at the next full hour."""
        times = {name: self.value.get(name) for name in ("start", "end")}
        self.value = cast(JSONObject, {**times, **fields})
        self.controls.calendar.chooser.value = calendar
        self._update()

    def edit(self, shown: ShownEvent, state: SeriesState | None = None, scope: str = changes.THIS) -> None:
        """Show an event, its series, or the series from the instance on. Only changes are saved.

        The preview leaves out the cancelled instances.
        """
        event = fields = shown.event
        if state and scope == changes.FOLLOWING and not state.is_first:
            self._split, fields = state, state.rest
        elif state and scope != changes.THIS:
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
        named = {**({"this_and_following": True} if self._split else {}), **changes.calendar_argument(self._calendar)}
        named |= {"if_match": changes.etag_of(self._stored), **self.options}
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
                self.changed = changes.split_series(log, self._split, named, "Changed")
            else:
                self.changed = changes.edit_event(log, self._calendar, self._stored, named)
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
