# ruff: noqa: E501  the bindings are a table: a row is a line
"""A table that binds each control of the event form to an event field and to an argument of `create_event`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from ....core.events.colors import EVENT_COLORS
from ...frames.frames import snake
from ..recurrence.builder import RecurrenceBuilder
from .attachment_rows import AttachmentRows
from .guest_list import GuestList
from .inputs import (
    Binding,
    CalendarChoice,
    Choice,
    Choices,
    ColorPicker,
    GuestSwitches,
    NumberInput,
    SwitchInput,
    TextInput,
    free_text,
    long_text,
)
from .property_rows import PropertyRows
from .reminder_rows import ReminderRows
from .time.start_and_end import TimeChoice, WhenChoice
from .time.time_zone import ZoneChoice

FIRST, SECOND = "first", "second"
CALENDAR, TIMES, STATUS = "In the calendar", "Times", "Status and source"
GUESTS, CONFERENCE, ATTACHMENTS = "Guests", "Conference", "Attachments"
PROPERTIES, GADGET, QUERY = "Properties", "Gadget", "Request parameters"


def _entries(key: str) -> Callable[[list[dict[str, Any]]], list[Any]]:
    """Return a function that replaces each dict whose only key is `key` by the value of `key`, in a list of dicts."""
    return lambda entries: [entry[key] if list(entry) == [key] else entry for entry in entries]


def _reminders(reminders: Mapping[str, Any]) -> list[Any]:
    """Return the argument `reminders`, a list of ints (minutes of popups) and tuples of method and minutes."""
    rows = [(row["method"], row["minutes"]) for row in reminders.get("overrides", [])]
    return [minutes if method == "popup" else (method, minutes) for method, minutes in rows]


def _time_zone(row: Binding) -> ZoneChoice:
    return ZoneChoice("", row.label, row.help, row.hint)


def _properties(row: Binding) -> PropertyRows:
    return PropertyRows(row.label, row.help, [scope for _, scope in row.values])


# fmt: off
_GUESTS_MAY: Choices = (("invite others", True), ("see who else is invited", True), ("change the event", False))
_VISIBILITIES: Choices = (("Default", "default"), ("Public", "public"), ("Private", "private"), ("Confidential", "confidential"))
_TRANSPARENCIES: Choices = (("Busy", "opaque"), ("Free", "transparent"))
_INVITATIONS: Choices = (("Default", ""), ("All guests", "all"), ("External guests only", "externalOnly"), ("None", "none"))
_STATUSES: Choices = (("Confirmed", "confirmed"), ("Tentative", "tentative"), ("Cancelled", "cancelled"))
_DISPLAYS: Choices = (("Not set", ""), ("icon", "icon"), ("chip", "chip"))
_VERSIONS: Choices = (("Automatic: 1 with conference data", ""), ("0: ignore conference data", 0), ("1: use conference data", 1))
_SUPPORTS: Choices = (("Automatic: true with attachments", ""), ("true", True), ("false: ignore attachments", False))
_NOTIFY: Choices = (("Not sent", ""), ("true", True), ("false", False))

BINDINGS: Final[tuple[Binding, ...]] = (
    Binding(FIRST, "summary", "summary", free_text, "Title", "The title of the event", name="summary"),
    Binding(FIRST, "start end", "start", lambda _row: WhenChoice(), "Start", name="when"),
    Binding(FIRST, "recurrence", "recurrence", lambda _row: RecurrenceBuilder(), "Repeats", name="repeats"),
    Binding(SECOND, "attendees", "attendees", lambda _row: GuestList(), "Guests", name="attendees", to_argument=_entries("email")),
    Binding(SECOND, "location", "location", free_text, "Location", "Where the event takes place, in any words", name="location"),
    Binding(SECOND, "description", "description", long_text, "Description", "Notes for everybody who can see the event", name="description"),
    # More options
    Binding(CALENDAR, "calendar", "calendar", CalendarChoice, "Calendar", "The calendar of the event", name="calendar"),
    Binding(CALENDAR, "reminders", "reminders", lambda _row: ReminderRows(), "Reminders", name="reminders", to_argument=_reminders),
    Binding(CALENDAR, "visibility", "visibility", Choice, "Visibility", "Who can see the details of the event", values=_VISIBILITIES, name="visibility"),
    Binding(CALENDAR, "transparency", "transparency", Choice, "Show as", "Whether the event blocks its time in the calendar", values=_TRANSPARENCIES, name="transparency"),
    Binding(CALENDAR, "colorId", "color", ColorPicker, "Color", "The color of the event in a calendar", name="color", to_argument=lambda key: EVENT_COLORS[key].name),
    Binding(GUESTS, "guestsCanInviteOthers guestsCanSeeOtherGuests guestsCanModify", "*", GuestSwitches, "Guests may", values=_GUESTS_MAY, name="guests_may", to_argument=lambda fields: {snake(name): value for name, value in fields.items()}),
    Binding(GUESTS, "sendUpdates", "send_updates", Choice, "Invitations", "Who gets an e-mail about the event", values=_INVITATIONS, name="invitations"),
    Binding(GUESTS, "anyoneCanAddSelf", "anyone_can_add_self", SwitchInput, "Self sign-up", "Applies only to legacy social events", "anyone can add themselves"),
    Binding(CONFERENCE, "conferenceData", "conference", SwitchInput, "Conference", "The service creates a video conference and puts its link into the event", "Add a video conference", name="conference", from_field=lambda data: "createRequest" in data),
    Binding(CONFERENCE, "conferenceData.createRequest.conferenceSolutionKey.type", "", TextInput, "Conference type", "The solution of the new conference; empty: the service's default", "hangoutsMeet"),
    Binding(CONFERENCE, "conferenceData.createRequest.requestId", "", TextInput, "Request ID", "Identifies the request for a conference; empty: a random one for each event", "random"),
    Binding(ATTACHMENTS, "attachments", "attachments", lambda _row: AttachmentRows(), "Attachments", name="attachments", to_argument=_entries("fileUrl")),
    Binding(TIMES, "end.timeZone", "", _time_zone, "End time zone", "The time zone of the end; empty: that of the start", "same as the start"),
    Binding(TIMES, "start.timeZone", "", _time_zone, "All-day time zone", "The time zone that is sent with the dates of a recurring all-day event; empty: none is sent", "Default"),
    Binding(TIMES, "originalStartTime", "", lambda row: TimeChoice(row.label, row.help), "Original start", "When this instance of a recurring event would have started"),
    Binding(STATUS, "status", "status", Choice, "Status", "Confirmed, tentative or cancelled", values=_STATUSES),
    Binding(STATUS, "id", "event_id", TextInput, "Event ID", "5 to 1024 characters of 0-9 and a-v; empty: the service generates one", "generated by the service"),
    Binding(STATUS, "sequence", "sequence", NumberInput, "Sequence", "The iCalendar sequence number: 0 or more", "0"),
    Binding(STATUS, "source.title", "source.title", TextInput, "Source title", "The title of the page or message that the event comes from"),
    Binding(STATUS, "source.url", "source.url", TextInput, "Source URL", "Its address; http or https", "https://…"),
    Binding(PROPERTIES, "extendedProperties", "*", _properties, "Extended properties", "Private: on this calendar's copy only. Shared: on the copies of all attendees", values=(("private", "private"), ("shared", "shared"))),
    Binding(GADGET, "gadget.title", "gadget.title", TextInput, "Gadget title", "The title of the gadget"),
    Binding(GADGET, "gadget.type", "gadget.type", TextInput, "Gadget type", "The type of the gadget"),
    Binding(GADGET, "gadget.link", "gadget.link", TextInput, "Gadget link", "The address of the gadget; https", "https://…"),
    Binding(GADGET, "gadget.iconLink", "gadget.iconLink", TextInput, "Gadget icon", "The address of its icon; https", "https://…"),
    Binding(GADGET, "gadget.width", "gadget.width", NumberInput, "Gadget width", "Pixels, more than 0"),
    Binding(GADGET, "gadget.height", "gadget.height", NumberInput, "Gadget height", "Pixels, more than 0"),
    Binding(GADGET, "gadget.display", "gadget.display", Choice, "Gadget display", "How the gadget is displayed", values=_DISPLAYS),
    Binding(GADGET, "gadget.preferences", "gadget.preferences", _properties, "Preferences", "Names and values for the gadget"),
    Binding(QUERY, "maxAttendees", "max_attendees", NumberInput, "Max. attendees", "At most this many attendees in the response; with more, only you are in it", "no limit"),
    Binding(QUERY, "conferenceDataVersion", "conference_data_version", Choice, "Conference data version", "With 0 the service ignores conference data, with 1 it copies it or creates a conference", values=_VERSIONS),
    Binding(QUERY, "supportsAttachments", "supports_attachments", Choice, "Supports attachments", "With false the service ignores attachments", values=_SUPPORTS),
    Binding(QUERY, "sendNotifications", "send_notifications", Choice, "Send notifications", "Deprecated: use Invitations instead", values=_NOTIFY),
)
# fmt: on

PARAMETERS = ("calendar", "sendUpdates", *(row.path for row in BINDINGS if row.group == QUERY))
"""The paths of the rows that set parameters of the request instead of event fields."""

LABELS: Mapping[str, str] = {
    **{field: row.label for row in reversed(BINDINGS) for field in row.fields if field not in PARAMETERS},
    "end": "End",
    "source": "Source",
    "gadget": "Gadget",
}
"""The label of each event field that has a control."""

_ENTRIES = {"attendees": "Guest", "reminders": "Reminder", "attachments": "Attachment"}
_PARTS = {"email": "e-mail", "displayName": "name", "additionalGuests": "additional guests", "fileUrl": "link"}
_PATH = re.compile(r"[A-Za-z]+(\[\d+\]|\.\w+)*(?=: | is missing)")


def with_label(message: str) -> str:
    """Replace an event path at the beginning of a service message by the label of the control.

    >>> with_label("attendees[0].email: expected an e-mail address, such as ada@example.com.")
    'Guest 1, e-mail: expected an e-mail address, such as ada@example.com.'
    """
    match = _PATH.match(message)
    return message if match is None else _path_label(match[0]) + message[match.end() :]


def _path_label(path: str) -> str:
    if path in ("start.timeZone", "end.timeZone"):
        return "Time zone" if path.startswith("start") else "End time zone"
    if label := next((row.label for row in BINDINGS if row.path == path), None):
        return label
    root, *parts = re.split(r"[.\[]", path)
    index = re.search(r"\[(\d+)\]", path)
    head = f"{_ENTRIES[root]} {int(index[1]) + 1}" if index and root in _ENTRIES else LABELS.get(root, root)
    last = parts[-1] if parts and not parts[-1].endswith("]") else ""
    return f"{head}, {_PARTS.get(last, last)}" if last else head
