"""The resources of the calendar interface about calendars, their access rules and colours."""

from __future__ import annotations

from typing import TypedDict

from ..http.messages import JSONObject
from .events import Reminder


class Calendar(TypedDict, total=False):
    """A calendar."""

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
    """The fields of a calendar that a client may set. None clears one."""

    summary: str
    description: str | None
    location: str | None
    timeZone: str | None


class CalendarListEntry(Calendar, total=False):
    """A calendar in a user's list, with the user's role and colours."""

    accessRole: str
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


class CalendarList(TypedDict, total=False):
    """A page of a user's calendars."""

    kind: str
    etag: str
    nextPageToken: str
    items: list[CalendarListEntry]


class AclScope(TypedDict, total=False):
    """The user, group or domain that an access rule applies to."""

    type: str
    value: str


class AclRule(TypedDict, total=False):
    """An access rule of a calendar."""

    kind: str
    etag: str
    id: str
    scope: AclScope
    role: str


class Acl(TypedDict, total=False):
    """A page of a calendar's access rules."""

    kind: str
    etag: str
    nextPageToken: str
    items: list[AclRule]


class ColorPair(TypedDict):
    """The colours of a calendar or event."""

    background: str
    foreground: str


class Colors(TypedDict, total=False):
    """The colours that calendars and events can have, by id."""

    kind: str
    updated: str
    calendar: dict[str, ColorPair]
    event: dict[str, ColorPair]
