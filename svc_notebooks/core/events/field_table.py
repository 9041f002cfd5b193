"""The fields of the Event resource, as lists that follow from its TypedDict, and limits of its values.

The path `attendees[].email` is the `email` of every entry of `attendees`.
"""

from __future__ import annotations

from typing import Final

from ..field_mask import FAMILY_EVENT, shape_of, with_family_fields
from ..resources.events import MAX_REMINDER_MINUTES as MAX_REMINDER_MINUTES, Event
from ..resources.field import Field, fields_of

EVENT_FIELDS: Final[tuple[Field, ...]] = tuple(fields_of(Event))
FIELD_ORDER: Final = tuple(Event.__annotations__)
"""The order of the top-level fields in an event response."""

_VALUES = {field.path: field.values for field in EVENT_FIELDS}
RESPONSES: Final = _VALUES["attendees[].responseStatus"]
METHODS: Final = _VALUES["reminders.overrides[].method"]
EVENT_TYPES: Final = _VALUES["eventType"]

MAX_REMINDERS = 5

EVENT_SHAPE = with_family_fields(shape_of(Event), FAMILY_EVENT)
"""The field names that a `fields` mask for an event may contain."""
