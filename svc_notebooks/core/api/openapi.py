"""The interface as an OpenAPI 3.1 document, written from the tables: operations, parameters, fields, refusals.

    document(Names(), Policy(), "https://api.example")

A path of the document is a row of operations.py; one that takes content is there twice, under `/upload` as well
(U-01). The doors that ask for no token first are in openapi_public.py. HEAD is answered wherever GET is, without a
body, and is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from ..brand_names import Names
from ..errors.catalogue import CATALOGUE
from ..policy import Policy
from .json_schemas import RESOURCES, STRING, Schema, ref, response_schema
from .openapi_public import OAUTH, public_operations
from .operations import ALL_SCOPES, OPERATIONS, SESSION, Operation
from .parameters import COMMON, PARAMETERS, UPLOAD, Parameter

_JSON = "application/json"
_ANY = "*/*"
_BINARY: Final[Schema] = {}
_FAILURES = (429, 500, 502, 503, 504, 507)
_REFUSED = tuple(sorted({row.status for row in CATALOGUE.values()}))


class _OperationDoc(NamedTuple):
    """What an operation takes and gives, by the names of schemas, and its refusals beside those of every call."""

    summary: str
    body: str | None = None
    response: str | None = None
    statuses: tuple[int, ...] = ()


# fmt: off
_OPERATION_DOCS: Final[Mapping[str, _OperationDoc]] = {
    "files.create":       _OperationDoc("Create a file by its metadata alone", "FileToCreate", "File", (404, 409)),
    "files.update":       _OperationDoc("Change a file's metadata, or move it", "FileToUpdate", "File"),
    "files.get":          _OperationDoc("A file's metadata, or with alt=media its content", None, "File", (416,)),
    "files.generateIds":  _OperationDoc("Ids for files to come", None, "GeneratedIds"),
    "files.list":         _OperationDoc("The files that the caller sees", None, "FileList"),
    "files.emptyTrash":   _OperationDoc("Delete what is in the trash"),
    "files.delete":       _OperationDoc("Delete a file for good"),
    "files.export":       _OperationDoc("A native document in another format"),
    "files.copy":         _OperationDoc("Copy a file", "FileToCreate", "File", (409,)),
    "permissions.create": _OperationDoc("Share a file", "PermissionToCreate", "Permission"),
    "permissions.list":   _OperationDoc("Who may do what with a file", None, "PermissionList"),
    "permissions.get":    _OperationDoc("One permission", None, "Permission"),
    "permissions.update": _OperationDoc("Another role for somebody", "PermissionToUpdate", "Permission"),
    "permissions.delete": _OperationDoc("Take a role away"),
    "files.watch":        _OperationDoc("Open a channel on a file", "ChannelToOpen", "Channel"),
    "changes.getStartPageToken": _OperationDoc("The page token that stands for now", None, "StartPageToken"),
    "changes.list":       _OperationDoc("What has changed since a page token", None, "ChangeList"),
    "changes.watch":      _OperationDoc("Open a channel on the change log", "ChannelToOpen", "Channel"),
    "channels.stop":      _OperationDoc("Stop a channel", "ChannelToStop", None, (404,)),
    "about.get":          _OperationDoc("The caller, and what the service can do", None, "About"),
    "events.insert":      _OperationDoc("Create an event", "EventToWrite", "Event", (409,)),
    "events.import":      _OperationDoc("Take over an event from elsewhere", "EventToWrite", "Event", (409,)),
    "events.list":        _OperationDoc("The events of a calendar", None, "EventList", (410,)),
    "events.get":         _OperationDoc("One event", None, "Event"),
    "events.instances":   _OperationDoc("The instances of a recurring event", None, "EventList", (410,)),
    "events.patch":       _OperationDoc("Change some fields of an event", "EventToPatch", "Event", (409, 410, 412)),
    "events.update":      _OperationDoc("Change an event as a whole", "EventToWrite", "Event", (409, 410, 412)),
    "events.delete":      _OperationDoc("Cancel an event", None, None, (410, 412)),
    "events.move":        _OperationDoc("Move an event to another calendar", None, "Event", (409, 410)),
    "calendars.insert":   _OperationDoc("Create a calendar", "CalendarToWrite", "Calendar"),
    "calendars.get":      _OperationDoc("A calendar", None, "Calendar"),
    "calendars.patch":    _OperationDoc("Change some fields of a calendar", "CalendarToPatch", "Calendar"),
    "calendars.update":   _OperationDoc("Change a calendar as a whole", "CalendarToWrite", "Calendar"),
    "calendars.delete":   _OperationDoc("Delete a secondary calendar"),
    "calendars.clear":    _OperationDoc("Delete all events of a primary calendar"),
    "calendarList.list":  _OperationDoc("The caller's calendars", None, "CalendarList"),
    "calendarList.get":   _OperationDoc("One of the caller's calendars", None, "CalendarListEntry"),
    "acl.insert":         _OperationDoc("Share a calendar", "AclRuleToCreate", "AclRule"),
    "acl.list":           _OperationDoc("Who may do what with a calendar", None, "Acl"),
    "acl.get":            _OperationDoc("One rule of access", None, "AclRule"),
    "acl.patch":          _OperationDoc("Another role for somebody", "AclRuleToChange", "AclRule"),
    "acl.update":         _OperationDoc("Another role for somebody", "AclRuleToChange", "AclRule"),
    "acl.delete":         _OperationDoc("Take a role away"),
    "colors.get":         _OperationDoc("The colours of calendars and events", None, "Colors"),
}
# fmt: on


def document(names: Names, policy: Policy, base_url: str) -> dict[str, Any]:
    """The whole document, for a service at this address.

    >>> found = document(Names(), Policy(), "https://api.example")
    >>> found["openapi"], "308" in found["paths"]["/upload/storage/v3/files"]["put"]["responses"]
    ('3.1.0', True)
    """
    return {
        "openapi": "3.1.0",
        "info": {"title": "File storage and calendar events", "version": "v3"},
        "servers": [{"url": base_url}],
        "paths": _paths(names, policy),
        "components": {
            "schemas": {**RESOURCES, **OAUTH},
            "responses": {f"Refused{status}": _refusal(status) for status in _REFUSED},
            "securitySchemes": _security_schemes(policy, base_url),
        },
    }


def _paths(names: Names, policy: Policy) -> dict[str, Any]:
    paths: dict[str, dict[str, Any]] = {}
    for path, method, operation in _all_operations(names, policy):
        paths.setdefault(path, {})[method] = operation
    return paths


def _all_operations(names: Names, policy: Policy) -> Iterator[tuple[str, str, Schema]]:
    for operation in OPERATIONS:
        path = (names.calendar_path if operation.calendar else names.path)(*operation.path)
        for method in _methods(operation, policy):
            yield path, method.lower(), _operation(operation, method, policy)
            if operation.media:
                yield names.upload_path(*operation.path), method.lower(), _upload_operation(operation, method, policy)
    sessions = names.upload_path(*OPERATIONS[0].path)
    yield sessions, "put", _session_operation(policy)
    yield sessions, "delete", _cancel_operation(policy)
    yield from public_operations(names)


def _methods(operation: Operation, policy: Policy) -> list[str]:
    methods = policy.update_verbs if operation.name == "files.update" else operation.methods
    return [method for method in methods if method != "HEAD"]


def _operation(operation: Operation, method: str, policy: Policy) -> Schema:
    doc = _OPERATION_DOCS[operation.name]
    document = _common_members(
        operation, operation.name, method, doc.summary, _parameters(operation, doc, policy), policy
    )
    if doc.body:
        document["requestBody"] = {"required": True, "content": {_JSON: {"schema": ref(doc.body)}}}
    document["responses"] = _success_responses(operation, doc) | _refusal_refs(_statuses(operation, doc))
    return document


def _common_members(
    operation: Operation, key: str, method: str, summary: str, parameters: Iterable[Schema], policy: Policy
) -> dict[str, Any]:
    """What every operation begins with; one of two methods is named by its second."""
    return {
        "operationId": key if method == operation.methods[0] else f"{key}.{method.lower()}",
        "summary": summary,
        "tags": [operation.name.partition(".")[0]],
        "security": [
            {"oauth2": [f"{policy.auth_scope_base}/{scope}"]} for scope in sorted(operation.allowed_scopes(policy))
        ],
        "parameters": list(parameters),
    }


# -- what is asked ---------------------------------------------------------------------------------------------------


def _parameters(operation: Operation, doc: _OperationDoc, policy: Policy) -> Iterator[Schema]:
    yield from _path_parameters(operation)
    common = COMMON if doc.response else ()
    for parameter in (*PARAMETERS.get(operation.name, ()), *common):
        yield _parameter(parameter, policy, required=operation.name == "about.get" and parameter.name == "fields")


def _path_parameters(operation: Operation) -> Iterator[Schema]:
    for segment in operation.path:
        if segment.startswith("{"):
            yield {"name": segment[1:-1], "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}


def _parameter(parameter: Parameter, policy: Policy, *, required: bool = False) -> Schema:
    schema = _parameter_schema(parameter, policy)
    document: Schema = {"name": parameter.name, "in": parameter.location, "schema": schema}
    if parameter.repeated:
        document |= {"schema": {"type": "array", "items": schema}, "style": "form", "explode": True}
    if parameter.rule:
        document["description"] = parameter.rule
    return document | {"required": True} if required or parameter.required else document


def _parameter_schema(parameter: Parameter, policy: Policy) -> Schema:
    if parameter.type == "time":
        return {"type": "string", "format": "date-time"}
    schema: Schema = {"type": parameter.type}
    maximum = getattr(policy, parameter.maximum) if isinstance(parameter.maximum, str) else parameter.maximum
    bounds = {"enum": list(parameter.values) or None, "minimum": parameter.minimum, "maximum": maximum}
    return schema | {name: value for name, value in bounds.items() if value is not None}


# -- what is answered ------------------------------------------------------------------------------------------------


def _success_responses(operation: Operation, doc: _OperationDoc) -> dict[str, Any]:
    if operation.name == "files.get":
        return {"200": response_schema(200, {_JSON: ref("File"), _ANY: _BINARY}), "206": _partial_content()}
    if operation.name == "files.export":
        return {"200": response_schema(200, {_ANY: _BINARY})}
    return {"200": response_schema(200, {_JSON: ref(doc.response)})} if doc.response else {"204": response_schema(204)}


def _partial_content() -> Schema:
    return response_schema(206, {_ANY: _BINARY}) | {"headers": {"Content-Range": {"required": True, "schema": STRING}}}


def _statuses(operation: Operation, doc: _OperationDoc) -> set[int]:
    """The refusals that an operation can answer: everything can be asked wrongly, limited, or fail."""
    statuses = {400, 401, 403, *_FAILURES, *doc.statuses}
    statuses |= {404} if any(part.startswith("{") for part in operation.path) else set()
    return statuses | ({411, 413} if doc.body else set())


def _refusal_refs(statuses: Iterable[int]) -> dict[str, Any]:
    return {str(status): {"$ref": f"#/components/responses/Refused{status}"} for status in sorted(statuses)}


def _refusal(status: int) -> Schema:
    response = response_schema(status, {_JSON: ref("Error")})
    reasons = dict.fromkeys(row.reason for row in CATALOGUE.values() if row.status == status)
    response["description"] += f": {', '.join(reasons)}"
    if status == 401:
        response["headers"] = {"WWW-Authenticate": {"required": True, "schema": STRING}}
    return response


# -- content ---------------------------------------------------------------------------------------------------------


def _upload_operation(operation: Operation, method: str, policy: Policy) -> Schema:
    """An operation at its media URI: the content in one request, or the begin of a session (A1, A2, A3)."""
    doc = _OPERATION_DOCS[operation.name]
    parameters = [
        _parameter(parameter, policy) for parameter in (*UPLOAD, *PARAMETERS.get(operation.name, ()), *COMMON)
    ]
    document = _common_members(
        operation,
        f"{operation.name}.upload",
        method,
        f"{doc.summary}, with content",
        [*_path_parameters(operation), *parameters],
        policy,
    )
    document["requestBody"] = {
        "content": {
            _JSON: {"schema": ref(str(doc.body))},
            "multipart/related": {"schema": _BINARY},
            "application/octet-stream": {"schema": _BINARY},
        }
    }
    begun = response_schema(200, {_JSON: ref("File")}) | {"headers": {"Location": {"schema": STRING}}}
    begun["description"] = "OK: the file; or empty, and Location has the URI of the session (uploadType=resumable)"
    document["responses"] = {"200": begun} | _refusal_refs(_statuses(operation, doc))
    return document


def _session_operation(policy: Policy) -> Schema:
    """Content for a session; what the session itself answers is no JSON (A3)."""
    document = _common_members(
        SESSION, SESSION.name, "PUT", "Send content to a session, or ask how much is stored", (), policy
    )
    document["parameters"] = [_parameter(parameter, policy) for parameter in PARAMETERS[SESSION.name]]
    document["requestBody"] = {"content": {"application/octet-stream": {"schema": _BINARY}}}
    incomplete = response_schema(308) | {"headers": {"Range": {"schema": STRING}}}
    document["responses"] = {"200": response_schema(200, {_JSON: ref("File")}), "308": incomplete} | _session_refusals()
    return document


def _cancel_operation(policy: Policy) -> Schema:
    document = _common_members(SESSION, SESSION.name, "DELETE", "Cancel a session", (), policy)
    document["parameters"] = [
        _parameter(parameter, policy) for parameter in PARAMETERS[SESSION.name] if parameter.location == "query"
    ]
    document["responses"] = {
        "200": response_schema(200, {_JSON: ref("File")}),
        "499": response_schema(499),
    } | _session_refusals()
    return document


def _session_refusals() -> dict[str, Any]:
    """Refusals in the envelope, and those of the session protocol in plain text; without its id there is no session."""
    plain = {str(status): _refusal(status) for status in (400, 404, 503)}
    for response in plain.values():
        response["content"]["text/plain"] = {"schema": STRING}
    return _refusal_refs((401, 403, 405, 409, 411, 413, *_FAILURES)) | plain


# -- who asks --------------------------------------------------------------------------------------------------------


def _security_schemes(policy: Policy, base_url: str) -> dict[str, Any]:
    scopes = {f"{policy.auth_scope_base}/{scope}": scope for scope in ALL_SCOPES}
    flow = {"authorizationUrl": f"{base_url}/authorize", "tokenUrl": f"{base_url}/token", "scopes": scopes}
    return {"oauth2": {"type": "oauth2", "flows": {"authorizationCode": {**flow, "refreshUrl": flow["tokenUrl"]}}}}
