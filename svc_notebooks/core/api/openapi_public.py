"""The doors of the service (public_endpoints.py) as paths of the OpenAPI document: token endpoints and pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from ..auth.oauth import GRANTS
from ..brand_names import Names
from .json_schemas import BOOLEAN, INTEGER, STRING, STRINGS_LIST, Schema, record, ref, response_schema
from .operations import FILE_ID, Operation
from .public_endpoints import CALENDAR, PUBLIC_ENDPOINTS

_FORM = "application/x-www-form-urlencoded"
_JSON = "application/json"
_HTML = "text/html"
_ANY = "*/*"

OAUTH: Final[Mapping[str, Schema]] = {
    "Token": record(
        {
            "access_token": STRING,
            "token_type": {"const": "Bearer"},
            "expires_in": INTEGER,
            "scope": STRING,
            "refresh_token": STRING,
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
    "AuthorizationServer": record(
        {
            **dict.fromkeys(("issuer", "authorization_endpoint", "token_endpoint", "revocation_endpoint"), STRING),
            **dict.fromkeys(
                (
                    "scopes_supported",
                    "response_types_supported",
                    "grant_types_supported",
                    "token_endpoint_auth_methods_supported",
                    "code_challenge_methods_supported",
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
"""Schemas of what the token endpoints answer."""


class _EndpointDoc(NamedTuple):
    """What a door takes, and by status what it answers: kinds of content with their schemas."""

    summary: str
    query: tuple[str, ...]
    form: tuple[str, ...]
    responses: Mapping[int, Mapping[str, Schema]]


_REFUSED: Final[Mapping[str, Schema]] = {_JSON: ref("OAuthError")}
_BAD_REQUEST: Final[Mapping[str, Schema]] = {_JSON: {"oneOf": [ref("OAuthError"), ref("Error")]}}
"""A bad request is refused by the door, or before it: a Host that is none, a fault that cannot be read."""

_ENVELOPE: Final[Mapping[str, Schema]] = {_JSON: ref("Error")}
_PAGE: Final[Mapping[str, Schema]] = {_HTML: STRING}
_ERROR: Final[Mapping[str, Schema]] = {**_ENVELOPE, **_PAGE}
_AUTHORIZE_QUERY = (
    "response_type", "client_id", "redirect_uri", "scope", "state", "code_challenge", "code_challenge_method",
    "prompt", "login_hint",
)  # fmt: skip
_TOKEN_FORM = (
    "grant_type", "code", "redirect_uri", "code_verifier", "client_id", "client_secret", "refresh_token", "scope",
    "assertion",
)  # fmt: skip

# fmt: off
_ENDPOINT_DOCS: Final[Mapping[str, _EndpointDoc]] = {
    "oauth.token":     _EndpointDoc("A token for a code, a refresh token or an assertion", (), _TOKEN_FORM,
                             {200: {_JSON: ref("Token")}, 400: _BAD_REQUEST, 401: _REFUSED}),
    "oauth.tokeninfo": _EndpointDoc("Whom a token is for, and for how long", ("access_token",), ("access_token",),
                             {200: {_JSON: ref("TokenInfo")}, 400: _BAD_REQUEST}),
    "oauth.revoke":    _EndpointDoc("End a token, and all that came of the same consent", ("token",), ("token",),
                             {200: {_JSON: ref("Nothing")}, 400: _BAD_REQUEST}),
    "oauth.authorize": _EndpointDoc("Ask the person in this browser for their consent", _AUTHORIZE_QUERY,
                             ("decision", "signature"),
                             {200: _PAGE, 302: {}, 400: {**_BAD_REQUEST, **_PAGE}, 401: _ERROR}),
    "oauth.metadata":  _EndpointDoc("Where the token endpoints are (RFC 8414)", (), (),
                             {200: {_JSON: ref("AuthorizationServer")}}),
    "browser.signIn":  _EndpointDoc("Say who is at this browser", ("continue",), ("token", "user"),
                             {200: _PAGE, 303: {}, 401: _PAGE}),
    "browser.signOut": _EndpointDoc("Forget who is at this browser", (), (), {303: {}}),
    "files.page":      _EndpointDoc("What a file's webViewLink opens", (), (),
                             {200: _PAGE, 401: _ERROR, 403: _ERROR, 404: _ERROR}),
    "files.content":   _EndpointDoc("What a file's webContentLink opens", ("id", "export", "acknowledgeAbuse"), (),
                             {200: {_ANY: {}}, 206: {_ANY: {}}, 400: _ERROR, 401: _ERROR, 403: _ERROR, 404: _ERROR,
                              416: _ERROR}),
    "openapi.get":     _EndpointDoc("This document", ("prettyPrint",), (), {200: {_JSON: ref("Document")}}),
    "events.page":     _EndpointDoc("What an event's htmlLink opens", ("eid",), (), {200: _PAGE, 404: _ENVELOPE}),
}
# fmt: on
_MAY_FAIL = (400, 403, 411, 429, 500, 502, 503, 504)


def public_operations(names: Names) -> Iterator[tuple[str, str, Schema]]:
    """Path, method and operation of every door."""
    for index, endpoint in enumerate(PUBLIC_ENDPOINTS):
        path = "/" + "/".join(endpoint.path).replace(CALENDAR, names.calendar)
        for method in endpoint.methods:
            if method != "HEAD":
                key = endpoint.name if _is_first(index, method) else f"{endpoint.name}.{index}.{method.lower()}"
                yield path, method.lower(), _operation(endpoint, method, key)


def _is_first(index: int, method: str) -> bool:
    endpoint = PUBLIC_ENDPOINTS[index]
    return method == endpoint.methods[0] and endpoint.name not in (earlier.name for earlier in PUBLIC_ENDPOINTS[:index])


def _operation(endpoint: Operation, method: str, key: str) -> dict[str, Any]:
    doc = _ENDPOINT_DOCS[endpoint.name]
    document: dict[str, Any] = {"operationId": key, "summary": doc.summary, "tags": [endpoint.name.partition(".")[0]]}
    document["parameters"] = [
        *_path_parameters(endpoint),
        *({"name": name, "in": "query", "schema": STRING} for name in doc.query),
    ]
    if method == "POST" and doc.form:
        document["requestBody"] = {"content": {_FORM: {"schema": _form(doc.form)}}}
    responses = {**dict.fromkeys(_MAY_FAIL, _ENVELOPE), **doc.responses}
    document["responses"] = {str(status): response_schema(status, responses[status]) for status in sorted(responses)}
    return document


def _path_parameters(endpoint: Operation) -> Iterator[Schema]:
    if FILE_ID in endpoint.path:
        yield {"name": FILE_ID[1:-1], "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}


def _form(fields: tuple[str, ...]) -> Schema:
    grants = {"grant_type": {"type": "string", "enum": list(GRANTS)}} if "grant_type" in fields else {}
    return record({**dict.fromkeys(fields, STRING), **grants})
