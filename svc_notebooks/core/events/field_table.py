# ruff: noqa: E501  the fields are a table: a row is a line
"""The table of the Event resource's fields, in the order of the interface.

The checks, the event form, the columns of frames and the documentation use this table. Fields with `extension` are not
in the interface. The path `attendees[].email` is the `email` of every entry of `attendees`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .. import family_fields
from ..errors.decision_ids import GADGET_DISPLAY, NEGATIVE_GUESTS, NEGATIVE_SEQUENCE, PROPERTY_VALUES, REQUEST_ID
from ..family_fields import with_family_fields
from ..field_mask import shape_of
from ..resources.events import Event
from .colors import EVENT_COLORS

RESPONSES = ("needsAction", "declined", "tentative", "accepted")
STATUSES = ("confirmed", "tentative", "cancelled")
TRANSPARENCIES = ("opaque", "transparent")
VISIBILITIES = ("default", "public", "private", "confidential")
METHODS = ("email", "popup")
DISPLAYS = ("icon", "chip")
EVENT_TYPES = ("default", "birthday", "focusTime", "outOfOffice", "workingLocation")
ENTRY_POINTS = ("video", "phone", "sip", "more")

MAX_REMINDER_MINUTES = 40_320
MAX_REMINDERS = 5


@dataclass(frozen=True, slots=True)
class EventField:
    """A field of the Event resource.

    `type` is a type name of value_checks.py, `values` the allowed values, `default` the value of an absent field,
    `rule` a short text of the interface's rule. The service ignores values of fields that are not `writable`, because
    clients send back whole resources. `limit` (characters or entries) applies only with `event_limits="family"`.
    `decided_by` names the decision behind an error that the interface does not define.
    """

    path: str
    type: str
    rule: str = ""
    required: bool = False
    default: object = None
    values: tuple[str, ...] = ()
    minimum: int | None = None
    maximum: int | None = None
    limit: int | None = None
    decided_by: str | None = None
    writable: bool = True
    extension: bool = False


def _time(name: str, rule: str, *, required: bool = False) -> tuple[EventField, ...]:
    return (
        EventField(name, "time", rule, required=required),
        EventField(f"{name}.date", "date", "yyyy-mm-dd, for an all-day event"),
        EventField(f"{name}.dateTime", "dateTime", "RFC 3339; needs an offset unless timeZone is given"),
        EventField(f"{name}.timeZone", "timeZone", "an IANA name; required for recurring timed events"),
    )


# fmt: off
EVENT_FIELDS: Final[tuple[EventField, ...]] = (
    *_time("start", "inclusive; for a recurring event, the start of the first instance", required=True),
    *_time("end", "exclusive; for a recurring event, the end of the first instance", required=True),
    *_time("originalStartTime", "the start of an instance before it was moved"),
    EventField("anyoneCanAddSelf", "boolean", "legacy social events only", default=False),
    EventField("attachments", "list", "stored only with supportsAttachments=true", limit=25),
    EventField("attachments[].fileUrl", "link", "the webViewLink of a stored file, or another URL"),
    EventField("attendees", "list", limit=200),
    EventField("attendees[].email", "email", "an RFC 5322 address", required=True),
    EventField("attendees[].displayName", "string"),
    EventField("attendees[].additionalGuests", "integer", "0 or more", default=0, minimum=0, decided_by=NEGATIVE_GUESTS),
    EventField("attendees[].comment", "string"),
    EventField("attendees[].optional", "boolean", default=False),
    EventField("attendees[].resource", "boolean", "stored only when the attendee is first added", default=False),
    EventField("attendees[].responseStatus", "enum", default="needsAction", values=RESPONSES),
    EventField("colorId", "enum", "an entry of the event colours", values=tuple(EVENT_COLORS)),
    EventField("conferenceData", "object", "stored only with conferenceDataVersion=1; createRequest creates a conference"),
    EventField("description", "string", limit=8192),
    EventField("extendedProperties", "object"),
    EventField("extendedProperties.private", "map", "on this calendar's copy only", decided_by=PROPERTY_VALUES),
    EventField("extendedProperties.shared", "map", "also on the attendees' copies", decided_by=PROPERTY_VALUES),
    EventField("gadget", "object"),
    EventField("gadget.display", "enum", values=DISPLAYS, decided_by=GADGET_DISPLAY),
    EventField("gadget.height", "integer", "pixels, above 0", minimum=1),
    EventField("gadget.width", "integer", "pixels, above 0", minimum=1),
    EventField("gadget.iconLink", "https", "an https URL"),
    EventField("gadget.link", "https", "an https URL"),
    EventField("gadget.preferences", "map", decided_by=PROPERTY_VALUES),
    EventField("gadget.title", "string"),
    EventField("gadget.type", "string"),
    EventField("guestsCanInviteOthers", "boolean", default=True),
    EventField("guestsCanModify", "boolean", default=False),
    EventField("guestsCanSeeOtherGuests", "boolean", default=True),
    EventField("id", "id", "5 to 1024 characters of 0-9 and a-v; by default, the service generates it"),
    EventField("location", "string", limit=1024),
    EventField("recurrence", "list", "RRULE, EXRULE, RDATE and EXDATE lines of RFC 5545"),
    EventField("recurrence[]", "string"),
    EventField("reminders", "object"),
    EventField("reminders.useDefault", "boolean", "cannot be true with overrides", default=True),
    EventField("reminders.overrides", "list", "at most 5"),
    EventField("reminders.overrides[].method", "enum", required=True, values=METHODS),
    EventField("reminders.overrides[].minutes", "integer", "0 to 40320 minutes before the start", required=True, minimum=0, maximum=MAX_REMINDER_MINUTES),
    EventField("sequence", "integer", "0 or more", minimum=0, decided_by=NEGATIVE_SEQUENCE),
    EventField("source", "object"),
    EventField("source.title", "string"),
    EventField("source.url", "url", "an http or https URL"),
    EventField("status", "enum", default="confirmed", values=STATUSES),
    EventField("summary", "string", limit=1024),
    EventField("transparency", "enum", default="opaque", values=TRANSPARENCIES),
    EventField("visibility", "enum", default="default", values=VISIBILITIES),
    # fields that the service sets
    EventField("kind", "string", writable=False),
    EventField("etag", "string", writable=False),
    EventField("htmlLink", "string", "the URL of the event's page", writable=False),
    EventField("created", "string", writable=False),
    EventField("updated", "string", writable=False),
    EventField("creator", "person", writable=False),
    EventField("organizer", "person", writable=False),
    EventField("hangoutLink", "string", "the URL of the conference", writable=False),
    EventField("attendeesOmitted", "boolean", "true if not all attendees are listed", writable=False),
    EventField("recurringEventId", "string", "only for an instance: the id of the recurring event", writable=False),
    EventField("locked", "boolean", writable=False),
    EventField("privateCopy", "boolean", writable=False),
    EventField("endTimeUnspecified", "boolean", writable=False),
    EventField("attachments[].fileId", "string", "only for a stored file: its id", writable=False),
    EventField("attendees[].id", "string", writable=False),
    EventField("attendees[].organizer", "boolean", writable=False),
    EventField("attendees[].self", "boolean", writable=False),
    # fields of the family that the interface does not name
    EventField("iCalUID", "string", "by default <id>@svc.example", limit=1024, extension=True),
    EventField("eventType", "enum", default="default", values=EVENT_TYPES, extension=True),
    EventField("eventLabelId", "string", extension=True),
    EventField("attachments[].title", "string", extension=True),
    EventField("attachments[].mimeType", "string", extension=True),
    EventField("attachments[].iconLink", "string", extension=True),
    EventField("birthdayProperties", "object", extension=True),
    EventField("focusTimeProperties", "object", extension=True),
    EventField("outOfOfficeProperties", "object", extension=True),
    EventField("workingLocationProperties", "object", extension=True),
    EventField("conferenceData.createRequest", "object", extension=True),
    EventField("conferenceData.createRequest.requestId", "string", "a new text for each conference", required=True, decided_by=REQUEST_ID, extension=True),
    EventField("conferenceData.createRequest.conferenceSolutionKey", "object", extension=True),
    EventField("conferenceData.createRequest.conferenceSolutionKey.type", "string", extension=True),
    EventField("conferenceData.conferenceId", "string", extension=True),
    EventField("conferenceData.conferenceSolution", "object", extension=True),
    EventField("conferenceData.conferenceSolution.key", "object", extension=True),
    EventField("conferenceData.conferenceSolution.key.type", "string", extension=True),
    EventField("conferenceData.conferenceSolution.name", "string", extension=True),
    EventField("conferenceData.conferenceSolution.iconUri", "string", extension=True),
    EventField("conferenceData.entryPoints", "list", "at most one each of video, sip and more", extension=True),
    EventField("conferenceData.entryPoints[].entryPointType", "enum", required=True, values=ENTRY_POINTS, extension=True),
    EventField("conferenceData.entryPoints[].uri", "string", required=True, limit=1300, extension=True),
    EventField("conferenceData.entryPoints[].label", "string", limit=512, extension=True),
    EventField("conferenceData.entryPoints[].pin", "string", limit=128, extension=True),
    EventField("conferenceData.entryPoints[].accessCode", "string", limit=128, extension=True),
    EventField("conferenceData.entryPoints[].meetingCode", "string", limit=128, extension=True),
    EventField("conferenceData.entryPoints[].passcode", "string", limit=128, extension=True),
    EventField("conferenceData.entryPoints[].password", "string", limit=128, extension=True),
    EventField("conferenceData.entryPoints[].regionCode", "string", extension=True),
    EventField("conferenceData.entryPoints[].entryPointFeatures", "list", extension=True),
    EventField("conferenceData.notes", "string", limit=2048, extension=True),
    EventField("conferenceData.parameters", "object", extension=True),
    EventField("conferenceData.signature", "string", extension=True),
)
# fmt: on

FIELD_ORDER = (
    "kind", "etag", "id", "status", "htmlLink", "created", "updated", "summary", "description", "location", "colorId",
    "creator", "organizer", "start", "end", "endTimeUnspecified", "recurrence", "recurringEventId",
    "originalStartTime", "transparency", "visibility", "iCalUID", "sequence", "attendees", "attendeesOmitted",
    "extendedProperties", "hangoutLink", "conferenceData", "gadget", "anyoneCanAddSelf", "guestsCanInviteOthers",
    "guestsCanModify", "guestsCanSeeOtherGuests", "privateCopy", "locked", "reminders", "source", "attachments",
    "eventType", "eventLabelId", "birthdayProperties", "focusTimeProperties", "outOfOfficeProperties",
    "workingLocationProperties",
)  # fmt: skip
"""The order of the top-level fields in an event response."""


EVENT_SHAPE = with_family_fields(shape_of(Event), family_fields.EVENT)
"""The field names that a `fields` mask for an event may contain."""
