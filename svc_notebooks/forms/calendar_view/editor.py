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
from .changes import CallLog, Changed, NewTimes
from .listing import ShownEvent, event_name, has_other_guests
from .panels import ASK_GUESTS, SEND_UPDATES, ChoiceQuestion

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.session import Session
    from ...core.resources.events import Event


_TIMES = ("start", "end", "time_zone", "end_time_zone")
_NO_FIELDS = frozenset({"calendar", "send_updates", "max_attendees", "metadata", *_TIMES})


class EventEditor(EventForm):
    """The event form with the buttons Save and Cancel. `saved` is called after the requests of `edited`.

    `options` are arguments of the call that the person has chosen in a question.
    """

    title = "Event"
    nothing = "Nothing was saved."

    def __init__(
        self,
        session: SessionLike,
        edited: EventEdit | NewEvent,
        saved: Callable[[], None],
        cancelled: Callable[[], None],
    ) -> None:
        self.edited, self._saved = edited, saved
        self._before: tuple[dict[str, Any], JSONObject] = ({}, {})
        self._stored: Event | None = None
        self._cancelled: Sequence[Start] = ()
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
        edited.show(self)

    def begin(self, event: Mapping[str, Any], calendar: str) -> None:
        """Show the fields of a new event in a calendar."""
        self.value = cast(JSONObject, dict(event))
        self.controls.calendar.chooser.value = calendar
        self._stored = None
        self._update()

    def edit(self, event: Event, stored: Event, named: Mapping[str, Any], cancelled: Sequence[Start] = ()) -> None:
        """Show the fields of an event. Only changes are saved, by a call of `update_event`.

        `stored` is the event of this call, and `named` has the arguments that are not fields. The preview leaves out
        the `cancelled` starts.
        """
        self.begin({**times_and_recurrence(event), **own_values(event)}, named.get("calendar", "primary"))
        self.controls.calendar.chooser.disabled = True
        self._before = (self.draft.arguments, self.value)
        self._stored, self._named = stored, named
        self._start, self._cancelled = read_time(event["start"]), cancelled
        self._update()

    def code(self) -> str:
        if self._stored is None:
            return super().code()
        return call_text(
            "update_event", [self._stored["id"]], {**self.changed_arguments(), **self._named, **self.options}
        )

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
        self.edited.save(self, self.session)
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


class NewEvent:
    """A new event with some fields. `changed` and `log` describe what was saved, or are None."""

    def __init__(self, new: NewTimes | None, time_zone: str, fields: Mapping[str, str], calendar: str) -> None:
        self._fields = {**(new.fields(time_zone) if new else {}), **fields}
        self._calendar = calendar
        self.changed: Changed | None = None
        self.log: CallLog | None = None

    def show(self, editor: EventEditor) -> None:
        """Show the fields in the editor. Without times, the editor has the next full hour."""
        editor.begin({**{name: editor.value.get(name) for name in ("start", "end")}, **self._fields}, self._calendar)

    def save(self, editor: EventEditor, session: Session) -> None:
        self.log = CallLog(session)
        self.log.run("created", create_event, **editor.draft.arguments)
        self.changed = Changed(f"Created {event_name(editor.draft.arguments)}.")


class EventEdit:
    """A stored event, or one or several instances of a series. `changed` and `log` describe what was saved."""

    def __init__(self, shown: ShownEvent, state: SeriesState | None = None, scope: str = changes.THIS) -> None:
        self._calendar = shown.calendar_id
        self._event = shown.event
        self._split: SeriesState | None = None
        self._cancelled: Sequence[Start] = replace(state, instance=state.master).cancelled if state else ()
        if state and scope == changes.FOLLOWING and not state.is_first:
            self._split = state
        elif state and scope != changes.THIS:
            self._event = state.master
        self.changed: Changed | None = None
        self.log: CallLog | None = None

    def show(self, editor: EventEditor) -> None:
        """Show the event, the series, or the series from the instance on."""
        named: dict[str, Any] = {**changes.calendar_argument(self._calendar), "if_match": changes.etag_of(self._event)}
        if self._split is None:
            editor.edit(self._event, self._event, named, self._cancelled)
        else:
            editor.edit(self._split.rest, self._event, {"this_and_following": True, **named}, self._cancelled)

    def save(self, editor: EventEditor, session: Session) -> None:
        self.log, named = CallLog(session, editor.options), editor.changed_arguments()
        if named and self._split:
            self.changed = changes.split_series(self.log, self._split, named, "Changed")
        elif named:
            self.changed = changes.edit_event(self.log, self._calendar, self._event, named)
