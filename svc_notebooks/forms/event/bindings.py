# ruff: noqa: E501  the bindings are a table: a row is a line
"""A table that binds each control of the event form to an event field and to an argument of `create_event`."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from ...core.events.fields import MAX_REMINDERS as MOST
from ...core.resources.calendars import EVENT_COLORS, Reminder
from ...core.resources.events import Reminders
from ..recurrence import RecurrenceBuilder
from ..widgets import ui
from . import inputs
from .attendee_rows import AttachmentRows, GuestList
from .inputs import Binding, Choices, TimeChoice, WhenChoice, ZoneChoice


class OtherFields(ui.Field):
    """A text field for further event fields as a JSON object."""

    def __init__(self) -> None:
        example = '{"iCalUID": "…", "conferenceData": {…}}'
        self.text = ui.text_area("Other fields", "Fields without a control, as a JSON object", hint=example, rows=2)
        super().__init__(self.text)

    @property
    def value(self) -> dict[str, Any]:
        """The event fields as a dict. Raises ValueError if the text is not a JSON object."""
        return ui.read_object(self.text.value, '{"iCalUID": "a@b"}')

    @value.setter
    def value(self, fields: Mapping[str, Any]) -> None:
        self.text.value = json.dumps(fields, ensure_ascii=False, indent=1) if fields else ""

    @property
    def names(self) -> frozenset[str]:
        """The names of the event fields in the JSON, or an empty set for invalid JSON."""
        try:
            return frozenset(self.value)
        except ValueError:
            return frozenset()


CALENDAR, NONE, OWN = "calendar", "none", "own"
_MODES = (("Default", CALENDAR), ("None", NONE), ("Custom", OWN))
_METHODS = (("Notification", "popup"), ("E-mail", "email"))
_KNOWN = {method for _, method in _METHODS}


class ReminderRow(ui.Field):
    """A row for one reminder, with the method and the minutes before the start."""

    def __init__(self, method: str = "popup", minutes: int = 10) -> None:
        self.method = ui.dropdown("By", "How the reminder is sent", _METHODS, style=ui.AUTO_WIDTH, value=method)
        self.method.layout.width = "auto"
        self.minutes = ui.number_field(minutes, "minutes before", "Minutes before the start, 0 to 40320 (four weeks)")
        super().__init__(self.method, self.minutes)

    @property
    def value(self) -> Reminder:
        return {"method": self.method.value, "minutes": self.minutes.value}


class ReminderRows(ui.EditableRows[ReminderRow]):
    """A choice between default, no and custom reminders, and a row for each custom reminder."""

    def __init__(self) -> None:
        tooltip = "The reminders of the calendar, none, or your own"
        self.way = ui.radio_buttons("Reminders", tooltip, _MODES, **ui.IN_A_ROW)
        self.add = ui.small_button("Add reminder", f"Add a row, up to {MOST}", lambda: self.append(ReminderRow()))
        too_many = f"An event has at most {MOST} reminders: remove one first."
        super().__init__(ui.Field(self.way, self.add), maximum=MOST, too_many_message=too_many)
        ui.on_change(self._update_visibility, self.way)
        self._update_visibility()

    @property
    def value(self) -> Reminders | None:
        """The event field `reminders`, or None for the default of the calendar."""
        if self.way.value == CALENDAR:
            return None
        rows = [row.value for row in self.rows] if self.way.value == OWN else []
        return {"useDefault": False, "overrides": rows} if rows else {"useDefault": False}

    @value.setter
    def value(self, reminders: Reminders | None) -> None:
        settings = reminders or {"useDefault": True}
        overrides = settings.get("overrides") or []
        self.replace([])
        for override in overrides:
            if override.get("method") in _KNOWN and isinstance(override.get("minutes"), int):
                self.append(ReminderRow(override["method"], override["minutes"]))
        self.way.value = OWN if self.rows else CALENDAR if settings.get("useDefault") else NONE

    def _update_visibility(self) -> None:
        ui.set_visible(self.add, self.way.value == OWN)
        ui.set_visible(self.box, self.way.value == OWN)
        if self.way.value == OWN and not self.rows:
            self.append(ReminderRow())
        self.notify()


FIRST, SECOND = "first", "second"
IN_CALENDAR, TIMES, STATUS = "In the calendar", "Times", "Status and source"
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
    return ZoneChoice(row.label, row.help, row.hint)


# fmt: off
_VISIBILITIES: Choices = (("Default", "default"), ("Public", "public"), ("Private", "private"), ("Confidential", "confidential"))
_TRANSPARENCIES: Choices = (("Busy", "opaque"), ("Free", "transparent"))
_INVITATIONS: Choices = (("Default", ""), ("All guests", "all"), ("External guests only", "externalOnly"), ("None", "none"))
_STATUSES: Choices = (("Confirmed", "confirmed"), ("Tentative", "tentative"), ("Cancelled", "cancelled"))
_DISPLAYS: Choices = (("Not set", ""), ("icon", "icon"), ("chip", "chip"))
_VERSIONS: Choices = (("Automatic: 1 with conference data", ""), ("0: ignore conference data", 0), ("1: use conference data", 1))
_SUPPORTS: Choices = (("Automatic: true with attachments", ""), ("true", True), ("false: ignore attachments", False))
_NOTIFY: Choices = (("Not sent", ""), ("true", True), ("false", False))

BINDINGS: Final[tuple[Binding, ...]] = (
    Binding(FIRST, "summary", "summary", inputs.free_text, "Title", "The title of the event", name="summary"),
    Binding(FIRST, "start end", "start", lambda _row: WhenChoice(), "Start", name="when"),
    Binding(FIRST, "recurrence", "recurrence", lambda _row: RecurrenceBuilder(), "Repeats", name="repeats"),
    Binding(SECOND, "attendees", "attendees", lambda _row: GuestList(), "Guests", name="attendees", to_argument=_entries("email")),
    Binding(SECOND, "location", "location", inputs.free_text, "Location", "Where the event takes place, in any words", name="location"),
    Binding(SECOND, "description", "description", lambda row: ui.SingleField(ui.text_area(row.label, row.help)), "Description", "Notes for everybody who can see the event", name="description"),
    # More options
    Binding(IN_CALENDAR, "calendar", "calendar", inputs.CalendarChoice, "Calendar", "The calendar of the event", name="calendar"),
    Binding(IN_CALENDAR, "reminders", "reminders", lambda _row: ReminderRows(), "Reminders", name="reminders", to_argument=_reminders),
    Binding(IN_CALENDAR, "visibility", "visibility", inputs.selection, "Visibility", "Who can see the details of the event", values=_VISIBILITIES, name="visibility"),
    Binding(IN_CALENDAR, "transparency", "transparency", inputs.selection, "Show as", "Whether the event blocks its time in the calendar", values=_TRANSPARENCIES, name="transparency"),
    Binding(IN_CALENDAR, "colorId", "color", inputs.color_picker, "Color", "The color of the event in a calendar", name="color", to_argument=lambda key: EVENT_COLORS[key].name),
    Binding(GUESTS, "guestsCanInviteOthers", "guests_can_invite_others", inputs.permission, "Guests may", "Guests may invite others", "invite others", values=(("", True),)),
    Binding(GUESTS, "guestsCanSeeOtherGuests", "guests_can_see_other_guests", inputs.permission, "Guests may", "Guests may see who else is invited", "see who else is invited", values=(("", True),)),
    Binding(GUESTS, "guestsCanModify", "guests_can_modify", inputs.permission, "Guests may", "Guests may change the event", "change the event", values=(("", False),)),
    Binding(GUESTS, "sendUpdates", "send_updates", inputs.selection, "Invitations", "Who gets an e-mail about the event", values=_INVITATIONS, name="invitations"),
    Binding(GUESTS, "anyoneCanAddSelf", "anyone_can_add_self", inputs.switch, "Self sign-up", "Applies only to legacy social events", "anyone can add themselves"),
    Binding(CONFERENCE, "conferenceData", "conference", inputs.switch, "Conference", "The service creates a video conference and puts its link into the event", "Add a video conference", name="conference", from_field=lambda data: "createRequest" in data),
    Binding(CONFERENCE, "conferenceData.createRequest.conferenceSolutionKey.type", "", inputs.short_text, "Conference type", "The solution of the new conference; empty: the service's default", "hangoutsMeet"),
    Binding(CONFERENCE, "conferenceData.createRequest.requestId", "", inputs.short_text, "Request ID", "Identifies the request for a conference; empty: a random one for each event", "random"),
    Binding(ATTACHMENTS, "attachments", "attachments", lambda _row: AttachmentRows(), "Attachments", name="attachments", to_argument=_entries("fileUrl")),
    Binding(TIMES, "end.timeZone", "", _time_zone, "End time zone", "The time zone of the end; empty: that of the start", "same as the start"),
    Binding(TIMES, "start.timeZone", "", _time_zone, "All-day time zone", "The time zone that is sent with the dates of a recurring all-day event; empty: none is sent", "Default"),
    Binding(TIMES, "originalStartTime", "", lambda row: TimeChoice(row.label, row.help), "Original start", "When this instance of a recurring event would have started"),
    Binding(STATUS, "status", "status", inputs.selection, "Status", "Confirmed, tentative or cancelled", values=_STATUSES),
    Binding(STATUS, "id", "event_id", inputs.short_text, "Event ID", "5 to 1024 characters of 0-9 and a-v; empty: the service generates one", "generated by the service"),
    Binding(STATUS, "sequence", "sequence", inputs.number, "Sequence", "The iCalendar sequence number: 0 or more", "0"),
    Binding(STATUS, "source.title", "source.title", inputs.short_text, "Source title", "The title of the page or message that the event comes from"),
    Binding(STATUS, "source.url", "source.url", inputs.short_text, "Source URL", "Its address; http or https", "https://…"),
    Binding(PROPERTIES, "extendedProperties.private", "private", inputs.PropertyLines, "Private properties", "On this calendar's copy only: name=value, one in each line"),
    Binding(PROPERTIES, "extendedProperties.shared", "shared", inputs.PropertyLines, "Shared properties", "On the copies of all attendees: name=value, one in each line"),
    Binding(GADGET, "gadget.title", "gadget.title", inputs.short_text, "Gadget title", "The title of the gadget"),
    Binding(GADGET, "gadget.type", "gadget.type", inputs.short_text, "Gadget type", "The type of the gadget"),
    Binding(GADGET, "gadget.link", "gadget.link", inputs.short_text, "Gadget link", "The address of the gadget; https", "https://…"),
    Binding(GADGET, "gadget.iconLink", "gadget.iconLink", inputs.short_text, "Gadget icon", "The address of its icon; https", "https://…"),
    Binding(GADGET, "gadget.width", "gadget.width", inputs.number, "Gadget width", "Pixels, more than 0"),
    Binding(GADGET, "gadget.height", "gadget.height", inputs.number, "Gadget height", "Pixels, more than 0"),
    Binding(GADGET, "gadget.display", "gadget.display", inputs.selection, "Gadget display", "How the gadget is displayed", values=_DISPLAYS),
    Binding(GADGET, "gadget.preferences", "gadget.preferences", inputs.PropertyLines, "Preferences", "For the gadget: name=value, one in each line"),
    Binding(QUERY, "maxAttendees", "max_attendees", inputs.number, "Max. attendees", "At most this many attendees in the response; with more, only you are in it", "no limit"),
    Binding(QUERY, "conferenceDataVersion", "conference_data_version", inputs.selection, "Conference data version", "With 0 the service ignores conference data, with 1 it copies it or creates a conference", values=_VERSIONS),
    Binding(QUERY, "supportsAttachments", "supports_attachments", inputs.selection, "Supports attachments", "With false the service ignores attachments", values=_SUPPORTS),
    Binding(QUERY, "sendNotifications", "send_notifications", inputs.selection, "Send notifications", "Deprecated: use Invitations instead", values=_NOTIFY),
)
# fmt: on

# The paths of the rows that set parameters of the request instead of event fields.
PARAMETERS = ("calendar", "sendUpdates", *(row.path for row in BINDINGS if row.group == QUERY))

# The label of each event field that has a control.
LABELS: Mapping[str, str] = {
    **{field: row.label for row in reversed(BINDINGS) for field in row.fields if field not in PARAMETERS},
    "end": "End",
    "source": "Source",
    "extendedProperties": "Extended properties",
    "gadget": "Gadget",
}

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
