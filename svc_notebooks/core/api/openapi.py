"""The interface as an OpenAPI 3.1 document, generated from the tables of operations, endpoints, schemas and errors.

An operation that receives content also has a path under `/upload` (U-01). The document omits HEAD.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from ..brand_names import Names
from ..errors.catalogue import CATALOGUE
from ..oauth import GRANTS
from ..policy import Policy
from .documented_parameters import COMMON, UPLOAD, Parameter
from .json_schemas import RESOURCES, STRING, TIME, Schema, array, record, ref, response_schema
from .operations import ALL_SCOPES, OPERATIONS, SESSION, Operation
from .public_endpoints import BATCHES, CALENDAR, PUBLIC_ENDPOINTS, STORAGE, PublicEndpoint

_JSON = "application/json"
_ANY = "*/*"
_BINARY: Final[Schema] = {}
_FAILURES = (429, 500, 502, 503, 504, 507)


def document(names: Names, policy: Policy, base_url: str) -> Schema:
    """Return the OpenAPI document of a service with these brand names, this policy and this base URL.

    >>> openapi = document(Names(), Policy(), "https://api.example")
    >>> openapi["openapi"], "308" in openapi["paths"]["/upload/storage/v3/files"]["put"]["responses"]
    ('3.1.0', True)
    """
    paths: dict[str, dict[str, Schema]] = {}
    for path, method, operation in [*_operations(names, policy), *_public_operations(names, policy)]:
        paths.setdefault(path, {})[method.lower()] = operation
    scopes = {f"{policy.auth_scope_base}/{names.scope(scope)}": scope for scope in ALL_SCOPES}
    flow = {"authorizationUrl": f"{base_url}/authorize", "tokenUrl": f"{base_url}/token", "scopes": scopes}
    oauth = {"type": "oauth2", "flows": {"authorizationCode": {**flow, "refreshUrl": f"{base_url}/token"}}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "File storage and calendar events", "version": "v3"},
        "servers": [{"url": base_url}],
        "paths": paths,
        "components": {
            "schemas": dict(RESOURCES),
            "responses": {
                f"Refused{status}": _error_response(status)
                for status in sorted({row.status for row in CATALOGUE.values()})
            },
            "securitySchemes": {"oauth2": oauth},
        },
    }


def _operations(names: Names, policy: Policy) -> Iterator[tuple[str, str, Schema]]:
    for operation in (operation for operation in OPERATIONS if operation.is_offered(policy)):
        path = (names.calendar_path if operation.calendar else names.path)(*operation.path)
        for method in operation.methods_under(policy):
            if method != "HEAD":
                yield path, method, _operation(operation, method, names, policy)
            if operation.accepts_content:
                yield names.upload_path(*operation.path), method, _upload_operation(operation, method, names, policy)
    sessions = names.upload_path(*OPERATIONS[0].path)
    send = _head(SESSION, "PUT", names, policy)
    send["requestBody"] = {"content": {"application/octet-stream": {"schema": _BINARY}}}
    complete = {"200": response_schema(200, {_JSON: ref("File")})}
    incomplete = response_schema(308) | {"headers": {"Range": {"schema": STRING}}}
    yield sessions, "PUT", send | {"responses": complete | {"308": incomplete} | _session_errors()}
    parameters = tuple(parameter for parameter in SESSION.parameters if parameter.location == "query")
    cancel = _head(replace(SESSION, summary="Cancel an upload", parameters=parameters), "DELETE", names, policy)
    yield sessions, "DELETE", cancel | {"responses": complete | {"499": response_schema(499)} | _session_errors()}


def _head(operation: Operation, method: str, names: Names, policy: Policy) -> Schema:
    """Return the first members of an operation description, such as operationId, summary and security."""
    parameters = [_parameter(parameter, policy) for parameter in operation.parameters]
    return {
        "operationId": operation.name + ("" if method == operation.methods[0] else f".{method.lower()}"),
        "summary": operation.summary,
        "tags": [operation.name.partition(".")[0]],
        "security": [
            {"oauth2": [f"{policy.auth_scope_base}/{names.scope(scope)}"]}
            for scope in sorted(operation.scopes_under(policy))
        ],
        "parameters": [*_path_parameters(operation), *parameters],
    }


def _operation(operation: Operation, method: str, names: Names, policy: Policy) -> Schema:
    own = {parameter.name for parameter in operation.parameters}
    common = [parameter for parameter in COMMON if operation.response and parameter.name not in own]
    document = _head(replace(operation, parameters=(*operation.parameters, *common)), method, names, policy)
    if operation.body:
        document["requestBody"] = {"required": True, "content": {_JSON: {"schema": ref(operation.body)}}}
    content: dict[str, Schema] = {_JSON: ref(operation.response)} if operation.response else {}
    if operation.returns_content:
        content[_ANY] = _BINARY
    responses = {"200": response_schema(200, content)} if content else {"204": response_schema(204)}
    if operation.returns_content and operation.response:
        headers = {"Content-Range": {"required": True, "schema": STRING}}
        responses["206"] = response_schema(206, {_ANY: _BINARY}) | {"headers": headers}
    document["responses"] = responses | _errors_of(operation)
    return document


def _upload_operation(operation: Operation, method: str, names: Names, policy: Policy) -> Schema:
    """Describe an operation at its upload URI, which receives content or starts an upload session (A1, A2, A3)."""
    name, summary = f"{operation.name}.upload", f"{operation.summary}, with content"
    parameters = (*UPLOAD, *operation.parameters, *COMMON)
    document = _head(replace(operation, name=name, summary=summary, parameters=parameters), method, names, policy)
    document["requestBody"] = {
        "content": {
            _JSON: {"schema": ref(str(operation.body))},
            "multipart/related": {"schema": _BINARY},
            "application/octet-stream": {"schema": _BINARY},
        }
    }
    success = response_schema(200, {_JSON: ref("File")}) | {"headers": {"Location": {"schema": STRING}}}
    success["description"] = (
        "OK: the file. With uploadType=resumable the body is empty, and Location has the session URI"
    )
    document["responses"] = {"200": success} | _errors_of(operation)
    return document


def _public_operations(names: Names, policy: Policy) -> Iterator[tuple[str, str, Schema]]:
    known: set[str] = set()
    for index, endpoint in enumerate(PUBLIC_ENDPOINTS):
        path = "/" + "/".join(endpoint.path_under(names))
        for method in endpoint.methods:
            if method != "HEAD" and endpoint.is_offered(policy):
                name = f"{endpoint.name}.{index}.{method.lower()}" if endpoint.name in known else endpoint.name
                known.add(endpoint.name)
                yield path, method, _public_operation(endpoint, method, name)


def _public_operation(endpoint: PublicEndpoint, method: str, name: str) -> Schema:
    document: Schema = {
        "operationId": name,
        "summary": endpoint.summary,
        "tags": [endpoint.name.partition(".")[0]],
        "parameters": [
            *_path_parameters(endpoint),
            *({"name": name, "in": "query", "schema": STRING} for name in endpoint.query),
        ],
    }
    if method == "POST" and endpoint.form:
        fields = dict.fromkeys(endpoint.form, STRING)
        if "grant_type" in fields:
            fields["grant_type"] = STRING | {"enum": list(GRANTS)}
        document["requestBody"] = {"content": {"application/x-www-form-urlencoded": {"schema": record(fields)}}}
    if endpoint.name in BATCHES:
        document["requestBody"] = {"required": True, "content": {"multipart/mixed": {"schema": STRING}}}
    error = {_JSON: ref("Error")}
    document["responses"] = {
        str(status): response_schema(status, endpoint.responses.get(status, error))
        for status in sorted({400, 403, 411, 429, 500, 502, 503, 504, *endpoint.responses})
    }
    return document


# -- parameters ------------------------------------------------------------------------------------------------------


def _path_parameters(operation: Operation) -> Iterator[Schema]:
    for segment in operation.path:
        if segment.startswith("{") and segment not in (CALENDAR, STORAGE):
            yield {"name": segment[1:-1], "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}


def _parameter(parameter: Parameter, policy: Policy) -> Schema:
    maximum = getattr(policy, parameter.maximum) if isinstance(parameter.maximum, str) else parameter.maximum
    limits = {"enum": list(parameter.values) or None, "minimum": parameter.minimum, "maximum": maximum}
    schema = TIME if parameter.type == "time" else {"type": parameter.type}
    schema = schema | {name: limit for name, limit in limits.items() if limit is not None}
    document: Schema = {"name": parameter.name, "in": parameter.location, "schema": schema}
    if parameter.repeated:
        document |= {"schema": array(schema), "style": "form", "explode": True}
    if parameter.rule:
        document["description"] = parameter.rule
    return document | {"required": True} if parameter.required else document


# -- errors ----------------------------------------------------------------------------------------------------------


def _errors_of(operation: Operation) -> dict[str, Schema]:
    statuses = {400, 401, 403, *_FAILURES, *operation.errors}
    statuses |= {404} if any(_path_parameters(operation)) else set()
    return _error_refs(statuses | ({411, 413} if operation.body else set()))


def _error_refs(statuses: Iterable[int]) -> dict[str, Schema]:
    return {str(status): {"$ref": f"#/components/responses/Refused{status}"} for status in sorted(statuses)}


def _error_response(status: int) -> Schema:
    response = response_schema(status, {_JSON: ref("Error")})
    reasons = dict.fromkeys(row.reason for row in CATALOGUE.values() if row.status == status)
    response["description"] += f": {', '.join(reasons)}"
    if status == 401:
        response["headers"] = {"WWW-Authenticate": {"required": True, "schema": STRING}}
    return response


def _session_errors() -> dict[str, Schema]:
    """Return the error responses of a session URI by status. Statuses 400, 404 and 503 also allow plain text (A3)."""
    plain = {str(status): _error_response(status) for status in (400, 404, 503)}
    for response in plain.values():
        response["content"]["text/plain"] = {"schema": STRING}
    return _error_refs((401, 403, 405, 409, 411, 413, *_FAILURES)) | plain
