"""The operations of the service, one row each, in the interface's order: method, path, scopes.

Names are those that the control interface and the journal use (`files.create`). A path is relative to
`/storage/v3` or `/calendar/v3`; where `media` is set the operation answers under `/upload` as well (U-01).
"""

from __future__ import annotations

from dataclasses import dataclass

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

EVENTS_WRITE = frozenset({"calendar", "calendar.app.created", "calendar.events", "calendar.events.owned"})
"""Scopes of which one is needed to create an event (T-02); the interface names two of them."""

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
    """One operation: the scopes are last segments, and one of them is enough."""

    name: str
    methods: tuple[str, ...]
    path: tuple[str, ...]
    scopes: frozenset[str]
    media: bool = False
    calendar: bool = False


def _calendar(name: str, methods: str, path: str, scopes: frozenset[str]) -> Operation:
    return Operation(name, tuple(methods.split()), tuple(path.split("/")), scopes, calendar=True)


# fmt: off
OPERATIONS: tuple[Operation, ...] = (
    Operation("files.create",      ("POST",),        ("files",),               WRITE,  media=True),
    Operation("files.update",      ("PUT", "PATCH"), ("files", FILE_ID),       UPDATE, media=True),
    Operation("files.get",         ("GET", "HEAD"),  ("files", FILE_ID),       READ),
    Operation("files.generateIds", ("GET", "HEAD"),  ("files", "generateIds"), WRITE),
    Operation("files.list",        ("GET", "HEAD"),  ("files",),               READ),
    Operation("files.emptyTrash",  ("DELETE",),      ("files", "trash"),       frozenset({"storage"})),
    Operation("files.delete",      ("DELETE",),      ("files", FILE_ID),       WRITE),
    Operation("files.export",      ("GET", "HEAD"),  ("files", FILE_ID, "export"), EXPORT),
    Operation("files.copy",        ("POST",),        ("files", FILE_ID, "copy"), COPY),
    Operation("permissions.create", ("POST",),       ("files", FILE_ID, "permissions"), SHARE),
    Operation("permissions.list",  ("GET", "HEAD"),  ("files", FILE_ID, "permissions"), SEE_PERMISSIONS),
    Operation("permissions.get",   ("GET", "HEAD"),  ("files", FILE_ID, "permissions", PERMISSION_ID), SEE_PERMISSIONS),
    Operation("permissions.update", ("PATCH",),      ("files", FILE_ID, "permissions", PERMISSION_ID), SHARE),
    Operation("permissions.delete", ("DELETE",),     ("files", FILE_ID, "permissions", PERMISSION_ID), SHARE),
    Operation("files.watch",       ("POST",),        ("files", FILE_ID, "watch"), READ),
    Operation("changes.getStartPageToken", ("GET", "HEAD"), ("changes", "startPageToken"), READ),
    Operation("changes.list",      ("GET", "HEAD"),  ("changes",),             READ),
    Operation("changes.watch",     ("POST",),        ("changes", "watch"),     READ),
    Operation("channels.stop",     ("POST",),        ("channels", "stop"),     READ),
    Operation("about.get",         ("GET", "HEAD"),  ("about",),               ABOUT),
    _calendar("events.insert",     "POST",     "calendars/{calendarId}/events",                     EVENTS_WRITE),
    _calendar("events.import",     "POST",     "calendars/{calendarId}/events/import",              EVENTS_WRITE),
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
    _calendar("acl.insert",        "POST",     "calendars/{calendarId}/acl",                        ACL_WRITE),
    _calendar("acl.list",          "GET HEAD", "calendars/{calendarId}/acl",                        ACL_READ),
    _calendar("acl.get",           "GET HEAD", "calendars/{calendarId}/acl/{ruleId}",               ACL_READ),
    _calendar("acl.patch",         "PATCH",    "calendars/{calendarId}/acl/{ruleId}",               ACL_WRITE),
    _calendar("acl.update",        "PUT",      "calendars/{calendarId}/acl/{ruleId}",               ACL_WRITE),
    _calendar("acl.delete",        "DELETE",   "calendars/{calendarId}/acl/{ruleId}",               ACL_WRITE),
    _calendar("colors.get",        "GET HEAD", "colors",                                            COLORS),
)
# fmt: on

SESSION = Operation("upload.session", ("PUT", "POST", "DELETE"), (), UPDATE)
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
