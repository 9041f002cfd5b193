"""Sets the controls of the event form from an event; fields without a control become JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from traitlets import TraitError

from ....core.events.validation import with_defaults
from .options import FIELDS
from .time.local_times import read_wire_time, wire_moment
from .time.start_and_end import When

if TYPE_CHECKING:
    from ....core.http.messages import JSON, JSONObject
    from .controls import EventControls

_SetControl = Callable[["EventControls", Mapping[str, Any]], None]
_DAY = timedelta(days=1)


def fill_controls(controls: EventControls, event: JSONObject, read_back: Callable[[], JSONObject]) -> None:
    """Set the controls; what they cannot say stands in the JSON of the further fields.

    `written` gives the event that the controls say, to compare.
    """
    controls.other_fields.value = {}
    for read in _SETTERS.values():
        _set_or_clear(controls, read, event)
    shown = read_back()
    other = {name: value for name, value in event.items() if not _is_shown(name, event, shown)}
    if other.keys() & _TIMES:  # controls have both times or none
        other |= {name: event[name] for name in _TIMES if name in event}
    rest = {name: None if name in other else value for name, value in event.items()}
    for name in other:  # one control may stand for several fields: the rest of them stay
        if name in _SETTERS:
            _SETTERS[name](controls, rest)
    controls.other_fields.value = other


def _set_or_clear(controls: EventControls, read: _SetControl, event: JSONObject) -> None:
    """What is of another kind than its control is not shown there; the comparison finds it missing."""
    try:
        read(controls, event)
    except (TypeError, ValueError, AttributeError, KeyError, TraitError):
        read(controls, {})


def _is_shown(name: str, event: JSONObject, shown: JSONObject) -> bool:
    if name not in _SETTERS:
        return False
    if name in (*_TIMES, "originalStartTime"):
        return _same_time(event[name], shown.get(name))
    value, shown_value = event[name], with_defaults(shown).get(name)
    if value is None or shown_value is None:
        return value is None or (name in _EMPTY and value == _EMPTY[name])
    return type(value) is type(shown_value) and _text(with_defaults(event)[name]) == _text(shown_value)


def _text(value: JSON) -> str:
    """So that 1 is not True."""
    return json.dumps(value, sort_keys=True)


_EMPTY = {"summary": "", "location": "", "description": "", "recurrence": [], "attendees": [], "attachments": []}
"""What says as little as if it were left out."""


def _same_time(expected: Any, actual: Any) -> bool:
    """One instant or date, and the same time zone or none."""
    if expected is None or actual is None:
        return expected is actual
    instant = wire_moment(expected)
    return instant is not None and instant == wire_moment(actual) and expected.get("timeZone") == actual.get("timeZone")


def _when(controls: EventControls, event: Mapping[str, Any]) -> None:
    """Without times, those of the controls stay; times that the controls cannot have leave them empty."""
    if not event.keys() & _TIMES:
        return
    controls.more.set("start.timeZone", None)
    controls.more.set("end.timeZone", None)
    zone = controls.when.zone.value
    try:
        (start, name), (end, end_name) = read_wire_time(event.get("start")), read_wire_time(event.get("end"))
    except (ValueError, TypeError, AttributeError):
        controls.when.value = When(bool(controls.when.all_day.value), None, None, None, None, zone)
        return
    own = "" if end_name == name else end_name
    if isinstance(start, datetime) and isinstance(end, datetime):
        controls.when.value = When(False, start.date(), start.time(), end.date(), end.time(), name, own)
    elif not isinstance(start, datetime) and not isinstance(end, datetime):
        controls.when.value = When(True, start, None, end - _DAY, None, zone, own)
        controls.more.set("start.timeZone", name or None)
    controls.more.set("end.timeZone", own or None)


def _recurrence(controls: EventControls, event: Mapping[str, Any]) -> None:
    controls.repeats.read(event.get("recurrence") or [], wire_moment(event.get("start")))


def _reminders(controls: EventControls, event: Mapping[str, Any]) -> None:
    controls.reminders.value = event.get("reminders")


def _conference(controls: EventControls, event: Mapping[str, Any]) -> None:
    data = event.get("conferenceData") or {}
    controls.conference.value = "createRequest" in data
    controls.more.read("conferenceData", data)


def _guests_may(controls: EventControls, event: Mapping[str, Any]) -> None:
    controls.guests_may.value = event


def _option(name: str) -> _SetControl:
    def read(controls: EventControls, event: Mapping[str, Any]) -> None:
        controls.more.read(name, event.get(name))

    return read


def _attribute(part: str, name: str, otherwise: Any) -> _SetControl:
    def read(controls: EventControls, event: Mapping[str, Any]) -> None:
        getattr(controls, part).value = event.get(name) or otherwise

    return read


_TIMES = ("start", "end")
_SETTERS: Mapping[str, _SetControl] = {
    **{name: _option(name) for name in ("originalStartTime", *FIELDS)},
    "summary": _attribute("summary", "summary", ""),
    "start": _when,
    "end": _when,
    "recurrence": _recurrence,
    "location": _attribute("location", "location", ""),
    "conferenceData": _conference,
    "attendees": _attribute("attendees", "attendees", []),
    "guestsCanInviteOthers": _guests_may,
    "guestsCanSeeOtherGuests": _guests_may,
    "guestsCanModify": _guests_may,
    "description": _attribute("description", "description", ""),
    "reminders": _reminders,
    "attachments": _attribute("attachments", "attachments", []),
    "colorId": _attribute("color", "colorId", None),
    "visibility": _attribute("visibility", "visibility", None),
    "transparency": _attribute("transparency", "transparency", None),
}
"""The fields that have a control; the others are JSON."""
