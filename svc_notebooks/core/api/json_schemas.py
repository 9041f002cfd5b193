"""The JSON Schemas of the resources and request bodies (2020-12, which OpenAPI 3.1 uses).

Response schemas require no field, because a `fields` mask may omit any field. Body schemas allow null for most fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import NoneType, UnionType
from typing import Any, Final, Required, TypeAlias, get_args, get_origin, is_typeddict

from ..events.fields import MAX_REMINDERS
from ..files.fields import FILE_FIELDS
from ..http.messages import reason
from ..resources import calendars, errors, files
from ..resources.calendars import CALENDAR_COLORS, Reminder
from ..resources.events import Event, EventList
from ..resources.field import Field, Write, hints, split

Schema: TypeAlias = dict[str, Any]

STRING: Final[Schema] = {"type": "string"}
BOOLEAN: Final[Schema] = {"type": "boolean"}
TIME: Final[Schema] = {"type": "string", "format": "date-time"}


def ref(name: str) -> Schema:
    """Return a `$ref` object that refers to the named component schema of the OpenAPI document."""
    return {"$ref": f"#/components/schemas/{name}"}


def array(of: Schema) -> Schema:
    """Return the schema of a JSON array whose entries have the schema `of`."""
    return {"type": "array", "items": of}


def record(properties: Mapping[str, Schema], required: Iterable[str] = ()) -> Schema:
    """Return the schema of a JSON object with these properties and required property names."""
    schema: Schema = {"type": "object", "properties": dict(properties)}
    return schema | {"required": names} if (names := list(required)) else schema


def response_schema(status: int, content: Mapping[str, Schema] | None = None) -> Schema:
    """Return an OpenAPI response object with the status's reason phrase and a schema per media type."""
    response: Schema = {"description": reason(status)}
    if content:
        response["content"] = {media_type: {"schema": schema} for media_type, schema in content.items()}
    return response


# The keywords of the schema of a field by the field's type.
_KEYWORDS: Final[Mapping[str, Schema]] = {
    "time": {"format": "date-time"},
    "date": {"format": "date"},
    "dateTime": {"pattern": r"^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}"},
    "media": {"pattern": "^[!-.0-:<-~]+/[!-.0-:<-~]+"},
    "colour": {"pattern": "^#[0-9A-Fa-f]{6}$"},
    "url": {"pattern": "^https?://"},
    "https": {"pattern": "^https://"},
    "link": {"pattern": "^[A-Za-z][A-Za-z0-9+.-]*://"},
    "parents": {"minItems": 1, "maxItems": 1},
}

# The keywords of an id in a request body. An instance's id is the event's id followed by the instance's start.
_ID: Final[Schema] = {"pattern": "^[0-9a-v]{5,1024}$"}

_SCALARS: Final[Mapping[Any, str]] = {str: "string", bool: "boolean", int: "integer", NoneType: "null"}


def nullable(schema: Schema) -> Schema:
    """Return a schema that also allows null, or the unchanged schema if it has neither an enum nor a single type."""
    if "enum" in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    return {**schema, "type": [schema["type"], "null"]} if isinstance(schema.get("type"), str) else schema


def _object(resource: Any, *, writing: bool = False, names: Iterable[str] | None = None) -> Schema:
    """Return the schema of a TypedDict, or of a body with its writable fields, or only those in `names`.

    In a body, the fields that are not required may be null.
    """
    properties: dict[str, Schema] = {}
    required = []
    for name, annotation in hints(resource).items():
        value, field = split(annotation)
        if writing and (not field.writable or (names is not None and name not in names)):
            continue
        schema = _field(value, field, writing=writing)
        is_required = field.required if writing else resource.__total__ or get_origin(annotation) is Required
        properties[name] = nullable(schema) if writing and not is_required else schema
        required += [name] if is_required else []
    return record(properties, required)


def _field(value: Any, field: Field, *, writing: bool) -> Schema:
    if len(field.values) == 1:
        return {"const": field.values[0]}
    schema = _value(value, field, writing=writing)
    if field.values:
        schema["enum"] = list(field.values)
    limits = {"minimum": field.minimum, "maximum": field.maximum}
    schema |= {name: limit for name, limit in limits.items() if limit is not None}
    if field.type == "id" and writing:
        schema |= _ID
    elif not is_typeddict(value):
        schema |= _KEYWORDS.get(field.type, {})
    return schema | dict(field.schema_keywords)


def _value(value: Any, field: Field, *, writing: bool) -> Schema:
    arguments = get_args(value)
    if is_typeddict(value) and field.stored:
        return record({name: {} for name in hints(value)})  # the service stores the value without checks
    if is_typeddict(value) and not writing and value in _RESPONSES:
        return ref(_name(value))
    if is_typeddict(value):
        schema = _object(value, writing=writing)
        return schema | {"additionalProperties": False} if field.type == "target" and writing else schema
    if get_origin(value) is list:
        return array(_value(arguments[0], field, writing=writing))
    if get_origin(value) is dict:
        values = True if arguments[1] is Any else _value(arguments[1], field, writing=writing)
        return {"type": "object", "additionalProperties": values}
    if get_origin(value) is UnionType:
        schemas = [_value(argument, field, writing=writing) for argument in arguments]
        scalars = [schema["type"] for schema in schemas if schema.keys() == {"type"}]
        if len(scalars) == len(schemas):
            return {"type": scalars}
        return nullable(schemas[0]) if NoneType in arguments else {"anyOf": schemas}
    return {} if value is Any else {"type": _SCALARS[value]}


def _without_required(schema: Schema) -> Schema:
    return {name: keyword for name, keyword in schema.items() if name != "required"}


def _file_to(*when: Write) -> Schema:
    names = [field.name for field in FILE_FIELDS if field.write in when]
    return _object(files.File, writing=True, names=names) | {"additionalProperties": False}


def _name(resource: Any) -> str:
    name: str = resource.__name__
    return _NAMES.get(name, name)


# The names of the schemas that differ from those of their types.
_NAMES = {"ChannelResource": "Channel", "ErrorResponse": "Error", "OAuthErrorResponse": "OAuthError"}

# The types that become schemas of their own. Other types are written where they are used.
_RESPONSES = (
    files.File, files.FileList, files.GeneratedIds, files.Permission, files.PermissionList, files.Revision,
    files.RevisionList, files.DriveList, files.TeamDriveList, files.ChannelResource, files.StartPageToken,
    files.Change, files.ChangeList, files.About, Event, EventList, calendars.Calendar, calendars.CalendarListEntry,
    calendars.CalendarList, calendars.Setting, calendars.SettingList, calendars.FreeBusy, calendars.AclRule,
    calendars.Acl, calendars.Colors, errors.ErrorResponse, errors.Token, errors.TokenInfo, errors.UserInfo,
    errors.KeySet, errors.AuthorizationServer, errors.OAuthErrorResponse,
)  # fmt: skip

_LIMITED: Schema = {"type": "string", "minLength": 1}
_ROLE = _field(*split(hints(files.Permission)["role"]), writing=True)
_ACCESS_ROLE = _field(*split(hints(calendars.CalendarListEntry)["accessRole"]), writing=True)
_ENTRY_SETTINGS: Mapping[str, Schema] = {
    "summaryOverride": {"type": ["string", "null"], "maxLength": 254},
    "colorId": nullable(STRING | {"enum": list(CALENDAR_COLORS)}),
    "backgroundColor": nullable(STRING | _KEYWORDS["colour"]),
    "foregroundColor": nullable(STRING | _KEYWORDS["colour"]),
    "hidden": nullable(BOOLEAN),
    "selected": nullable(BOOLEAN),
    "defaultReminders": nullable(array(_object(Reminder, writing=True)) | {"maxItems": MAX_REMINDERS}),
    "notificationSettings": nullable(record({"notifications": array(record({"type": STRING, "method": STRING}))})),
}
_BODIES: Mapping[str, Schema] = {
    "FileToCreate": _file_to(Write.CREATE, Write.ALWAYS),
    "FileToUpdate": _file_to(Write.ALWAYS),
    "PermissionToCreate": record(
        {"type": _field(*split(hints(files.Permission)["type"]), writing=True), "role": _ROLE}
        | {"emailAddress": STRING, "domain": STRING},
        ["type", "role"],
    ),
    "PermissionToUpdate": record({"role": _ROLE}, ["role"]),
    "ChannelToOpen": _object(files.ChannelToOpen, writing=True),
    "ChannelToStop": record({"id": _LIMITED, "resourceId": _LIMITED}, ["id", "resourceId"]),
    "EventToWrite": _object(Event, writing=True),
    "EventToPatch": _without_required(_object(Event, writing=True)),
    "CalendarToWrite": _object(calendars.CalendarToWrite, writing=True),
    "CalendarToPatch": _without_required(_object(calendars.CalendarToWrite, writing=True)),
    "CalendarListEntryToWrite": record(_ENTRY_SETTINGS),
    "CalendarListEntryToInsert": record({"id": _LIMITED, **_ENTRY_SETTINGS}, ["id"]),
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
    "AclRuleToCreate": record(
        {"role": _ACCESS_ROLE, "scope": {**_object(calendars.AclScope), "required": ["type"]}}, ["role", "scope"]
    ),
    "AclRuleToChange": record({"role": _ACCESS_ROLE}, ["role"]),
}

# The component schemas of the OpenAPI document by name. "Error" is the body of every error response (X-01).
RESOURCES: Final[Mapping[str, Schema]] = {
    **{_name(resource): _object(resource) for resource in _RESPONSES},
    **_BODIES,
    "Nothing": {"type": "object", "maxProperties": 0},
    "Document": {"type": "object", "required": ["openapi", "paths"], "additionalProperties": True},
}
