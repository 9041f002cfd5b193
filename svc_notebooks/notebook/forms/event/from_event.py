"""The controls of an event form, set from the event itself; nothing of it is lost."""

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

_Read = Callable[["EventControls", Mapping[str, Any]], None]
_DAY = timedelta(days=1)


def fill_controls(controls: EventControls, event: JSONObject, written: Callable[[], JSONObject]) -> None:
    """Set the controls; what they cannot say stands in the JSON of the further fields.

    `written` gives the event that the controls say, to compare.
    """
    controls.further.value = {}
    for read in _READ.values():
        _set(controls, read, event)
    said = written()
    other = {name: value for name, value in event.items() if not _same(name, event, said)}
    if other.keys() & _TIMES:  # controls have both times or none
        other |= {name: event[name] for name in _TIMES if name in event}
    rest = {name: None if name in other else value for name, value in event.items()}
    for name in other:  # one control may stand for several fields: the rest of them stay
        if name in _READ:
            _READ[name](controls, rest)
    controls.further.value = other


def _set(controls: EventControls, read: _Read, event: JSONObject) -> None:
    """What is of another kind than its control is not shown there; the comparison finds it missing."""
    try:
        read(controls, event)
    except (TypeError, ValueError, AttributeError, KeyError, TraitError):
        read(controls, {})


def _same(name: str, event: JSONObject, said: JSONObject) -> bool:
    if name not in _READ:
        return False
    if name in (*_TIMES, "originalStartTime"):
        return _same_time(event[name], said.get(name))
    value, found = event[name], with_defaults(said).get(name)
    if value is None or found is None:
        return value is None or (name in _NOTHING and value == _NOTHING[name])
    return type(value) is type(found) and _text(with_defaults(event)[name]) == _text(found)


def _text(value: JSON) -> str:
    """So that 1 is not True."""
    return json.dumps(value, sort_keys=True)


_NOTHING = {"summary": "", "location": "", "description": "", "recurrence": [], "attendees": [], "attachments": []}
"""What says as little as if it were left out."""


def _same_time(given: Any, said: Any) -> bool:
    """One instant or date, and the same time zone or none."""
    if given is None or said is None:
        return given is said
    moment = wire_moment(given)
    return moment is not None and moment == wire_moment(said) and given.get("timeZone") == said.get("timeZone")


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


def _option(name: str) -> _Read:
    def read(controls: EventControls, event: Mapping[str, Any]) -> None:
        controls.more.read(name, event.get(name))

    return read


def _plain(part: str, name: str, otherwise: Any) -> _Read:
    def read(controls: EventControls, event: Mapping[str, Any]) -> None:
        getattr(controls, part).value = event.get(name) or otherwise

    return read


_TIMES = ("start", "end")
_READ: Mapping[str, _Read] = {
    **{name: _option(name) for name in ("originalStartTime", *FIELDS)},
    "summary": _plain("summary", "summary", ""),
    "start": _when,
    "end": _when,
    "recurrence": _recurrence,
    "location": _plain("location", "location", ""),
    "conferenceData": _conference,
    "attendees": _plain("attendees", "attendees", []),
    "guestsCanInviteOthers": _guests_may,
    "guestsCanSeeOtherGuests": _guests_may,
    "guestsCanModify": _guests_may,
    "description": _plain("description", "description", ""),
    "reminders": _reminders,
    "attachments": _plain("attachments", "attachments", []),
    "colorId": _plain("color", "colorId", None),
    "visibility": _plain("visibility", "visibility", None),
    "transparency": _plain("transparency", "transparency", None),
}
"""The fields that have a control; the others are JSON."""
