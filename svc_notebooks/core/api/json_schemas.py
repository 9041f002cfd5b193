"""The JSON Schemas of the resources and request bodies (2020-12, which OpenAPI 3.1 uses).

Response schemas require no field, because a `fields` mask may omit any field. Body schemas allow null for most fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

from ..events.calendars import ROLES as CALENDAR_ROLES
from ..events.colors import CALENDAR_COLORS
from ..events.field_table import EVENT_FIELDS, EventField
from ..files.fields import FILE_FIELDS, FileField, Write
from ..files.permissions import GRANTEES, ROLES
from ..http.messages import reason

Schema: TypeAlias = dict[str, Any]

STRING: Final[Schema] = {"type": "string"}
BOOLEAN: Final[Schema] = {"type": "boolean"}
INTEGER: Final[Schema] = {"type": "integer"}
TIME: Final[Schema] = {"type": "string", "format": "date-time"}
STRINGS: Final[Schema] = {"type": "object", "additionalProperties": STRING}
ANYTHING: Final[Schema] = {"type": "object", "additionalProperties": True}
STRINGS_LIST: Final[Schema] = {"type": "array", "items": STRING}


def ref(name: str) -> Schema:
    """Return a `$ref` object that refers to the named component schema of the OpenAPI document."""
    return {"$ref": f"#/components/schemas/{name}"}


def array(of: Schema) -> Schema:
    """Return the schema of a JSON array whose entries have the schema `of`."""
    return {"type": "array", "items": of}


def record(properties: Mapping[str, Schema], required: Iterable[str] = ()) -> Schema:
    """Return the schema of a JSON object with these properties and required property names."""
    required_names = list(required)
    return {
        "type": "object",
        "properties": dict(properties),
        **({"required": required_names} if required_names else {}),
    }


def response_schema(status: int, content: Mapping[str, Schema] | None = None) -> Schema:
    """Return an OpenAPI response object with the status's reason phrase and a schema per media type."""
    response: Schema = {"description": reason(status)}
    return (
        response | {"content": {media_type: {"schema": schema} for media_type, schema in content.items()}}
        if content
        else response
    )


def _enum(values: Iterable[str]) -> Schema:
    return {"type": "string", "enum": list(values)}


# -- files -----------------------------------------------------------------------------------------------------------

_FLAGS = frozenset({"me", "securityUpdateEligible", "securityUpdateEnabled"})
_NUMBERS = frozenset({"height", "rotation", "width"})
_FILE_TYPES: Mapping[str, Schema] = {
    "string": STRING,
    "boolean": BOOLEAN,
    "time": TIME,
    "media": {"type": "string", "pattern": "^[!-.0-:<-~]+/[!-.0-:<-~]+"},
    "colour": {"type": "string", "pattern": "^#[0-9A-Fa-f]{6}$"},
    "strings": {"type": "object", "additionalProperties": {"type": ["string", "null"]}},
    "list": STRINGS_LIST,
    "parents": {"type": "array", "items": STRING, "minItems": 1, "maxItems": 1},
}


def _file_field(field: FileField, *, writing: bool) -> Schema:
    if field.type in _FILE_TYPES:
        return _FILE_TYPES[field.type]
    if field.type == "target" and writing:
        return record({"targetId": STRING}, ["targetId"]) | {"additionalProperties": False}
    parts = record({name: _file_part(field, name) for name in field.parts})
    return array(parts) if field.type == "objects" else parts


def _file_part(field: FileField, name: str) -> Schema:
    if field.write is Write.ALWAYS:
        return {}  # the service stores the value without checks
    if name in _FLAGS or field.name == "capabilities":
        return BOOLEAN
    return INTEGER if name in _NUMBERS else STRING


def _file() -> Schema:
    return record({field.name: _file_field(field, writing=False) for field in FILE_FIELDS})


def _file_to(*when: Write) -> Schema:
    written = [field for field in FILE_FIELDS if field.write in when]
    return record({field.name: nullable(_file_field(field, writing=True)) for field in written}) | {
        "additionalProperties": False
    }


def nullable(schema: Schema) -> Schema:
    """Return a schema that also allows null, or the unchanged schema if it has neither an enum nor a single type."""
    if "enum" in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    return {**schema, "type": [schema["type"], "null"]} if isinstance(schema.get("type"), str) else schema


# -- events ----------------------------------------------------------------------------------------------------------

_PERSON = record({"displayName": STRING, "email": STRING, "id": STRING, "self": BOOLEAN})
_EVENT_TYPES: Mapping[str, Schema] = {
    "string": STRING,
    "boolean": BOOLEAN,
    "url": {"type": "string", "pattern": "^https?://"},
    "https": {"type": "string", "pattern": "^https://"},
    "link": {"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9+.-]*://"},
    "email": STRING,
    "id": {"type": "string", "pattern": "^[0-9a-v]{5,1024}$"},
    "date": {"type": "string", "format": "date"},
    "dateTime": {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}"},
    "timeZone": STRING,
    "map": STRINGS,
    "person": _PERSON,
}


def _event_field(field: EventField) -> Schema:
    if field.type == "integer":
        bounds = {"minimum": field.minimum, "maximum": field.maximum}
        return {"type": "integer", **{name: value for name, value in bounds.items() if value is not None}}
    if field.type == "enum":
        return _enum(field.values)
    return _EVENT_TYPES.get(field.type, {})


class _Tree:
    """Builds the schema of nested objects from field paths such as `start.date` and `attendees[].email`."""

    def __init__(self, fields: Iterable[EventField], *, writing: bool) -> None:
        self._fields = {field.path: field for field in fields}
        self._writing = writing

    def schema(self, path: str = "") -> Schema:
        head = f"{path}." if path else ""
        names = [field_path.removeprefix(head) for field_path in self._fields if field_path.startswith(head)]
        own = [name for name in names if not set(name) & {".", "["}]
        required = [name for name in own if self._writing and self._fields[head + name].required]
        return record({name: self._property(head + name) for name in own}, required)

    def _property(self, path: str) -> Schema:
        field = self._fields[path]
        schema = self._value(field)
        return nullable(schema) if self._writing and not field.required else schema

    def _value(self, field: EventField) -> Schema:
        entry = f"{field.path}[]"
        if field.type == "list" and entry in self._fields:
            return array(_event_field(self._fields[entry]))
        if field.type == "list":
            return array(self.schema(entry) if self._has(f"{entry}.") else {})
        if field.type == "id" and not self._writing:
            return STRING  # an instance's id is the event's id followed by the instance's start
        if field.type in ("object", "time"):
            return self.schema(field.path) if self._has(f"{field.path}.") else ANYTHING
        return _event_field(field)

    def _has(self, head: str) -> bool:
        return any(path.startswith(head) for path in self._fields)


_STATUS = EventField("conferenceData.createRequest.status", "object", writable=False)
_CODE = EventField("conferenceData.createRequest.status.statusCode", "string", writable=False)
_WRITABLE = tuple(field for field in EVENT_FIELDS if field.writable)


def _event_to_write(*, whole: bool) -> Schema:
    schema = _Tree(_WRITABLE, writing=True).schema()
    return schema if whole else {name: keyword for name, keyword in schema.items() if name != "required"}


# -- the small ones --------------------------------------------------------------------------------------------------

_TYPES: Mapping[str, Schema] = {
    "": STRING,
    "boolean": BOOLEAN,
    "integer": INTEGER,
    "time": TIME,
    "strings": STRINGS_LIST,
    "map": STRINGS,
    "lists": {"type": "object", "additionalProperties": STRINGS_LIST},
    "objects": array(ANYTHING),
    "object": ANYTHING,
}


def _resource(text: str, **others: Schema) -> Schema:
    """Return an object schema from a text of `name:type` pairs (default type string) and from `others`."""
    pairs = (field.partition(":") for field in text.split())
    return record({name: _TYPES[type_name] for name, _, type_name in pairs} | others)


_ROLE = _enum(ROLES)
_CALENDAR_ROLE = _enum(CALENDAR_ROLES)
_REMINDERS = array(_resource("method minutes:integer"))
_SCOPE = _resource("value", type=_enum(("default", "user", "group", "domain")))
_CALENDAR_TEXTS: Mapping[str, Schema] = {
    "summary": {"type": "string", "maxLength": 254},
    "description": {"type": ["string", "null"], "maxLength": 8192},
    "location": {"type": ["string", "null"], "maxLength": 1024},
    "timeZone": {"type": ["string", "null"]},
}
_USER: Schema = _resource("kind displayName me:boolean permissionId emailAddress photoLink")
_COLOR_MAP: Schema = {"type": "object", "additionalProperties": _resource("background foreground")}
_IMPORT_FORMATS: Schema = {"anyOf": [_TYPES["lists"], array(_resource("source targets:strings"))]}
"""The schema of `importFormats`, which is a map or an array depending on `Policy.import_formats`."""
_LIMITED: Schema = {"type": "string", "minLength": 1}
_ENTRY_SETTINGS: Mapping[str, Schema] = {
    "summaryOverride": {"type": ["string", "null"], "maxLength": 254},
    "colorId": nullable(_enum(CALENDAR_COLORS)),
    "backgroundColor": {"type": ["string", "null"], "pattern": "^#[0-9A-Fa-f]{6}$"},
    "foregroundColor": {"type": ["string", "null"], "pattern": "^#[0-9A-Fa-f]{6}$"},
    "hidden": nullable(BOOLEAN),
    "selected": nullable(BOOLEAN),
    "defaultReminders": nullable({**_REMINDERS, "maxItems": 5}),
    "notificationSettings": nullable(_resource("", notifications=array(_resource("type method")))),
}

RESOURCES: Final[Mapping[str, Schema]] = {
    "File": _file(),
    "FileToCreate": _file_to(Write.CREATE, Write.ALWAYS),
    "FileToUpdate": _file_to(Write.ALWAYS),
    "FileList": _resource("kind incompleteSearch:boolean nextPageToken", files=array(ref("File"))),
    "GeneratedIds": _resource("kind space ids:strings"),
    "Permission": _resource(
        "id kind emailAddress domain displayName photoLink view expirationTime:time allowFileDiscovery:boolean"
        " deleted:boolean pendingOwner:boolean inheritedPermissionsDisabled:boolean permissionDetails:objects"
        " teamDrivePermissionDetails:objects",
        type=_enum(GRANTEES),
        role=_ROLE,
    ),
    "PermissionToCreate": record(
        {"type": _enum(GRANTEES), "role": _ROLE, "emailAddress": STRING, "domain": STRING}, ["type", "role"]
    ),
    "PermissionToUpdate": record({"role": _ROLE}, ["role"]),
    "PermissionList": _resource("kind nextPageToken", permissions=array(ref("Permission"))),
    "Revision": _resource(
        "kind id mimeType size md5Checksum originalFilename version modifiedTime:time keepForever:boolean"
        " published:boolean",
        lastModifyingUser=_USER,
    ),
    "RevisionList": _resource("kind nextPageToken", revisions=array(ref("Revision"))),
    "DriveList": _resource("kind drives:objects"),
    "TeamDriveList": _resource("kind teamDrives:objects"),
    "Channel": _resource(
        "kind id resourceId resourceUri token type address payload:boolean params:map",
        expiration={"type": ["integer", "string"]},
    ),
    "ChannelToOpen": record(
        {
            "id": {"type": "string", "minLength": 1, "maxLength": 64},
            "type": _enum(("web_hook", "webhook")),
            "address": {"type": "string", "pattern": "^https://"},
            "token": {"type": ["string", "null"], "maxLength": 256},
            "expiration": {"type": ["integer", "string", "null"]},
            "payload": {"type": ["boolean", "null"]},
            "params": {"type": ["object", "null"], "additionalProperties": STRING},
        },
        ["id", "type", "address"],
    ),
    "ChannelToStop": record({"id": _LIMITED, "resourceId": _LIMITED}, ["id", "resourceId"]),
    "StartPageToken": _resource("kind startPageToken"),
    "Change": _resource(
        "kind changeType type time:time removed:boolean fileId driveId drive:object teamDriveId teamDrive:object",
        file=ref("File"),
    ),
    "ChangeList": _resource("kind nextPageToken newStartPageToken", changes=array(ref("Change"))),
    "About": _resource(
        "kind exportFormats:lists maxImportSizes:map maxUploadSize appInstalled:boolean"
        " folderColorPalette:strings canCreateDrives:boolean",
        user=_USER,
        storageQuota=_resource("limit usage usageInStorage usageInStorageTrash"),
        importFormats=_IMPORT_FORMATS,
    ),
    "Event": _Tree((*EVENT_FIELDS, _STATUS, _CODE), writing=False).schema(),
    "EventToWrite": _event_to_write(whole=True),
    "EventToPatch": _event_to_write(whole=False),
    "EventList": _resource(
        "kind etag summary description updated:time timeZone nextPageToken nextSyncToken",
        accessRole=_CALENDAR_ROLE,
        defaultReminders=_REMINDERS,
        items=array(ref("Event")),
    ),
    "Calendar": _resource("kind etag id summary description location timeZone dataOwner conferenceProperties:object"),
    "CalendarToWrite": record(_CALENDAR_TEXTS, ["summary"]),
    "CalendarToPatch": record(_CALENDAR_TEXTS),
    "CalendarListEntry": _resource(
        "kind etag id summary description location timeZone dataOwner conferenceProperties:object primary:boolean"
        " selected:boolean hidden:boolean deleted:boolean summaryOverride colorId backgroundColor foregroundColor"
        " notificationSettings:object",
        accessRole=_CALENDAR_ROLE,
        defaultReminders=_REMINDERS,
    ),
    "CalendarListEntryToWrite": record(_ENTRY_SETTINGS),
    "CalendarListEntryToInsert": record({"id": _LIMITED, **_ENTRY_SETTINGS}, ["id"]),
    "CalendarList": _resource("kind etag nextPageToken nextSyncToken", items=array(ref("CalendarListEntry"))),
    "Setting": _resource("kind id value"),
    "SettingList": _resource("kind etag nextPageToken nextSyncToken", items=array(ref("Setting"))),
    "FreeBusyQuery": record(
        {
            "timeMin": TIME,
            "timeMax": TIME,
            "timeZone": {"type": ["string", "null"]},
            "groupExpansionMax": {"type": ["integer", "null"], "minimum": 1, "maximum": 100},
            "calendarExpansionMax": {"type": ["integer", "null"], "minimum": 1, "maximum": 50},
            "items": array(record({"id": _LIMITED}, ["id"])),
        },
        ["timeMin", "timeMax"],
    ),
    "FreeBusy": _resource(
        "kind timeMin:time timeMax:time groups:object",
        calendars={
            "type": "object",
            "additionalProperties": record(
                {"busy": array(record({"start": TIME, "end": TIME})), "errors": array(_resource("domain reason"))}
            ),
        },
    ),
    "AclRule": _resource("kind etag id", role=_enum((*CALENDAR_ROLES, "none")), scope=_SCOPE),
    "AclRuleToCreate": record({"role": _CALENDAR_ROLE, "scope": {**_SCOPE, "required": ["type"]}}, ["role", "scope"]),
    "AclRuleToChange": record({"role": _CALENDAR_ROLE}, ["role"]),
    "Acl": _resource("kind etag nextPageToken nextSyncToken", items=array(ref("AclRule"))),
    "Colors": _resource("kind updated:time", calendar=_COLOR_MAP, event=_COLOR_MAP),
    "Error": record(
        {
            "error": record(
                {
                    "code": INTEGER,
                    "message": STRING,
                    "errors": {
                        **array(
                            record(
                                dict.fromkeys(("domain", "reason", "message", "locationType", "location"), STRING),
                                ["domain", "reason", "message"],
                            )
                        ),
                        "minItems": 1,
                    },
                },
                ["code", "message", "errors"],
            )
        },
        ["error"],
    ),
    "Token": record(
        {
            "access_token": STRING,
            "token_type": {"const": "Bearer"},
            "expires_in": INTEGER,
            "scope": STRING,
            "refresh_token": STRING,
            "id_token": STRING,
        },
        ["access_token", "token_type", "expires_in", "scope"],
    ),
    "TokenInfo": record(
        {
            **dict.fromkeys(("azp", "aud", "scope", "email"), STRING),
            "email_verified": BOOLEAN,
            "access_type": {"enum": ["offline", "online"]},
            "exp": INTEGER,
            "expires_in": INTEGER,
        },
        ["aud", "scope"],
    ),
    "UserInfo": record({**dict.fromkeys(("sub", "email", "name"), STRING), "email_verified": BOOLEAN}, ["sub"]),
    "KeySet": record({"keys": array(ANYTHING)}, ["keys"]),
    "AuthorizationServer": record(
        {
            **dict.fromkeys(
                (
                    "issuer",
                    "authorization_endpoint",
                    "token_endpoint",
                    "revocation_endpoint",
                    "userinfo_endpoint",
                    "jwks_uri",
                ),
                STRING,
            ),
            **dict.fromkeys(
                (
                    "scopes_supported",
                    "response_types_supported",
                    "grant_types_supported",
                    "token_endpoint_auth_methods_supported",
                    "code_challenge_methods_supported",
                    "subject_types_supported",
                    "id_token_signing_alg_values_supported",
                ),
                STRINGS_LIST,
            ),
        },
        ["issuer"],
    ),
    "OAuthError": record({"error": STRING, "error_description": STRING}, ["error", "error_description"]),
    "Nothing": {"type": "object", "maxProperties": 0},
    "Document": {"type": "object", "required": ["openapi", "paths"], "additionalProperties": True},
}
"""The component schemas of the OpenAPI document by name. "Error" is the body of every error response (X-01)."""
