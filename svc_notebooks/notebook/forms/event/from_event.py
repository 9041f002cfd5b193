"""Sets the controls of the event form from an event. Event fields without a control go into the JSON text field."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from traitlets import TraitError

from ....core.events.validation import with_defaults
from .bindings import BINDINGS, PARAMETERS
from .inputs import Binding
from .time.local_times import read_wire_time, wire_moment
from .time.start_and_end import When

if TYPE_CHECKING:
    from ....core.http.messages import JSONObject
    from .controls import EventControls

_DAY = timedelta(days=1)
_TIMES = ("start", "end")
_FIELDS = dict.fromkeys(field for row in BINDINGS for field in row.fields if field not in PARAMETERS)
"""The event fields that have a control. All other event fields are shown as JSON."""

_EMPTY = {"summary": "", "location": "", "description": "", "recurrence": [], "attendees": [], "attachments": []}
"""The field values that have the same meaning as a missing field."""


def fill_controls(
    controls: EventControls,
    event: JSONObject,
    read_back: Callable[[], JSONObject],
    names: Collection[str] | None = None,
) -> None:
    """Set the controls of the event fields `names`, or all controls, from an event.

    Fields that the controls cannot represent go into the JSON text field.
    """
    controls.other_fields.value = {}
    for name in _FIELDS:
        if names is not None and name not in names:
            continue
        try:
            _set(controls, name, event)
        except (TypeError, ValueError, AttributeError, KeyError, TraitError):  # a value of another type
            _set(controls, name, {})
    shown = read_back()
    selected = event if names is None else names
    other = {name: event[name] for name in event if name in selected and not _is_shown(name, event, shown)}
    if other.keys() & set(_TIMES):  # controls have both times or none
        other |= {name: event[name] for name in _TIMES if name in event}
    rest = {name: None if name in other else value for name, value in event.items()}
    for name in other:  # a control may have several fields, of which only this one is cleared
        if name in _FIELDS:
            _set(controls, name, rest)
    controls.other_fields.value = other


def _is_shown(name: str, event: JSONObject, shown: JSONObject) -> bool:
    value, shown_value = event[name], with_defaults(shown).get(name)
    if name not in _FIELDS:
        return False
    if name in (*_TIMES, "originalStartTime"):
        return _is_same_time(value, shown.get(name))
    if value is None or shown_value is None:
        return value is None or (name in _EMPTY and value == _EMPTY[name])
    expected = with_defaults(event)[name]
    return type(value) is type(shown_value) and json.dumps(expected, sort_keys=True) == json.dumps(
        shown_value, sort_keys=True
    )  # as JSON, 1 is not True


def _is_same_time(expected: Any, actual: Any) -> bool:
    if expected is None or actual is None:
        return expected is actual
    instant = wire_moment(expected)
    return instant is not None and instant == wire_moment(actual) and expected.get("timeZone") == actual.get("timeZone")


def _set(controls: EventControls, name: str, event: JSONObject) -> None:
    if name in _TIMES:
        _set_times(controls, event)
    elif name == "recurrence":
        controls.repeats.read(event.get("recurrence") or [], wire_moment(event.get("start")))  # type: ignore[arg-type]
    else:
        for row in BINDINGS:
            if name in row.fields:
                controls.set(row, _value_of(row, event))


def _value_of(row: Binding, event: JSONObject) -> Any:
    """Return the control value for an event, or None without the field. Raises TypeError if a parent is not a dict."""
    if len(row.fields) > 1:
        return {name: event.get(name) for name in row.fields}
    value: Any = event
    for key in row.path.split("."):
        if value is None:
            return None
        if not isinstance(value, dict):
            raise TypeError("expected an object")
        value = value.get(key)
    return None if value is None else row.from_field(value)


def _set_times(controls: EventControls, event: JSONObject) -> None:
    """Set start, end and zones if the event has times. An invalid time empties the controls."""
    if not event.keys() & set(_TIMES):
        return
    controls.more.set("start.timeZone", None)
    controls.more.set("end.timeZone", None)
    zone = controls.when.zone.value
    try:
        (start, name), (end, end_name) = read_wire_time(event.get("start")), read_wire_time(event.get("end"))
    except (ValueError, TypeError, AttributeError):
        controls.when.value = When(bool(controls.when.all_day.value), None, None, None, None, zone)
        return
    own_zone = "" if end_name == name else end_name
    if isinstance(start, datetime) and isinstance(end, datetime):
        controls.when.value = When(False, start.date(), start.time(), end.date(), end.time(), name, own_zone)
    elif not isinstance(start, datetime) and not isinstance(end, datetime):
        controls.when.value = When(True, start, None, end - _DAY, None, zone, own_zone)
        controls.more.set("start.timeZone", name or None)
    controls.more.set("end.timeZone", own_zone or None)
