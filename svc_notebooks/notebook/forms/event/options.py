# ruff: noqa: E501  the options are a table: a row is a line
"""The controls of "More options" in the event form: one row for each, in the order in which they are shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import ipywidgets as widgets

from ...widgets.field import Field, checkbox, heading, text_field
from .choices import Choice
from .property_rows import PropertyRows
from .time.optional_time import TimeChoice
from .time.time_zone import ZoneChoice

TIMES, EVENT, GUESTS, CONFERENCE = "Times", "Status and source", "Guests", "Conference"
PROPERTIES, GADGET, QUERY = "Properties", "Gadget", "Request parameters"
Choices = tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Option:
    """One control: `path` is the field of the event or the query parameter, `argument` that of `create_event`.

    After a dot, `argument` has the key in the dict that the argument takes. An empty one belongs to an argument that
    the draft composes of several controls. `values` are the choices; the first is the default, which is not sent.
    """

    group: str
    path: str
    argument: str
    kind: str
    label: str
    help: str
    hint: str = ""
    values: Choices = ()

    @property
    def field(self) -> str:
        """The field of the event that the path begins with."""
        return self.path.partition(".")[0]


_STATUSES: Choices = (("confirmed", "confirmed"), ("tentative", "tentative"), ("cancelled", "cancelled"))
_DISPLAYS: Choices = (("not set", ""), ("icon", "icon"), ("chip", "chip"))
_VERSIONS: Choices = (
    ("automatic: 1 with conference data", ""),
    ("0: ignore conference data", 0),
    ("1: use conference data", 1),
)
_SUPPORTS: Choices = (("automatic: true with attachments", ""), ("true", True), ("false: ignore attachments", False))
_NOTIFY: Choices = (("not sent", ""), ("true", True), ("false", False))

# fmt: off
OPTIONS: Final[tuple[Option, ...]] = (
    Option(TIMES, "end.timeZone", "", "zone", "End time zone", "The time zone of the end; empty: that of the start", "same as the start"),
    Option(TIMES, "start.timeZone", "", "zone", "All-day time zone", "The time zone that is sent with the dates of an all-day event; empty: none is sent", "the calendar's"),
    Option(TIMES, "originalStartTime", "", "time", "Original start", "When this instance of a recurring event would have started"),
    Option(EVENT, "status", "status", "choice", "Status", "Confirmed, tentative or cancelled", values=_STATUSES),
    Option(EVENT, "id", "event_id", "text", "Event ID", "5 to 1024 characters of 0-9 and a-v; empty: the service chooses one", "chosen by the service"),
    Option(EVENT, "sequence", "sequence", "number", "Sequence", "The iCalendar sequence number: 0 or more", "0"),
    Option(EVENT, "source.title", "source.title", "text", "Source title", "The title of the page or message that the event comes from"),
    Option(EVENT, "source.url", "source.url", "text", "Source URL", "Its address; http or https", "https://…"),
    Option(GUESTS, "anyoneCanAddSelf", "anyone_can_add_self", "switch", "Self sign-up", "Applies only to legacy social events", "anyone can add themselves"),
    Option(CONFERENCE, "conferenceData.createRequest.conferenceSolutionKey.type", "", "text", "Conference type", "The solution of the new conference; empty: the service's default", "hangoutsMeet"),
    Option(CONFERENCE, "conferenceData.createRequest.requestId", "", "text", "Request ID", "Identifies the request for a conference; empty: a random one for each event", "random"),
    Option(PROPERTIES, "extendedProperties", "", "properties", "Extended properties", "Private: on this calendar's copy only. Shared: on the copies of all attendees"),
    Option(GADGET, "gadget.title", "gadget.title", "text", "Gadget title", "The title of the gadget"),
    Option(GADGET, "gadget.type", "gadget.type", "text", "Gadget type", "The type of the gadget"),
    Option(GADGET, "gadget.link", "gadget.link", "text", "Gadget link", "The address of the gadget; https", "https://…"),
    Option(GADGET, "gadget.iconLink", "gadget.iconLink", "text", "Gadget icon", "The address of its icon; https", "https://…"),
    Option(GADGET, "gadget.width", "gadget.width", "number", "Gadget width", "Pixels, more than 0"),
    Option(GADGET, "gadget.height", "gadget.height", "number", "Gadget height", "Pixels, more than 0"),
    Option(GADGET, "gadget.display", "gadget.display", "choice", "Gadget display", "How the gadget is displayed", values=_DISPLAYS),
    Option(GADGET, "gadget.preferences", "gadget.preferences", "preferences", "Preferences", "Names and values for the gadget"),
    Option(QUERY, "maxAttendees", "max_attendees", "number", "Max. attendees", "At most this many attendees in the response; with more, only you are in it", "no limit"),
    Option(QUERY, "conferenceDataVersion", "conference_data_version", "choice", "Conference data version", "With 0 the service ignores conference data, with 1 it copies it or creates a conference", values=_VERSIONS),
    Option(QUERY, "supportsAttachments", "supports_attachments", "choice", "Supports attachments", "With false the service ignores attachments", values=_SUPPORTS),
    Option(QUERY, "sendNotifications", "send_notifications", "choice", "Send notifications", "Deprecated: use Invitations instead", values=_NOTIFY),
)
# fmt: on

GROUPS = tuple(dict.fromkeys(option.group for option in OPTIONS))
FIELDS = frozenset(option.field for option in OPTIONS if option.group not in (TIMES, CONFERENCE, QUERY))
"""The fields of an event that have all their controls here."""


class TextOption(Field):
    """A line of text; `value` is None while it is empty."""

    def __init__(self, option: Option) -> None:
        self.text = text_field(option.label, option.help, hint=option.hint)
        super().__init__(self.text)

    @property
    def value(self) -> Any:
        """The text without the spaces around it."""
        return self.text.value.strip() or None

    @value.setter
    def value(self, value: Any) -> None:
        self.text.value = "" if value is None else value


class NumberOption(TextOption):
    """A whole number. Other text is sent as it is, for the rules of the service to refuse."""

    def __init__(self, option: Option) -> None:
        super().__init__(option)
        self.text.add_class("svc-number")

    @property
    def value(self) -> Any:
        """The number, or the text."""
        return whole_number(self.text.value)

    @value.setter
    def value(self, value: Any) -> None:
        if isinstance(value, bool) or not isinstance(value, int | None):
            raise TypeError("expected a whole number")
        self.text.value = "" if value is None else str(value)


def whole_number(text: str) -> int | str | None:
    """The whole number in a text, the text itself if there is none, None for an empty one.

    >>> whole_number(" 3 "), whole_number("three"), whole_number("")
    (3, 'three', None)
    """
    text = text.strip()
    try:
        return int(text) if text else None
    except ValueError:
        return text


class SwitchOption(Field):
    """A checkbox with the hint as its label; `value` is True or None."""

    def __init__(self, option: Option) -> None:
        self.switch = checkbox(option.hint, option.help)
        super().__init__(heading(option.label), self.switch)

    @property
    def value(self) -> bool | None:
        """None while it is off, which is the default."""
        return True if self.switch.value else None

    @value.setter
    def value(self, value: bool | None) -> None:
        self.switch.value = bool(value)


CONTROLS: Final[dict[str, Callable[[Option], widgets.Widget]]] = {
    "text": TextOption,
    "number": NumberOption,
    "switch": SwitchOption,
    "choice": lambda option: Choice(option.values, option.label, option.help),
    "zone": lambda option: ZoneChoice("", option.label, option.help, option.hint),
    "time": lambda option: TimeChoice(option.label, option.help),
    "properties": lambda option: PropertyRows(option.label, option.help, ("private", "shared")),
    "preferences": lambda option: PropertyRows(option.label, option.help),
}
"""The control of each kind. All have `value`, which is None or empty while nothing is set, and `watch`."""
