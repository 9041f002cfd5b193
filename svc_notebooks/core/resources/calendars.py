"""The TypedDicts of calendars, access rules, settings and free/busy times, and the colours of calendars and events."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Annotated, Final, Literal, NamedTuple, TypeAlias, TypedDict

from ..http.messages import JSONObject
from .field import TIME, Field

AccessRole: TypeAlias = Literal["freeBusyReader", "reader", "writer", "owner"]


class Calendar(TypedDict, total=False):
    """A calendar resource with its title, description and time zone."""

    kind: str
    etag: str
    id: str
    summary: str
    description: str
    location: str
    timeZone: str
    dataOwner: str
    conferenceProperties: JSONObject


class CalendarToWrite(TypedDict, total=False):
    """The fields of a calendar that a client may set. The value None clears a field."""

    summary: Annotated[str, Field(required=True, schema_keywords={"maxLength": 254})]
    description: Annotated[str | None, Field(schema_keywords={"maxLength": 8192})]
    location: Annotated[str | None, Field(schema_keywords={"maxLength": 1024})]
    timeZone: str | None
    conferenceProperties: JSONObject | None


class CalendarListEntry(Calendar, total=False):
    """A calendar in a user's calendar list, with the user's role and colours for the calendar."""

    accessRole: AccessRole
    defaultReminders: list[Reminder]
    primary: bool
    selected: bool
    hidden: bool
    deleted: bool
    summaryOverride: str
    colorId: str
    backgroundColor: str
    foregroundColor: str
    notificationSettings: JSONObject


class Page(TypedDict, total=False):
    """The fields of each page of a list, beside its `items`."""

    kind: str
    etag: str
    nextPageToken: str
    nextSyncToken: str


class CalendarList(Page, total=False):
    """A page of a user's calendar list."""

    items: list[CalendarListEntry]


class AclScope(TypedDict, total=False):
    """The user, group or domain to which an access rule applies. The type "default" means everyone."""

    type: Literal["default", "user", "group", "domain"]
    value: str


class AclRule(TypedDict, total=False):
    """An access rule, which gives a role for a calendar to a user, a group, a domain or everyone."""

    kind: str
    etag: str
    id: str
    scope: AclScope
    role: Literal["freeBusyReader", "reader", "writer", "owner", "none"]


class Acl(Page, total=False):
    """A page of the access rules of a calendar."""

    items: list[AclRule]


class ColorPair(TypedDict, total=False):
    """The background and foreground colour of a calendar or an event, as hex codes."""

    background: str
    foreground: str


class Colors(TypedDict, total=False):
    """The colours for calendars and for events, by colour id."""

    kind: str
    updated: Annotated[str, TIME]
    calendar: dict[str, ColorPair]
    event: dict[str, ColorPair]


class BusyPeriod(TypedDict, total=False):
    """A period in which the owner of a calendar is busy, in RFC 3339."""

    start: Annotated[str, TIME]
    end: Annotated[str, TIME]


class FreeBusyError(TypedDict, total=False):
    """The reason why a free/busy query has no periods for a calendar."""

    domain: str
    reason: str


class BusyCalendar(TypedDict, total=False):
    """The busy periods of one calendar, in order and without overlaps, or errors."""

    busy: list[BusyPeriod]
    errors: list[FreeBusyError]


class FreeBusy(TypedDict, total=False):
    """The response to a free/busy query, with the calendars by id."""

    kind: str
    timeMin: Annotated[str, TIME]
    timeMax: Annotated[str, TIME]
    groups: JSONObject
    calendars: dict[str, BusyCalendar]


class Setting(TypedDict, total=False):
    """A setting of a user's calendars. The value is always a text."""

    kind: str
    id: str
    value: str


class SettingList(Page, total=False):
    """The settings of a user's calendars."""

    items: list[Setting]


class Color(NamedTuple):
    """A background and a foreground colour as hex codes. `name` is "" if the colour has no name."""

    background: str
    foreground: str
    name: str = ""


_TABLES = json.loads((files(__package__) / "colors.json").read_text("utf-8"))

EVENT_COLORS: Mapping[str, Color] = {key: Color(**fields) for key, fields in _TABLES["event"].items()}
CALENDAR_COLORS: Mapping[str, Color] = {key: Color(**fields) for key, fields in _TABLES["calendar"].items()}


def nearest_color(code: str, colors: Mapping[str, Color]) -> str:
    """Return the id of the colour whose background is nearest to a hex code.

    >>> nearest_color("#d06b65", CALENDAR_COLORS)
    '2'
    """
    channels = bytes.fromhex(code.removeprefix("#"))

    def distance(key: str) -> int:
        others = bytes.fromhex(colors[key].background[1:])
        return sum((own - other) ** 2 for own, other in zip(channels, others, strict=True))

    return min(colors, key=distance)


MAX_REMINDER_MINUTES: Final = 40_320


class Reminder(TypedDict, total=False):
    """A reminder, with its method (email or popup) and the number of minutes before the start."""

    method: Annotated[Literal["email", "popup"], Field(required=True)]
    minutes: Annotated[
        int, Field(note="0 to 40320 minutes before the start", required=True, minimum=0, maximum=MAX_REMINDER_MINUTES)
    ]
