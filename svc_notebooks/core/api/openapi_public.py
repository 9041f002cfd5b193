"""The doors of the service (doors.py) as paths of the OpenAPI document: token endpoints and pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from ..auth.oauth import GRANTS
from ..names import Names
from .json_schemas import BOOLEAN, INTEGER, STRING, STRINGS_LIST, Schema, answer, record, ref
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


class _Door(NamedTuple):
    """What a door takes, and by status what it answers: kinds of content with their schemas."""

    summary: str
    query: tuple[str, ...]
    form: tuple[str, ...]
    answers: Mapping[int, Mapping[str, Schema]]


_REFUSED: Final[Mapping[str, Schema]] = {_JSON: ref("OAuthError")}
_BAD: Final[Mapping[str, Schema]] = {_JSON: {"oneOf": [ref("OAuthError"), ref("Error")]}}
"""A bad request is refused by the door, or before it: a Host that is none, a fault that cannot be read."""

_ENVELOPE: Final[Mapping[str, Schema]] = {_JSON: ref("Error")}
_PAGE: Final[Mapping[str, Schema]] = {_HTML: STRING}
_EITHER: Final[Mapping[str, Schema]] = {**_ENVELOPE, **_PAGE}
_ASKED = (
    "response_type", "client_id", "redirect_uri", "scope", "state", "code_challenge", "code_challenge_method",
    "prompt", "login_hint",
)  # fmt: skip
_GRANT = (
    "grant_type", "code", "redirect_uri", "code_verifier", "client_id", "client_secret", "refresh_token", "scope",
    "assertion",
)  # fmt: skip

# fmt: off
_DOORS: Final[Mapping[str, _Door]] = {
    "oauth.token":     _Door("A token for a code, a refresh token or an assertion", (), _GRANT,
                             {200: {_JSON: ref("Token")}, 400: _BAD, 401: _REFUSED}),
    "oauth.tokeninfo": _Door("Whom a token is for, and for how long", ("access_token",), ("access_token",),
                             {200: {_JSON: ref("TokenInfo")}, 400: _BAD}),
    "oauth.revoke":    _Door("End a token, and all that came of the same consent", ("token",), ("token",),
                             {200: {_JSON: ref("Nothing")}, 400: _BAD}),
    "oauth.authorize": _Door("Ask the person in this browser for their consent", _ASKED, ("decision", "signature"),
                             {200: _PAGE, 302: {}, 400: {**_BAD, **_PAGE}, 401: _EITHER}),
    "oauth.metadata":  _Door("Where the token endpoints are (RFC 8414)", (), (),
                             {200: {_JSON: ref("AuthorizationServer")}}),
    "browser.signIn":  _Door("Say who is at this browser", ("continue",), ("token", "user"),
                             {200: _PAGE, 303: {}, 401: _PAGE}),
    "browser.signOut": _Door("Forget who is at this browser", (), (), {303: {}}),
    "files.page":      _Door("What a file's webViewLink opens", (), (),
                             {200: _PAGE, 401: _EITHER, 403: _EITHER, 404: _EITHER}),
    "files.content":   _Door("What a file's webContentLink opens", ("id", "export", "acknowledgeAbuse"), (),
                             {200: {_ANY: {}}, 206: {_ANY: {}}, 400: _EITHER, 401: _EITHER, 403: _EITHER, 404: _EITHER,
                              416: _EITHER}),
    "openapi.get":     _Door("This document", ("prettyPrint",), (), {200: {_JSON: ref("Document")}}),
    "events.page":     _Door("What an event's htmlLink opens", ("eid",), (), {200: _PAGE, 404: _ENVELOPE}),
}
# fmt: on
_MAY_FAIL = (400, 403, 411, 429, 500, 502, 503, 504)


def doors(names: Names) -> Iterator[tuple[str, str, Schema]]:
    """Path, method and operation of every door."""
    for number, door in enumerate(PUBLIC_ENDPOINTS):
        path = "/" + "/".join(door.path).replace(CALENDAR, names.calendar)
        for method in door.methods:
            if method != "HEAD":
                key = door.name if _is_first(number, method) else f"{door.name}.{number}.{method.lower()}"
                yield path, method.lower(), _described(door, method, key)


def _is_first(number: int, method: str) -> bool:
    door = PUBLIC_ENDPOINTS[number]
    return method == door.methods[0] and door.name not in (one.name for one in PUBLIC_ENDPOINTS[:number])


def _described(door: Operation, method: str, key: str) -> dict[str, Any]:
    said = _DOORS[door.name]
    found: dict[str, Any] = {"operationId": key, "summary": said.summary, "tags": [door.name.partition(".")[0]]}
    found["parameters"] = [*_places(door), *({"name": one, "in": "query", "schema": STRING} for one in said.query)]
    if method == "POST" and said.form:
        found["requestBody"] = {"content": {_FORM: {"schema": _form(said.form)}}}
    answers = {**dict.fromkeys(_MAY_FAIL, _ENVELOPE), **said.answers}
    found["responses"] = {str(status): answer(status, answers[status]) for status in sorted(answers)}
    return found


def _places(door: Operation) -> Iterator[Schema]:
    if FILE_ID in door.path:
        yield {"name": FILE_ID[1:-1], "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}


def _form(fields: tuple[str, ...]) -> Schema:
    grants = {"grant_type": {"type": "string", "enum": list(GRANTS)}} if "grant_type" in fields else {}
    return record({**dict.fromkeys(fields, STRING), **grants})
