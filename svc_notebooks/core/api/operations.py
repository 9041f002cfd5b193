# ruff: noqa: E501  the operations are a table: a row is a line
"""The operations of the service, one row each, in the interface's order: method, path, scopes, what decides.

Names are those that the control interface and the journal use (`files.create`). A path is relative to
`/storage/v3` or `/calendar/v3`; where `media` is set the operation answers under `/upload` as well (U-01).
"""

from __future__ import annotations

from dataclasses import dataclass

from ..errors.decision_ids import CALENDARS_OF_OTHERS, CHANGE_LOG, FAMILY, SHARING
from ..policy import Policy

FILE_ID = "{fileId}"
"""The segment of a path template that stands for a file's id."""

PERMISSION_ID = "{permissionId}"
"""Likewise for a permission's."""

CALENDAR_ID = "{calendarId}"
EVENT_ID = "{eventId}"
RULE_ID = "{ruleId}"

WRITE = frozenset({"storage", "storage.appdata", "storage.file"})
UPDATE = WRITE | {"storage.metadata", "storage.scripts"}
READ = WRITE | {
    "storage.meet.readonly",
    "storage.metadata",
    "storage.metadata.readonly",
    "storage.photos.readonly",
    "storage.readonly",
}
METADATA_ONLY = frozenset({"storage.metadata", "storage.metadata.readonly"})
"""Scopes that read and write metadata and never content (T-03)."""

CONTENT = READ - METADATA_ONLY
"""Scopes of which one is needed to download content."""

ABOUT = READ - {"storage.meet.readonly"}
SHARE = frozenset({"storage", "storage.file"})
SEE_PERMISSIONS = READ - {"storage.appdata"}
EXPORT = frozenset({"storage", "storage.file", "storage.meet.readonly", "storage.readonly"})

COPY = WRITE | {"storage.photos.readonly"}

EVENTS_CREATE = frozenset({"calendar", "calendar.events"})
"""Scopes of which one is needed to create an event (T-02)."""

EVENTS_WRITE = EVENTS_CREATE | {"calendar.app.created", "calendar.events.owned"}

EVENTS_READ = EVENTS_WRITE | {"calendar.events.owned.readonly", "calendar.events.readonly", "calendar.readonly"}
CALENDARS_WRITE = frozenset({"calendar", "calendar.app.created", "calendar.calendars"})
CALENDARS_READ = CALENDARS_WRITE | {"calendar.calendars.readonly", "calendar.readonly"}
LIST_READ = frozenset(
    {"calendar", "calendar.app.created", "calendar.calendarlist", "calendar.calendarlist.readonly", "calendar.readonly"}
)
COLORS = LIST_READ | {"calendar.events.owned", "calendar.events.owned.readonly"}
ACL_WRITE = frozenset({"calendar", "calendar.acls"})
ACL_READ = ACL_WRITE | {"calendar.acls.readonly"}


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: the scopes are last segments, and one of them is enough.

    `decided_by` is what its success is decided by, where its handler does not say more.
    """

    name: str
    methods: tuple[str, ...]
    path: tuple[str, ...]
    scopes: frozenset[str]
    decided_by: str
    media: bool = False
    calendar: bool = False

    def allowed_scopes(self, policy: Policy) -> frozenset[str]:
        """The scopes of which one is enough under this policy: `event_scopes="family"` adds to those of creation."""
        widened = policy.event_scopes == "family" and self.scopes == EVENTS_CREATE
        return EVENTS_WRITE if widened else self.scopes


def _calendar(name: str, methods: str, path: str, scopes: frozenset[str], decided_by: str = FAMILY) -> Operation:
    return Operation(name, tuple(methods.split()), tuple(path.split("/")), scopes, decided_by, calendar=True)


# fmt: off
OPERATIONS: tuple[Operation, ...] = (
    Operation("files.create",      ("POST",),        ("files",),               WRITE, "A4-01",  media=True),
    Operation("files.update",      ("PUT", "PATCH"), ("files", FILE_ID),       UPDATE, "U-05", media=True),
    Operation("files.get",         ("GET", "HEAD"),  ("files", FILE_ID),       READ, FAMILY),
    Operation("files.generateIds", ("GET", "HEAD"),  ("files", "generateIds"), WRITE, "L-01"),
    Operation("files.list",        ("GET", "HEAD"),  ("files",),               READ, FAMILY),
    Operation("files.emptyTrash",  ("DELETE",),      ("files", "trash"),       frozenset({"storage"}), FAMILY),
    Operation("files.delete",      ("DELETE",),      ("files", FILE_ID),       WRITE, FAMILY),
    Operation("files.export",      ("GET", "HEAD"),  ("files", FILE_ID, "export"), EXPORT, "A7-01"),
    Operation("files.copy",        ("POST",),        ("files", FILE_ID, "copy"), COPY, FAMILY),
    Operation("permissions.create", ("POST",),       ("files", FILE_ID, "permissions"), SHARE, SHARING),
    Operation("permissions.list",  ("GET", "HEAD"),  ("files", FILE_ID, "permissions"), SEE_PERMISSIONS, SHARING),
    Operation("permissions.get",   ("GET", "HEAD"),  ("files", FILE_ID, "permissions", PERMISSION_ID), SEE_PERMISSIONS, SHARING),
    Operation("permissions.update", ("PATCH",),      ("files", FILE_ID, "permissions", PERMISSION_ID), SHARE, SHARING),
    Operation("permissions.delete", ("DELETE",),     ("files", FILE_ID, "permissions", PERMISSION_ID), SHARE, SHARING),
    Operation("files.watch",       ("POST",),        ("files", FILE_ID, "watch"), READ, "A8-01"),
    Operation("changes.getStartPageToken", ("GET", "HEAD"), ("changes", "startPageToken"), READ, CHANGE_LOG),
    Operation("changes.list",      ("GET", "HEAD"),  ("changes",),             READ, CHANGE_LOG),
    Operation("changes.watch",     ("POST",),        ("changes", "watch"),     READ, "A9-01"),
    Operation("channels.stop",     ("POST",),        ("channels", "stop"),     READ, "A10-01"),
    Operation("about.get",         ("GET", "HEAD"),  ("about",),               ABOUT, FAMILY),
    _calendar("events.insert",     "POST",     "calendars/{calendarId}/events",                     EVENTS_CREATE, "E-18"),
    _calendar("events.import",     "POST",     "calendars/{calendarId}/events/import",              EVENTS_CREATE),
    _calendar("events.list",       "GET HEAD", "calendars/{calendarId}/events",                     EVENTS_READ),
    _calendar("events.get",        "GET HEAD", "calendars/{calendarId}/events/{eventId}",           EVENTS_READ),
    _calendar("events.instances",  "GET HEAD", "calendars/{calendarId}/events/{eventId}/instances", EVENTS_READ),
    _calendar("events.patch",      "PATCH",    "calendars/{calendarId}/events/{eventId}",           EVENTS_WRITE),
    _calendar("events.update",     "PUT",      "calendars/{calendarId}/events/{eventId}",           EVENTS_WRITE),
    _calendar("events.delete",     "DELETE",   "calendars/{calendarId}/events/{eventId}",           EVENTS_WRITE),
    _calendar("events.move",       "POST",     "calendars/{calendarId}/events/{eventId}/move",      EVENTS_WRITE),
    _calendar("calendars.insert",  "POST",     "calendars",                                         CALENDARS_WRITE),
    _calendar("calendars.get",     "GET HEAD", "calendars/{calendarId}",                            CALENDARS_READ),
    _calendar("calendars.patch",   "PATCH",    "calendars/{calendarId}",                            CALENDARS_WRITE),
    _calendar("calendars.update",  "PUT",      "calendars/{calendarId}",                            CALENDARS_WRITE),
    _calendar("calendars.delete",  "DELETE",   "calendars/{calendarId}",                            CALENDARS_WRITE),
    _calendar("calendars.clear",   "POST",     "calendars/{calendarId}/clear",                      CALENDARS_WRITE),
    _calendar("calendarList.list", "GET HEAD", "users/me/calendarList",                             LIST_READ),
    _calendar("calendarList.get",  "GET HEAD", "users/me/calendarList/{calendarId}",                LIST_READ),
    _calendar("acl.insert",        "POST",     "calendars/{calendarId}/acl",                        ACL_WRITE, CALENDARS_OF_OTHERS),
    _calendar("acl.list",          "GET HEAD", "calendars/{calendarId}/acl",                        ACL_READ, CALENDARS_OF_OTHERS),
    _calendar("acl.get",           "GET HEAD", "calendars/{calendarId}/acl/{ruleId}",               ACL_READ, CALENDARS_OF_OTHERS),
    _calendar("acl.patch",         "PATCH",    "calendars/{calendarId}/acl/{ruleId}",               ACL_WRITE, CALENDARS_OF_OTHERS),
    _calendar("acl.update",        "PUT",      "calendars/{calendarId}/acl/{ruleId}",               ACL_WRITE, CALENDARS_OF_OTHERS),
    _calendar("acl.delete",        "DELETE",   "calendars/{calendarId}/acl/{ruleId}",               ACL_WRITE, CALENDARS_OF_OTHERS),
    _calendar("colors.get",        "GET HEAD", "colors",                                            COLORS, "E-24"),
)
# fmt: on

SESSION = Operation("upload.session", ("PUT", "POST", "DELETE"), (), UPDATE, "A3-14")
"""A request on a session URI; POST is taken as PUT, as some clients of the family send it."""

ALL_SCOPES = (
    "storage",
    "storage.appdata",
    "storage.apps.readonly",
    "storage.file",
    "storage.meet.readonly",
    "storage.metadata",
    "storage.metadata.readonly",
    "storage.photos.readonly",
    "storage.readonly",
    "storage.scripts",
    "calendar",
    "calendar.acls",
    "calendar.acls.readonly",
    "calendar.app.created",
    "calendar.calendarlist",
    "calendar.calendarlist.readonly",
    "calendar.calendars",
    "calendar.calendars.readonly",
    "calendar.events",
    "calendar.events.owned",
    "calendar.events.owned.readonly",
    "calendar.events.readonly",
    "calendar.readonly",
)
"""The last segments of every scope that a token can be given."""
