"""The table of the File resource's fields by name, including fields that this service never fills, and their checks."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from .. import family_fields
from ..brand_names import Names
from ..clock import parse_time
from ..errors.catalogue import ApiError, Row, row
from ..family_fields import with_family_fields
from ..field_mask import ANY_KEY, Shape
from ..http.messages import JSON, JSONObject
from ..lone_surrogates import NO_TEXT, lone_surrogates
from ..policy import Policy


class Write(Enum):
    """The operations in which a client may set a field."""

    NEVER = "never"
    CREATE = "on create"
    ALWAYS = "on create and update"


@dataclass(frozen=True, slots=True)
class FileField:
    """A field of the File resource.

    `type` is a key of `TYPES`, and `parts` are the member names of an object. Only files with binary content have a
    `binary` field. The service keeps a client's value of a `stored` field. Before, the field has the value `default`,
    or is absent if None.
    """

    name: str
    type: str
    write: Write = Write.NEVER
    binary: bool = False
    parts: tuple[str, ...] = ()
    stored: bool = False
    default: bool | str | None = None


_USER = ("displayName", "emailAddress", "kind", "me", "permissionId", "photoLink")
_PERMISSION = ("displayName", "emailAddress", "id", "kind", "role", "type")
_RESTRICTION = (
    "ownerRestricted", "readOnly", "reason", "restrictingUser", "restrictionTime", "systemRestricted", "type",
)  # fmt: skip
CAPABILITIES = (
    "canAddChildren", "canChangeCopyRequiresWriterPermission", "canChangeViewersCanCopyContent", "canComment",
    "canCopy", "canDelete", "canDeleteChildren", "canDownload", "canEdit", "canListChildren", "canModifyContent",
    "canModifyContentRestriction", "canMoveItemWithinDrive", "canReadRevisions", "canRemoveChildren", "canRename",
    "canShare", "canTrash", "canTrashChildren", "canUntrash",
)  # fmt: skip
"""The actions that a file may allow the caller, depending on the caller's role."""

# fmt: off
FILE_FIELDS: tuple[FileField, ...] = (
    FileField("appProperties",                "strings", Write.ALWAYS),
    FileField("capabilities",                 "object",  parts=CAPABILITIES),
    FileField("clientEncryptionDetails",      "object",  parts=("decryptionMetadata", "encryptionState")),
    FileField("contentHints",                 "object",  Write.ALWAYS, parts=("indexableText", "thumbnail"), stored=True),
    FileField("contentRestrictions",          "objects", Write.ALWAYS, parts=_RESTRICTION, stored=True),
    FileField("copyRequiresWriterPermission", "boolean", Write.ALWAYS, stored=True, default=False),
    FileField("createdTime",                  "time",    Write.ALWAYS),
    FileField("description",                  "string",  Write.ALWAYS, stored=True),
    FileField("downloadRestrictions",         "object",  parts=("effectiveDownloadRestrictionWithContext", "itemDownloadRestriction")),
    FileField("driveId",                      "string"),
    FileField("explicitlyTrashed",            "boolean"),
    FileField("exportLinks",                  "strings"),
    FileField("fileExtension",                "string",  binary=True),
    FileField("folderColorRgb",               "colour",  Write.ALWAYS, stored=True),
    FileField("fullFileExtension",            "string",  binary=True),
    FileField("hasAugmentedPermissions",      "boolean"),
    FileField("hasThumbnail",                 "boolean"),
    FileField("headRevisionId",               "string",  binary=True),
    FileField("iconLink",                     "string"),
    FileField("id",                           "string",  Write.CREATE),
    FileField("imageMediaMetadata",           "object",  parts=("height", "rotation", "width")),
    FileField("inheritedPermissionsDisabled", "boolean"),
    FileField("isAppAuthorized",              "boolean"),
    FileField("kind",                         "string"),
    FileField("labelInfo",                    "object",  parts=("labels",)),
    FileField("lastModifyingUser",            "object",  parts=_USER),
    FileField("linkShareMetadata",            "object",  parts=("securityUpdateEligible", "securityUpdateEnabled")),
    FileField("md5Checksum",                  "string",  binary=True),
    FileField("mimeType",                     "media",   Write.ALWAYS),
    FileField("modifiedByMe",                 "boolean"),
    FileField("modifiedByMeTime",             "time"),
    FileField("modifiedTime",                 "time",    Write.ALWAYS),
    FileField("name",                         "string",  Write.ALWAYS),
    FileField("originalFilename",             "string",  Write.ALWAYS, binary=True, stored=True),
    FileField("ownedByMe",                    "boolean"),
    FileField("owners",                       "objects", parts=_USER),
    FileField("parents",                      "parents", Write.CREATE),
    FileField("permissionIds",                "list"),
    FileField("permissions",                  "objects", parts=_PERMISSION),
    FileField("properties",                   "strings", Write.ALWAYS),
    FileField("quotaBytesUsed",               "string"),
    FileField("resourceKey",                  "string"),
    FileField("sha1Checksum",                 "string",  binary=True),
    FileField("sha256Checksum",               "string",  binary=True),
    FileField("shared",                       "boolean"),
    FileField("sharedWithMeTime",             "time"),
    FileField("sharingUser",                  "object",  parts=_USER),
    FileField("shortcutDetails",              "target",  Write.CREATE, parts=("targetId", "targetMimeType", "targetResourceKey")),
    FileField("size",                         "string",  binary=True),
    FileField("spaces",                       "list"),
    FileField("starred",                      "boolean", Write.ALWAYS),
    FileField("teamDriveId",                  "string"),
    FileField("thumbnailLink",                "string"),
    FileField("thumbnailVersion",             "string"),
    FileField("trashed",                      "boolean", Write.ALWAYS),
    FileField("trashedTime",                  "time"),
    FileField("trashingUser",                 "object",  parts=_USER),
    FileField("version",                      "string"),
    FileField("videoMediaMetadata",           "object",  parts=("durationMillis", "height", "width")),
    FileField("viewedByMe",                   "boolean"),
    FileField("viewedByMeTime",               "time",    Write.ALWAYS),
    FileField("viewersCanCopyContent",        "boolean", Write.ALWAYS, stored=True, default=False),
    FileField("webContentLink",               "string",  binary=True),
    FileField("webViewLink",                  "string"),
    FileField("writersCanShare",              "boolean", Write.ALWAYS, stored=True, default=True),
)
# fmt: on

BY_NAME: Mapping[str, FileField] = {field.name: field for field in FILE_FIELDS}


FILE_SHAPE: Shape = with_family_fields(
    {field.name: ANY_KEY if field.type == "strings" else dict.fromkeys(field.parts) or None for field in FILE_FIELDS},
    family_fields.FILE,
)
LIST_SHAPE: Shape = {
    "kind": None, "incompleteSearch": None, "nextPageToken": None, "files": FILE_SHAPE,
}  # fmt: skip
IDS_SHAPE: Shape = {"kind": None, "space": None, "ids": None}


# The media type is sent as a header. A type of the family has a second slash: script+text/plain.
_MEDIA_TYPE = re.compile(r"[!-.0-:<-~]+/[!-.0-:<-~]+(?:\+text/plain)?(?:[ \t]*;[\t -~]*)?")
_MAX_MEDIA_TYPE = 1000
_COLOUR = re.compile(r"#[0-9A-Fa-f]{6}")


def is_media_type(text: str) -> bool:
    """Return whether a text has the syntax of a media type, with or without parameters."""
    return len(text) <= _MAX_MEDIA_TYPE and _MEDIA_TYPE.fullmatch(text) is not None


def _is_time(value: Any) -> bool:
    try:
        return isinstance(value, str) and bool(parse_time(value))
    except (ValueError, OverflowError):
        return False


TYPES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "string": (lambda value: isinstance(value, str), "expected a string."),
    "boolean": (lambda value: isinstance(value, bool), "expected true or false."),
    "time": (_is_time, "expected an RFC 3339 date-time like 2026-01-02T03:04:05Z."),
    "media": (lambda value: isinstance(value, str) and is_media_type(value), "expected a media type like text/csv."),
    "colour": (
        lambda value: isinstance(value, str) and _COLOUR.fullmatch(value) is not None,
        "expected a colour like #4986e7.",
    ),
    "object": (lambda value: isinstance(value, dict), "expected an object."),
    "objects": (
        lambda value: isinstance(value, list) and all(isinstance(entry, dict) for entry in value),
        "expected a list of objects.",
    ),
    "parents": (
        lambda value: isinstance(value, list) and len(value) == 1 and isinstance(value[0], str),
        "expected a list with the id of one folder.",
    ),
    "strings": (
        lambda value: isinstance(value, dict) and all(isinstance(text, str | None) for text in value.values()),
        "expected an object whose values are strings.",
    ),
    "target": (
        lambda value: isinstance(value, dict) and isinstance(value.get("targetId"), str) and len(value) == 1,
        "expected an object with targetId, the id of a file.",
    ),
}
"""Maps each field type to a function that checks a value, and to the message for an invalid value."""


def type_problem(field: FileField, value: JSON) -> str | None:
    """Return the error message for a value of the wrong type, or None if the type is right."""
    is_valid, message = TYPES[field.type]
    return None if is_valid(value) else message


def check_file(body: JSONObject, *, creating: bool, names: Names, policy: Policy) -> JSONObject:
    """Check that a client may write each field of a body, and return the body. Null is always valid.

    Raises ApiError with all problems, status 400 before 403.
    """
    allowed = (Write.CREATE, Write.ALWAYS) if creating else (Write.ALWAYS,)
    problems = [row for name, value in body.items() for row in _problems(name, value, allowed, policy)]
    if message := names.media_type_problem(str(body.get("mimeType"))):
        problems.append(row("invalid", field="mimeType", message=message))
    if problems:
        raise ApiError(sorted(problems, key=lambda problem: problem.status))
    return body


def _problems(name: str, value: JSON, allowed: tuple[Write, ...], policy: Policy) -> list[Row]:
    field, printable_name = BY_NAME.get(name), name[:100].encode("utf-8", "replace").decode()
    if field is None:
        return [row("unknownField", field=printable_name)]
    if field.write not in allowed:
        return [row("fieldNotWritable", field=printable_name)]
    if value is None:
        return []
    if message := type_problem(field, value) or (NO_TEXT if lone_surrogates(value) else None):
        return [row("invalid", field=name, message=message)]
    return [row("invalid", decided_by=rule, field=name, message=wrong) for rule, wrong in _size(field, value, policy)]


def _size(field: FileField, value: JSON, policy: Policy) -> list[tuple[str, str]]:
    """Return the exceeded policy limit and an error message in a list, which is empty if no limit is exceeded."""
    if field.type != "strings" or not isinstance(value, dict):
        return []
    if len(value) > policy.max_properties:
        return [("max_properties", f"expected at most {policy.max_properties} entries, not {len(value)}.")]
    for key, text in value.items():
        size = len(key.encode()) + len(str(text or "").encode())
        if size > policy.max_property_bytes:
            wrong = f"key and value of {key[:40]!r} have {size} bytes; the limit is {policy.max_property_bytes}."
            return [("max_property_bytes", wrong)]
    return []
