# ruff: noqa: E501  the operations are a table: a row is a line
"""The table of the service's operations, in the order of the interface.

The router, rate limits, OpenAPI document, fault plans and journal use this table. server/handlers.py has the
handlers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from ..http.messages import Query
from ..policy import Policy
from . import documented_parameters as query
from .documented_parameters import COMMON, Parameter, page

# The placeholder for a file id in a path.
FILE_ID = "{fileId}"

# The placeholder for a permission id in a path.
PERMISSION_ID = "{permissionId}"

REVISION_ID = "{revisionId}"
CALENDAR_ID = "{calendarId}"
EVENT_ID = "{eventId}"
RULE_ID = "{ruleId}"
SETTING = "{setting}"

WRITE = frozenset({"storage", "storage.appdata", "storage.file"})
UPDATE = WRITE | {"storage.metadata", "storage.scripts"}
READ = WRITE | {
    "storage.meet.readonly",
    "storage.metadata",
    "storage.metadata.readonly",
    "storage.photos.readonly",
    "storage.readonly",
}

# Scopes that allow access to metadata but not to content (T-03).
METADATA_ONLY = frozenset({"storage.metadata", "storage.metadata.readonly"})

# The scopes that allow a download of content. A token needs only one scope.
CONTENT = READ - METADATA_ONLY

# Decisions of docs/decisions.md.
CALENDARS_OF_OTHERS = "Shared calendars"
SHARING = "Sharing"

ABOUT = READ - {"storage.meet.readonly"}
SHARE = frozenset({"storage", "storage.file"})
SEE_PERMISSIONS = READ - {"storage.appdata"}
EXPORT = frozenset({"storage", "storage.file", "storage.meet.readonly", "storage.readonly"})

COPY = WRITE | {"storage.photos.readonly"}

# The scopes that allow the creation of an event (T-02). A token needs only one scope.
EVENTS_CREATE = frozenset({"calendar", "calendar.events"})

EVENTS_WRITE = EVENTS_CREATE | {"calendar.app.created", "calendar.events.owned"}

EVENTS_READ = EVENTS_WRITE | {"calendar.events.owned.readonly", "calendar.events.readonly", "calendar.readonly"}
CALENDARS_WRITE = frozenset({"calendar", "calendar.app.created", "calendar.calendars"})
CALENDARS_READ = CALENDARS_WRITE | {"calendar.calendars.readonly", "calendar.readonly"}
LIST_READ = frozenset(
    {"calendar", "calendar.app.created", "calendar.calendarlist", "calendar.calendarlist.readonly", "calendar.readonly"}
)
LIST_WRITE = frozenset({"calendar", "calendar.app.created", "calendar.calendarlist"})
FREE_BUSY = SETTINGS = frozenset({"calendar", "calendar.readonly"})
COLORS = LIST_READ | {"calendar.events.owned", "calendar.events.owned.readonly"}
ACL_WRITE = frozenset({"calendar", "calendar.acls"})
ACL_READ = ACL_WRITE | {"calendar.acls.readonly"}


# The published rate-limit costs in units of get, update, list and download requests.
GET_COST, UPDATE_COST, LIST_COST, DOWNLOAD_COST = 5, 50, 100, 200


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation with its path, scopes, rate-limit cost and OpenAPI description.

    `path` is relative to `/storage/v3` or `/calendar/v3` (brand_names.py). An operation that `accepts_content` also has
    a path below `/upload` (U-01). `scopes` are last segments, of which a token needs one. `body` and `response` are
    schema names, or None without JSON. `returns_content` is True if the operation can return a file's content. `errors`
    are additional error statuses. `decided_by` is the rule behind a successful response, unless the handler names
    another rule.
    `extension` is True for an operation that exists only with `Policy.extensions`.
    """

    name: str
    methods: tuple[str, ...]
    path: tuple[str, ...]
    scopes: frozenset[str] = frozenset()
    units: int = 1
    summary: str = ""
    body: str | None = None
    response: str | None = None
    errors: tuple[int, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    accepts_content: bool = False
    returns_content: bool = False
    calendar: bool = False
    decided_by: str = "Operations that the interface does not specify"
    extension: bool = False

    def is_offered(self, policy: Policy) -> bool:
        """Return True if a service with this policy has the operation."""
        return policy.extensions or not self.extension

    def methods_under(self, policy: Policy) -> tuple[str, ...]:
        """Return the methods of this operation. `update_verbs` has those of files.update."""
        return policy.update_verbs if self.name == "files.update" else self.methods

    def scopes_under(self, policy: Policy) -> frozenset[str]:
        """Return the scopes of which a token needs one for this operation. `event_scopes="family"` adds scopes."""
        widened = policy.event_scopes == "family" and self.scopes == EVENTS_CREATE
        return EVENTS_WRITE if widened else self.scopes

    def cost(self, counting: Literal["units", "requests"], *, media: bool = False) -> int:
        """Return the rate-limit cost in units, or 1 if `counting` is "requests". `media` is True for a download.

        >>> OPERATIONS[0].cost("units"), OPERATIONS[0].cost("requests")
        (50, 1)
        """
        if counting == "requests":
            return 1
        return DOWNLOAD_COST if media and not self.calendar else self.units


def _storage(
    name: str, methods: str, path: str, scopes: frozenset[str], units: int, summary: str, **others: Any
) -> Operation:
    return Operation(name, tuple(methods.split()), tuple(path.split("/")), scopes, units, summary, **others)


def _calendar(name: str, methods: str, path: str, scopes: frozenset[str], summary: str, **others: Any) -> Operation:
    return _storage(name, methods, path, scopes, 1, summary, calendar=True, **others)


# The fields of an operation that the interface does not name and that `Policy.extensions` switches off.
EXTENDED: Mapping[str, Any] = {"extension": True, "decided_by": "extensions"}

# fmt: off
OPERATIONS: tuple[Operation, ...] = (
    _storage("files.create", "POST", "files", WRITE, UPDATE_COST,
        "Create a file", body="FileToCreate", response="File", errors=(404, 409), accepts_content=True, decided_by="A4-01"),
    _storage("files.update", "PUT PATCH", "files/{fileId}", UPDATE, UPDATE_COST,
        "Change a file's metadata, or move it", body="FileToUpdate", response="File", parameters=query.MOVE_FILE, accepts_content=True, decided_by="U-05"),
    _storage("files.get", "GET HEAD", "files/{fileId}", READ, GET_COST,
        "Get the metadata of a file, or its content with alt=media", response="File", errors=(416,), parameters=query.FILE_CONTENT, returns_content=True),
    _storage("files.generateIds", "GET HEAD", "files/generateIds", WRITE, GET_COST,
        "Generate ids for new files", response="GeneratedIds", parameters=query.GENERATED_IDS, decided_by="L-01"),
    _storage("files.list", "GET HEAD", "files", READ, LIST_COST,
        "List or search the files that the caller can see", response="FileList", parameters=query.FILE_SEARCH),
    _storage("files.emptyTrash", "DELETE", "files/trash", frozenset({"storage"}), UPDATE_COST,
        "Permanently delete the files in the caller's trash"),
    _storage("files.delete", "DELETE", "files/{fileId}", WRITE, UPDATE_COST,
        "Permanently delete a file"),
    _storage("files.export", "GET HEAD", "files/{fileId}/export", EXPORT, DOWNLOAD_COST,
        "Export a native document in another format", parameters=(query.EXPORT_FORMAT,), returns_content=True, decided_by="A7-01"),
    _storage("files.copy", "POST", "files/{fileId}/copy", COPY, UPDATE_COST,
        "Copy a file", body="FileToCreate", response="File", errors=(409,)),
    _storage("permissions.create", "POST", "files/{fileId}/permissions", SHARE, UPDATE_COST,
        "Share a file", body="PermissionToCreate", response="Permission", decided_by=SHARING),
    _storage("permissions.list", "GET HEAD", "files/{fileId}/permissions", SEE_PERMISSIONS, LIST_COST,
        "List the permissions of a file", response="PermissionList", parameters=page(100), decided_by=SHARING),
    _storage("permissions.get", "GET HEAD", "files/{fileId}/permissions/{permissionId}", SEE_PERMISSIONS, GET_COST,
        "Get a permission of a file", response="Permission", decided_by=SHARING),
    _storage("permissions.update", "PATCH", "files/{fileId}/permissions/{permissionId}", SHARE, UPDATE_COST,
        "Change the role of a permission", body="PermissionToUpdate", response="Permission", decided_by=SHARING),
    _storage("permissions.delete", "DELETE", "files/{fileId}/permissions/{permissionId}", SHARE, UPDATE_COST,
        "Remove a permission", decided_by=SHARING),
    _storage("files.watch", "POST", "files/{fileId}/watch", READ, UPDATE_COST,
        "Open a notification channel for a file", body="ChannelToOpen", response="Channel", decided_by="A8-01"),
    _storage("changes.getStartPageToken", "GET HEAD", "changes/startPageToken", READ, GET_COST,
        "Get the page token for the current end of the change log", response="StartPageToken", decided_by="The change log"),
    _storage("changes.list", "GET HEAD", "changes", READ, LIST_COST,
        "List the changes since a page token", response="ChangeList", parameters=query.CHANGES, decided_by="The change log"),
    _storage("changes.watch", "POST", "changes/watch", READ, UPDATE_COST,
        "Open a notification channel for the change log", body="ChannelToOpen", response="Channel", parameters=(query.CHANGE_POSITION,), decided_by="A9-01"),
    _storage("channels.stop", "POST", "channels/stop", READ, UPDATE_COST,
        "Stop a notification channel", body="ChannelToStop", errors=(404,), decided_by="A10-01"),
    _storage("revisions.list", "GET HEAD", "files/{fileId}/revisions", CONTENT | METADATA_ONLY, LIST_COST,
        "List the revisions of a file: its current content only", response="RevisionList", parameters=page(1000), **EXTENDED),
    _storage("revisions.get", "GET HEAD", "files/{fileId}/revisions/{revisionId}", CONTENT | METADATA_ONLY, GET_COST,
        "Get the current revision of a file, or its content with alt=media", response="Revision", errors=(416,), parameters=query.FILE_CONTENT, returns_content=True, **EXTENDED),
    _storage("drives.list", "GET HEAD", "drives", READ, LIST_COST,
        "List the shared drives, of which there are none", response="DriveList", parameters=page(100), **EXTENDED),
    _storage("teamdrives.list", "GET HEAD", "teamdrives", READ, LIST_COST,
        "List the shared drives under their former name", response="TeamDriveList", parameters=page(100), **EXTENDED),
    _storage("about.get", "GET HEAD", "about", ABOUT, GET_COST,
        "Get the caller, their storage quota and the formats that the service converts", response="About", parameters=(query.ABOUT_FIELDS,)),
    _calendar("events.insert", "POST", "calendars/{calendarId}/events", EVENTS_CREATE,
        "Create an event", body="EventToWrite", response="Event", errors=(409,), parameters=query.WRITE_EVENT, decided_by="E-18"),
    _calendar("events.import", "POST", "calendars/{calendarId}/events/import", EVENTS_CREATE,
        "Import an event from another calendar program", body="EventToWrite", response="Event", errors=(409,), parameters=query.WRITE_EVENT),
    _calendar("events.quickAdd", "POST", "calendars/{calendarId}/events/quickAdd", EVENTS_CREATE,
        "Create an event from a line of English words", response="Event", parameters=query.QUICK_ADD, **EXTENDED),
    _calendar("events.watch", "POST", "calendars/{calendarId}/events/watch", EVENTS_READ,
        "Open a notification channel for the events of a calendar", body="ChannelToOpen", response="Channel", **EXTENDED),
    _calendar("events.list", "GET HEAD", "calendars/{calendarId}/events", EVENTS_READ,
        "List or search the events of a calendar", response="EventList", errors=(410,), parameters=query.EVENT_SEARCH),
    _calendar("events.get", "GET HEAD", "calendars/{calendarId}/events/{eventId}", EVENTS_READ,
        "Get an event", response="Event", parameters=query.READ_EVENT),
    _calendar("events.instances", "GET HEAD", "calendars/{calendarId}/events/{eventId}/instances", EVENTS_READ,
        "List the instances of a recurring event", response="EventList", errors=(410,), parameters=query.INSTANCES),
    _calendar("events.patch", "PATCH", "calendars/{calendarId}/events/{eventId}", EVENTS_WRITE,
        "Change some fields of an event", body="EventToPatch", response="Event", errors=(409, 410, 412), parameters=query.WRITE_EVENT),
    _calendar("events.update", "PUT", "calendars/{calendarId}/events/{eventId}", EVENTS_WRITE,
        "Replace an event", body="EventToWrite", response="Event", errors=(409, 410, 412), parameters=query.WRITE_EVENT),
    _calendar("events.delete", "DELETE", "calendars/{calendarId}/events/{eventId}", EVENTS_WRITE,
        "Cancel an event", errors=(410, 412), parameters=query.SEND_UPDATES),
    _calendar("events.move", "POST", "calendars/{calendarId}/events/{eventId}/move", EVENTS_WRITE,
        "Move an event to another calendar", response="Event", errors=(409, 410), parameters=query.MOVE_EVENT),
    _calendar("calendars.insert", "POST", "calendars", CALENDARS_WRITE,
        "Create a calendar", body="CalendarToWrite", response="Calendar"),
    _calendar("calendars.get", "GET HEAD", "calendars/{calendarId}", CALENDARS_READ,
        "Get a calendar", response="Calendar"),
    _calendar("calendars.patch", "PATCH", "calendars/{calendarId}", CALENDARS_WRITE,
        "Change some fields of a calendar", body="CalendarToPatch", response="Calendar"),
    _calendar("calendars.update", "PUT", "calendars/{calendarId}", CALENDARS_WRITE,
        "Replace the fields of a calendar", body="CalendarToWrite", response="Calendar"),
    _calendar("calendars.delete", "DELETE", "calendars/{calendarId}", CALENDARS_WRITE,
        "Delete a secondary calendar"),
    _calendar("calendars.clear", "POST", "calendars/{calendarId}/clear", CALENDARS_WRITE,
        "Delete all events of a primary calendar"),
    _calendar("calendarList.list", "GET HEAD", "users/me/calendarList", LIST_READ,
        "List the caller's calendars", response="CalendarList", errors=(410,), parameters=query.CALENDAR_SEARCH),
    _calendar("calendarList.get", "GET HEAD", "users/me/calendarList/{calendarId}", LIST_READ,
        "Get one of the caller's calendars", response="CalendarListEntry"),
    _calendar("calendarList.insert", "POST", "users/me/calendarList", LIST_WRITE - {"calendar.app.created"},
        "Add a calendar to the caller's list", body="CalendarListEntryToInsert", response="CalendarListEntry", errors=(404,), parameters=(query.RGB_COLORS,), **EXTENDED),
    _calendar("calendarList.patch", "PATCH", "users/me/calendarList/{calendarId}", LIST_WRITE,
        "Change some of the caller's settings of a calendar", body="CalendarListEntryToWrite", response="CalendarListEntry", parameters=(query.RGB_COLORS,), **EXTENDED),
    _calendar("calendarList.update", "PUT", "users/me/calendarList/{calendarId}", LIST_WRITE,
        "Replace the caller's settings of a calendar", body="CalendarListEntryToWrite", response="CalendarListEntry", parameters=(query.RGB_COLORS,), **EXTENDED),
    _calendar("calendarList.delete", "DELETE", "users/me/calendarList/{calendarId}", LIST_WRITE,
        "Remove a calendar from the caller's list", **EXTENDED),
    _calendar("calendarList.watch", "POST", "users/me/calendarList/watch", LIST_READ,
        "Open a notification channel for the caller's list of calendars", body="ChannelToOpen", response="Channel", **EXTENDED),
    _calendar("calendarChannels.stop", "POST", "channels/stop", EVENTS_READ | LIST_READ,
        "Stop a notification channel of a calendar or of a list of calendars", body="ChannelToStop", errors=(404,), **EXTENDED),
    _calendar("settings.list", "GET HEAD", "users/me/settings", SETTINGS,
        "List the caller's calendar settings", response="SettingList", errors=(410,), parameters=query.PAGE_OF_250, **EXTENDED),
    _calendar("settings.get", "GET HEAD", "users/me/settings/{setting}", SETTINGS,
        "Get one of the caller's calendar settings", response="Setting", **EXTENDED),
    _calendar("freebusy.query", "POST", "freeBusy", FREE_BUSY,
        "Get the busy periods of calendars", body="FreeBusyQuery", response="FreeBusy", **EXTENDED),
    _calendar("acl.insert", "POST", "calendars/{calendarId}/acl", ACL_WRITE,
        "Share a calendar", body="AclRuleToCreate", response="AclRule", decided_by=CALENDARS_OF_OTHERS),
    _calendar("acl.list", "GET HEAD", "calendars/{calendarId}/acl", ACL_READ,
        "List the access rules of a calendar", response="Acl", errors=(410,), parameters=query.ACCESS_RULES, decided_by=CALENDARS_OF_OTHERS),
    _calendar("acl.get", "GET HEAD", "calendars/{calendarId}/acl/{ruleId}", ACL_READ,
        "Get an access rule of a calendar", response="AclRule", decided_by=CALENDARS_OF_OTHERS),
    _calendar("acl.patch", "PATCH", "calendars/{calendarId}/acl/{ruleId}", ACL_WRITE,
        "Change the role of an access rule", body="AclRuleToChange", response="AclRule", decided_by=CALENDARS_OF_OTHERS),
    _calendar("acl.update", "PUT", "calendars/{calendarId}/acl/{ruleId}", ACL_WRITE,
        "Replace the role of an access rule", body="AclRuleToChange", response="AclRule", decided_by=CALENDARS_OF_OTHERS),
    _calendar("acl.delete", "DELETE", "calendars/{calendarId}/acl/{ruleId}", ACL_WRITE,
        "Remove an access rule", decided_by=CALENDARS_OF_OTHERS),
    _calendar("colors.get", "GET HEAD", "colors", COLORS,
        "Get the colours of calendars and events", response="Colors", decided_by="E-24"),
)
# fmt: on

# The operation of a request to a session URI. POST has the same effect as PUT, because some clients send POST.
SESSION = Operation(
    "upload.session",
    ("PUT", "POST", "DELETE"),
    (),
    UPDATE,
    UPDATE_COST,
    "Send a chunk of an upload, or query how many bytes are stored",
    parameters=query.UPLOAD_SESSION,
    decided_by="A3-14",
)

# The names of the query parameters that can be true or false.
BOOLEANS = frozenset(
    parameter.name
    for operation in OPERATIONS
    for parameter in (*COMMON, *operation.parameters)
    if parameter.type == "boolean" or "true" in parameter.values
)

_BOOLEAN = re.compile(r"(true|false)\Z", re.IGNORECASE)


@lru_cache(maxsize=32)  # the chunks of an upload have the same query
def query_parameters(text: str) -> Query:
    """Return the parameters in the query of a URL. true and false are in any case, because Python programs send True.

    >>> query_parameters("singleEvents=TRUE&q=True").pairs
    (('singleEvents', 'true'), ('q', 'True'))
    """
    pairs = Query.parse(text).pairs
    return Query(
        (name, value.lower() if name in BOOLEANS and _BOOLEAN.match(value) else value) for name, value in pairs
    )


# The last segments of all scopes that a token can have.
ALL_SCOPES = tuple(
    sorted(
        frozenset({"storage.apps.readonly"}).union(*(operation.scopes for operation in OPERATIONS)),
        key=lambda scope: (not scope.startswith("storage"), scope),
    )
)
