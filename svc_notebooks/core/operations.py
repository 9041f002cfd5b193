"""The operations of the service, one row each, in the interface's order: method, path, scopes.

Names are those that the control interface and the journal use (`files.create`). A path is relative to
`/storage/v3`; where `media` is set the operation answers under `/upload` as well (U-01).
"""

from __future__ import annotations

from dataclasses import dataclass

FILE_ID = "{fileId}"
"""The segment of a path template that stands for a file's id."""

PERMISSION_ID = "{permissionId}"
"""Likewise for a permission's."""

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


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: the scopes are last segments, and one of them is enough."""

    name: str
    methods: tuple[str, ...]
    path: tuple[str, ...]
    scopes: frozenset[str]
    media: bool = False


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
    "calendar.events",
)
"""The last segments of every scope that a token can be given."""
