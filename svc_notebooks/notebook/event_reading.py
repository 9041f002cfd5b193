"""The controls of an event form, set from the event itself; nothing of it is lost."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from traitlets import TraitError

from ..core.event_times import read_time
from ..core.events import with_defaults
from ..core.recurrence import Start
from ..core.zones import zone
from .when_choice import When

if TYPE_CHECKING:
    from ..core.wire import JSON, JSONObject
    from .event_controls import EventControls

_Read = Callable[["EventControls", Mapping[str, Any]], None]
_DAY = timedelta(days=1)


def read_event(controls: EventControls, event: JSONObject, written: Callable[[], JSONObject]) -> None:
    """Set the controls; what they cannot say stands in the JSON of the further fields.

    `written` gives the event that the controls say, to compare.
    """
    controls.further.value = {}
    for read in _READ.values():
        _set(controls, read, event)
    said = written()
    other = {name: value for name, value in event.items() if not _same(name, event, said)}
    rest = {name: value for name, value in event.items() if name not in other}
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
    if name in ("start", "end"):
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
    """One instant, and the same zone if one is given."""
    moment = _time(given)
    return moment is not None and moment == _time(said) and given.get("timeZone") in (None, said.get("timeZone"))


def _time(value: Any) -> Start | None:
    try:
        return read_time(value)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def _when(controls: EventControls, event: Mapping[str, Any]) -> None:
    """Times without a zone are shown in that of the form."""
    start, end = _time(event.get("start")), _time(event.get("end"))
    if start is None or end is None:
        return
    if isinstance(start, datetime) and isinstance(end, datetime):
        name = event["start"].get("timeZone") or controls.when.zone.value
        begins, ends = start.astimezone(zone(name)), end.astimezone(zone(name))
        controls.when.value = When(False, begins.date(), begins.time(), ends.date(), ends.time(), name)
    elif not isinstance(start, datetime) and not isinstance(end, datetime):
        controls.when.value = When(True, start, None, end - _DAY, None, controls.when.zone.value)


def _recurrence(controls: EventControls, event: Mapping[str, Any]) -> None:
    controls.repeats.read(event.get("recurrence") or [], _time(event.get("start")))


def _reminders(controls: EventControls, event: Mapping[str, Any]) -> None:
    controls.reminders.value = event.get("reminders")


def _conference(controls: EventControls, event: Mapping[str, Any]) -> None:
    controls.conference.value = "createRequest" in (event.get("conferenceData") or {})


def _guests_may(controls: EventControls, event: Mapping[str, Any]) -> None:
    controls.guests_may.value = event


def _plain(part: str, name: str, otherwise: Any) -> _Read:
    def read(controls: EventControls, event: Mapping[str, Any]) -> None:
        getattr(controls, part).value = event.get(name) or otherwise

    return read


_READ: Mapping[str, _Read] = {
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
