"""Maps a path of an event to its control: `attendees[1].email` is the row of the second guest."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from ...widgets.field import Field

if TYPE_CHECKING:
    from .controls import EventControls

_FindField = Callable[["EventControls", int], Field]

_CONTROLS: tuple[tuple[re.Pattern[str], _FindField], ...] = tuple(
    (re.compile(pattern), find)
    for pattern, find in (
        (r"calendar", lambda controls, _: controls.calendar),
        (r"summary", lambda controls, _: controls.summary),
        (r"(start|end)\.timeZone|time_?[zZ]one", lambda controls, _: controls.when.zone),
        (r"start", lambda controls, _: controls.when.starts_field),
        (r"end|timeMax", lambda controls, _: controls.when.ends_field),
        (r"recurrence", lambda controls, _: controls.repeats.field),
        (r"location", lambda controls, _: controls.location),
        (r"conference", lambda controls, _: controls.conference),
        (r"attendees\[(\d+)\]", lambda controls, index: controls.attendees.field(index)),
        (r"attendees", lambda controls, _: controls.attendees.note),
        (r"guests", lambda controls, _: controls.guests_may),
        (r"sendUpdates|send_updates", lambda controls, _: controls.invitations),
        (r"description", lambda controls, _: controls.description),
        (r"reminders\.overrides\[(\d+)\]|reminders\[(\d+)\]", lambda controls, index: controls.reminders.field(index)),
        (r"reminders", lambda controls, _: controls.reminders.note),
        (r"attachments\[(\d+)\]", lambda controls, index: controls.attachments.field(index)),
        (r"attachments", lambda controls, _: controls.attachments.note),
        (r"color", lambda controls, _: controls.color),
        (r"visibility", lambda controls, _: controls.visibility),
        (r"transparency", lambda controls, _: controls.transparency),
    )
)
"""The first that a path begins with has it; entries of a list come before the list."""


def control_for(controls: EventControls, path: str | None) -> Field | None:
    """The field that this path is about; None where the form has none."""
    if not path:
        return None
    if re.split(r"[.\[]", path)[0] in controls.other_fields.names:
        return controls.other_fields
    option = controls.more.field_of(path)
    if option is not None:
        return option
    for pattern, find in _CONTROLS:
        match = pattern.match(path)
        if match:
            return find(controls, next((int(index) for index in match.groups() if index and index.isdigit()), 0))
    return None
