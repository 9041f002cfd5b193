"""The interface as an OpenAPI 3.1 document, written from the tables: operations, parameters, fields, refusals.

    document(Names(), Policy(), "https://api.example")

A path of the document is a row of operations.py; one that takes content is there twice, under `/upload` as well
(U-01). The doors that ask for no token first are in openapi_doors.py. HEAD is answered wherever GET is, without a
body, and is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from ..errors.catalogue import CATALOGUE
from ..names import Names
from ..policy import Policy
from .json_schemas import RESOURCES, STRING, Schema, answer, ref
from .openapi_public import OAUTH, doors
from .operations import ALL_SCOPES, OPERATIONS, SESSION, Operation
from .parameters import COMMON, PARAMETERS, UPLOAD, Parameter

_JSON = "application/json"
_ANY = "*/*"
_BINARY: Final[Schema] = {}
_FAILURES = (429, 500, 502, 503, 504, 507)
_REFUSED = tuple(sorted({row.status for row in CATALOGUE.values()}))


class _Call(NamedTuple):
    """What an operation takes and gives, by the names of schemas, and its refusals beside those of every call."""

    summary: str
    body: str | None = None
    answer: str | None = None
    also: tuple[int, ...] = ()


# fmt: off
_CALLS: Final[Mapping[str, _Call]] = {
    "files.create":       _Call("Create a file by its metadata alone", "FileToCreate", "File", (404, 409)),
    "files.update":       _Call("Change a file's metadata, or move it", "FileToUpdate", "File"),
    "files.get":          _Call("A file's metadata, or with alt=media its content", None, "File", (416,)),
    "files.generateIds":  _Call("Ids for files to come", None, "GeneratedIds"),
    "files.list":         _Call("The files that the caller sees", None, "FileList"),
    "files.emptyTrash":   _Call("Delete what is in the trash"),
    "files.delete":       _Call("Delete a file for good"),
    "files.export":       _Call("A native document in another format"),
    "files.copy":         _Call("Copy a file", "FileToCreate", "File", (409,)),
    "permissions.create": _Call("Share a file", "PermissionToCreate", "Permission"),
    "permissions.list":   _Call("Who may do what with a file", None, "PermissionList"),
    "permissions.get":    _Call("One permission", None, "Permission"),
    "permissions.update": _Call("Another role for somebody", "PermissionToUpdate", "Permission"),
    "permissions.delete": _Call("Take a role away"),
    "files.watch":        _Call("Open a channel on a file", "ChannelToOpen", "Channel"),
    "changes.getStartPageToken": _Call("The page token that stands for now", None, "StartPageToken"),
    "changes.list":       _Call("What has changed since a page token", None, "ChangeList"),
    "changes.watch":      _Call("Open a channel on the change log", "ChannelToOpen", "Channel"),
    "channels.stop":      _Call("Stop a channel", "ChannelToStop", None, (404,)),
    "about.get":          _Call("The caller, and what the service can do", None, "About"),
    "events.insert":      _Call("Create an event", "EventToWrite", "Event", (409,)),
    "events.import":      _Call("Take over an event from elsewhere", "EventToWrite", "Event", (409,)),
    "events.list":        _Call("The events of a calendar", None, "EventList", (410,)),
    "events.get":         _Call("One event", None, "Event"),
    "events.instances":   _Call("The instances of a recurring event", None, "EventList", (410,)),
    "events.patch":       _Call("Change some fields of an event", "EventToPatch", "Event", (409, 410, 412)),
    "events.update":      _Call("Change an event as a whole", "EventToWrite", "Event", (409, 410, 412)),
    "events.delete":      _Call("Cancel an event", None, None, (410, 412)),
    "events.move":        _Call("Move an event to another calendar", None, "Event", (409, 410)),
    "calendars.insert":   _Call("Create a calendar", "CalendarToWrite", "Calendar"),
    "calendars.get":      _Call("A calendar", None, "Calendar"),
    "calendars.patch":    _Call("Change some fields of a calendar", "CalendarToPatch", "Calendar"),
    "calendars.update":   _Call("Change a calendar as a whole", "CalendarToWrite", "Calendar"),
    "calendars.delete":   _Call("Delete a secondary calendar"),
    "calendars.clear":    _Call("Delete all events of a primary calendar"),
    "calendarList.list":  _Call("The caller's calendars", None, "CalendarList"),
    "calendarList.get":   _Call("One of the caller's calendars", None, "CalendarListEntry"),
    "acl.insert":         _Call("Share a calendar", "AclRuleToCreate", "AclRule"),
    "acl.list":           _Call("Who may do what with a calendar", None, "Acl"),
    "acl.get":            _Call("One rule of access", None, "AclRule"),
    "acl.patch":          _Call("Another role for somebody", "AclRuleToChange", "AclRule"),
    "acl.update":         _Call("Another role for somebody", "AclRuleToChange", "AclRule"),
    "acl.delete":         _Call("Take a role away"),
    "colors.get":         _Call("The colours of calendars and events", None, "Colors"),
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
    for path, method, found in _all(names, policy):
        paths.setdefault(path, {})[method] = found
    return paths


def _all(names: Names, policy: Policy) -> Iterator[tuple[str, str, Schema]]:
    for one in OPERATIONS:
        path = (names.calendar_path if one.calendar else names.path)(*one.path)
        for method in _methods(one, policy):
            yield path, method.lower(), _operation(one, method, policy)
            if one.media:
                yield names.upload_path(*one.path), method.lower(), _upload(one, method, policy)
    sessions = names.upload_path(*OPERATIONS[0].path)
    yield sessions, "put", _session(policy)
    yield sessions, "delete", _cancel(policy)
    yield from doors(names)


def _methods(one: Operation, policy: Policy) -> list[str]:
    methods = policy.update_verbs if one.name == "files.update" else one.methods
    return [method for method in methods if method != "HEAD"]


def _operation(one: Operation, method: str, policy: Policy) -> Schema:
    call = _CALLS[one.name]
    found = _head(one, one.name, method, call.summary, _parameters(one, call, policy), policy)
    if call.body:
        found["requestBody"] = {"required": True, "content": {_JSON: {"schema": ref(call.body)}}}
    found["responses"] = _success(one, call) | _refusals(_statuses(one, call))
    return found


def _head(
    one: Operation, key: str, method: str, summary: str, parameters: Iterable[Schema], policy: Policy
) -> dict[str, Any]:
    """What every operation begins with; one of two methods is named by its second."""
    return {
        "operationId": key if method == one.methods[0] else f"{key}.{method.lower()}",
        "summary": summary,
        "tags": [one.name.partition(".")[0]],
        "security": [{"oauth2": [f"{policy.auth_scope_base}/{scope}"]} for scope in sorted(one.allowed_scopes(policy))],
        "parameters": list(parameters),
    }


# -- what is asked ---------------------------------------------------------------------------------------------------


def _parameters(one: Operation, call: _Call, policy: Policy) -> Iterator[Schema]:
    yield from _places(one)
    common = COMMON if call.answer else ()
    for parameter in (*PARAMETERS.get(one.name, ()), *common):
        yield _parameter(parameter, policy, required=one.name == "about.get" and parameter.name == "fields")


def _places(one: Operation) -> Iterator[Schema]:
    for part in one.path:
        if part.startswith("{"):
            yield {"name": part[1:-1], "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}


def _parameter(parameter: Parameter, policy: Policy, *, required: bool = False) -> Schema:
    schema = _values(parameter, policy)
    found: Schema = {"name": parameter.name, "in": parameter.place, "schema": schema}
    if parameter.repeated:
        found |= {"schema": {"type": "array", "items": schema}, "style": "form", "explode": True}
    if parameter.rule:
        found["description"] = parameter.rule
    return found | {"required": True} if required or parameter.required else found


def _values(parameter: Parameter, policy: Policy) -> Schema:
    if parameter.type == "time":
        return {"type": "string", "format": "date-time"}
    found: Schema = {"type": parameter.type}
    high = getattr(policy, parameter.high) if isinstance(parameter.high, str) else parameter.high
    bounds = {"enum": list(parameter.values) or None, "minimum": parameter.low, "maximum": high}
    return found | {name: value for name, value in bounds.items() if value is not None}


# -- what is answered ------------------------------------------------------------------------------------------------


def _success(one: Operation, call: _Call) -> dict[str, Any]:
    if one.name == "files.get":
        return {"200": answer(200, {_JSON: ref("File"), _ANY: _BINARY}), "206": _part()}
    if one.name == "files.export":
        return {"200": answer(200, {_ANY: _BINARY})}
    return {"200": answer(200, {_JSON: ref(call.answer)})} if call.answer else {"204": answer(204)}


def _part() -> Schema:
    return answer(206, {_ANY: _BINARY}) | {"headers": {"Content-Range": {"required": True, "schema": STRING}}}


def _statuses(one: Operation, call: _Call) -> set[int]:
    """The refusals that an operation can answer: everything can be asked wrongly, limited, or fail."""
    found = {400, 401, 403, *_FAILURES, *call.also}
    found |= {404} if any(part.startswith("{") for part in one.path) else set()
    return found | ({411, 413} if call.body else set())


def _refusals(statuses: Iterable[int]) -> dict[str, Any]:
    return {str(status): {"$ref": f"#/components/responses/Refused{status}"} for status in sorted(statuses)}


def _refusal(status: int) -> Schema:
    found = answer(status, {_JSON: ref("Error")})
    reasons = dict.fromkeys(row.reason for row in CATALOGUE.values() if row.status == status)
    found["description"] += f": {', '.join(reasons)}"
    if status == 401:
        found["headers"] = {"WWW-Authenticate": {"required": True, "schema": STRING}}
    return found


# -- content ---------------------------------------------------------------------------------------------------------


def _upload(one: Operation, method: str, policy: Policy) -> Schema:
    """An operation at its media URI: the content in one request, or the begin of a session (A1, A2, A3)."""
    call = _CALLS[one.name]
    given = [_parameter(parameter, policy) for parameter in (*UPLOAD, *PARAMETERS.get(one.name, ()), *COMMON)]
    found = _head(one, f"{one.name}.upload", method, f"{call.summary}, with content", [*_places(one), *given], policy)
    found["requestBody"] = {
        "content": {
            _JSON: {"schema": ref(str(call.body))},
            "multipart/related": {"schema": _BINARY},
            "application/octet-stream": {"schema": _BINARY},
        }
    }
    begun = answer(200, {_JSON: ref("File")}) | {"headers": {"Location": {"schema": STRING}}}
    begun["description"] = "OK: the file; or empty, and Location has the URI of the session (uploadType=resumable)"
    found["responses"] = {"200": begun} | _refusals(_statuses(one, call))
    return found


def _session(policy: Policy) -> Schema:
    """Content for a session; what the session itself answers is no JSON (A3)."""
    found = _head(SESSION, SESSION.name, "PUT", "Send content to a session, or ask how much is stored", (), policy)
    found["parameters"] = [_parameter(parameter, policy) for parameter in PARAMETERS[SESSION.name]]
    found["requestBody"] = {"content": {"application/octet-stream": {"schema": _BINARY}}}
    incomplete = answer(308) | {"headers": {"Range": {"schema": STRING}}}
    found["responses"] = {"200": answer(200, {_JSON: ref("File")}), "308": incomplete} | _session_refusals()
    return found


def _cancel(policy: Policy) -> Schema:
    found = _head(SESSION, SESSION.name, "DELETE", "Cancel a session", (), policy)
    found["parameters"] = [_parameter(one, policy) for one in PARAMETERS[SESSION.name] if one.place == "query"]
    found["responses"] = {"200": answer(200, {_JSON: ref("File")}), "499": answer(499)} | _session_refusals()
    return found


def _session_refusals() -> dict[str, Any]:
    """Refusals in the envelope, and those of the session protocol in plain text; without its id there is no session."""
    plain = {str(status): _refusal(status) for status in (400, 404, 503)}
    for found in plain.values():
        found["content"]["text/plain"] = {"schema": STRING}
    return _refusals((401, 403, 405, 409, 411, 413, *_FAILURES)) | plain


# -- who asks --------------------------------------------------------------------------------------------------------


def _security_schemes(policy: Policy, base_url: str) -> dict[str, Any]:
    scopes = {f"{policy.auth_scope_base}/{scope}": scope for scope in ALL_SCOPES}
    flow = {"authorizationUrl": f"{base_url}/authorize", "tokenUrl": f"{base_url}/token", "scopes": scopes}
    return {"oauth2": {"type": "oauth2", "flows": {"authorizationCode": {**flow, "refreshUrl": flow["tokenUrl"]}}}}
