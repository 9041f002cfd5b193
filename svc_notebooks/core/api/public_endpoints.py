"""The table of the token endpoints and browser pages, which need no access token. Paths begin at the root."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from ..errors.decision_ids import TOKENS
from .json_schemas import STRING, Schema, ref
from .operations import FILE_ID, Operation

CALENDAR = "{calendar}"
"""The placeholder for the calendar's brand name in a path (core/brand_names.py)."""

Responses = Mapping[int, Mapping[str, Schema]]
"""The possible responses of an endpoint as a map from status to the schema per media type."""


@dataclass(frozen=True, slots=True)
class PublicEndpoint(Operation):
    """An endpoint that needs no access token. `query` and `form` are the names of its query and form parameters."""

    query: tuple[str, ...] = ()
    form: tuple[str, ...] = ()
    responses: Responses = field(default_factory=dict, hash=False)


def _endpoint(
    name: str,
    methods: str,
    path: str,
    decided_by: str,
    summary: str,
    responses: Responses,
    *,
    query: str = "",
    form: str = "",
) -> PublicEndpoint:
    return PublicEndpoint(
        name,
        tuple(methods.split()),
        tuple(path.split("/")),
        summary=summary,
        decided_by=decided_by,
        query=tuple(query.split()),
        form=tuple(form.split()),
        responses=responses,
    )


def _json(name: str) -> Mapping[str, Schema]:
    return {"application/json": ref(name)}


_PAGE: Final[Mapping[str, Schema]] = {"text/html": STRING}
_BAD_REQUEST: Final[Mapping[str, Schema]] = {"application/json": {"oneOf": [ref("OAuthError"), ref("Error")]}}
"""An OAuth error, or an error that occurs before the endpoint is called, such as an invalid Host header."""

_ERROR: Final[Mapping[str, Schema]] = {**_json("Error"), **_PAGE}
_FILE_PAGE: Final[Responses] = {200: _PAGE, 401: _ERROR, 403: _ERROR, 404: _ERROR}
_CONTENT: Final[Mapping[str, Schema]] = {"*/*": {}}

# fmt: off
PUBLIC_ENDPOINTS: tuple[PublicEndpoint, ...] = (
    _endpoint("oauth.token", "POST", "token", TOKENS, "A token for a code, a refresh token or an assertion",
        {200: _json("Token"), 400: _BAD_REQUEST, 401: _json("OAuthError")},
        form="grant_type code redirect_uri code_verifier client_id client_secret refresh_token scope assertion"),
    _endpoint("oauth.tokeninfo", "GET POST", "tokeninfo", TOKENS, "Whom a token is for, and for how long",
        {200: _json("TokenInfo"), 400: _BAD_REQUEST}, query="access_token", form="access_token"),
    _endpoint("oauth.revoke", "POST", "revoke", TOKENS, "End a token, and all that came of the same consent",
        {200: _json("Nothing"), 400: _BAD_REQUEST}, query="token", form="token"),
    _endpoint("oauth.authorize", "GET POST", "authorize", TOKENS, "Ask the person in this browser for their consent",
        {200: _PAGE, 302: {}, 400: {**_BAD_REQUEST, **_PAGE}, 401: _ERROR},
        query="response_type client_id redirect_uri scope state code_challenge code_challenge_method prompt login_hint",
        form="decision signature"),
    _endpoint("oauth.metadata", "GET HEAD", ".well-known/oauth-authorization-server", TOKENS,
        "Where the token endpoints are (RFC 8414)", {200: _json("AuthorizationServer")}),
    _endpoint("browser.signIn", "GET HEAD POST", "signin", "browser_sign_in", "Say who is at this browser",
        {200: _PAGE, 303: {}, 401: _PAGE}, query="continue", form="token user"),
    _endpoint("browser.signOut", "POST", "signout", "browser_sign_in", "Forget who is at this browser", {303: {}}),
    *(_endpoint("files.page", "GET HEAD", path, "A6-08", "What a file's webViewLink opens", _FILE_PAGE) for path in (
        f"file/d/{FILE_ID}/view",
        f"document/d/{FILE_ID}/edit",
        f"spreadsheets/d/{FILE_ID}/edit",
        f"presentation/d/{FILE_ID}/edit",
    )),
    _endpoint("files.content", "GET HEAD", "uc", "A6-08", "What a file's webContentLink opens",
        {200: _CONTENT, 206: _CONTENT, **dict.fromkeys((400, 401, 403, 404, 416), _ERROR)},
        query="id export acknowledgeAbuse"),
    _endpoint("openapi.get", "GET HEAD", "openapi.json", TOKENS, "This document", {200: _json("Document")},
        query="prettyPrint"),
    _endpoint("events.page", "GET HEAD", f"{CALENDAR}/event", "open_links", "What an event's htmlLink opens",
        {200: _PAGE, 404: _json("Error")}, query="eid"),
)
# fmt: on

PAGES = frozenset(
    {"oauth.authorize", "browser.signIn", "browser.signOut", "files.page", "files.content", "events.page"}
)
"""The endpoints that a browser opens, with or without a sign-in cookie. Other endpoints use no cookie."""
