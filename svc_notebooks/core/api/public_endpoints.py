"""The table of the token endpoints and browser pages, which need no access token. Paths begin at the root."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ..brand_names import Names
from .json_schemas import STRING, Schema, ref
from .operations import DOWNLOAD_COST, FILE_ID, GET_COST, Operation

# A decision of docs/decisions.md.
TOKENS = "Tokens, consent and the OpenAPI document"

# The placeholder for the calendar's brand name in a path (core/brand_names.py).
CALENDAR = "{calendar}"

# The placeholder for the storage's brand name in a path.
STORAGE = "{storage}"

# The possible responses of an endpoint as a map from status to the schema per media type.
Responses = Mapping[int, Mapping[str, Schema]]


@dataclass(frozen=True, slots=True)
class PublicEndpoint(Operation):
    """An endpoint that needs no access token. `query` and `form` are the names of its query and form parameters."""

    query: tuple[str, ...] = ()
    form: tuple[str, ...] = ()
    responses: Responses = field(default_factory=dict, hash=False)

    def path_under(self, names: Names) -> list[str]:
        """Return the segments of the path, with the brand names of a deployment."""
        brands = {STORAGE: names.storage, CALENDAR: names.calendar}
        return [brands.get(segment, segment) for segment in self.path]


def _endpoint(
    name: str, methods: str, path: str, decided_by: str, summary: str, responses: Responses, **options: Any
) -> PublicEndpoint:
    """Return an endpoint. `options` are further fields. The names in `query` and `form` are separated by spaces."""
    words: dict[str, Any] = {field: tuple(options.pop(field, "").split()) for field in ("query", "form")}
    units = options.pop("units", 1 if options.get("calendar") else GET_COST)
    fields: dict[str, Any] = {"units": units, "summary": summary, "decided_by": decided_by, "responses": responses}
    return PublicEndpoint(name, tuple(methods.split()), tuple(path.split("/")), **fields, **words, **options)


def _json(name: str) -> Mapping[str, Schema]:
    return {"application/json": ref(name)}


_PAGE: Final[Mapping[str, Schema]] = {"text/html": STRING}
# An OAuth error, or an error that occurs before the endpoint is called, such as an invalid Host header.
_BAD_REQUEST: Final[Mapping[str, Schema]] = {"application/json": {"oneOf": [ref("OAuthError"), ref("Error")]}}

_ERROR: Final[Mapping[str, Schema]] = {**_json("Error"), **_PAGE}
_FILE_PAGE: Final[Responses] = {200: _PAGE, 401: _ERROR, 403: _ERROR, 404: _ERROR}
_CONTENT: Final[Mapping[str, Schema]] = {"*/*": {}}
_BATCH: Final[Responses] = {200: {"multipart/mixed": STRING}, 413: _json("Error")}

# The endpoints that take several requests in one body. They check no token, but each request in them needs one.
BATCHES = ("batch.storage", "batch.calendar")

# fmt: off
PUBLIC_ENDPOINTS: tuple[PublicEndpoint, ...] = (
    _endpoint("oauth.token", "POST", "token", TOKENS,
        "Exchange an authorization code, a refresh token or an assertion for an access token",
        {200: _json("Token"), 400: _BAD_REQUEST, 401: _json("OAuthError")},
        form="grant_type code redirect_uri code_verifier client_id client_secret refresh_token scope assertion"),
    _endpoint("oauth.tokeninfo", "GET POST", "tokeninfo", TOKENS,
        "Get the user, the scopes and the expiration of an access token",
        {200: _json("TokenInfo"), 400: _BAD_REQUEST}, query="access_token", form="access_token"),
    _endpoint("oauth.revoke", "POST", "revoke", TOKENS, "Revoke a token and all tokens of the same consent",
        {200: _json("Nothing"), 400: _BAD_REQUEST}, query="token", form="token"),
    _endpoint("oauth.authorize", "GET POST", "authorize", TOKENS, "Show the consent page, and return a code",
        {200: _PAGE, 302: {}, 400: {**_BAD_REQUEST, **_PAGE}, 401: _ERROR},
        query="response_type client_id redirect_uri scope state code_challenge code_challenge_method prompt login_hint",
        form="decision signature"),
    _endpoint("oauth.metadata", "GET HEAD", ".well-known/oauth-authorization-server", TOKENS,
        "Get the addresses of the token endpoints (RFC 8414)", {200: _json("AuthorizationServer")}),
    _endpoint("openid.configuration", "GET HEAD", ".well-known/openid-configuration", TOKENS,
        "Get the addresses of OpenID Connect", {200: _json("AuthorizationServer")}, extension=True),
    _endpoint("openid.keys", "GET HEAD", "oauth2/v3/certs", TOKENS, "Get the public key of ID tokens",
        {200: _json("KeySet")}, extension=True),
    _endpoint("openid.userinfo", "GET POST", "oauth2/v3/userinfo", TOKENS, "Get the claims of the signed-in user",
        {200: _json("UserInfo"), 401: _json("OAuthError"), 403: _json("OAuthError")}, extension=True),
    _endpoint("browser.signIn", "GET HEAD POST", "signin", "browser_sign_in", "Sign in to the web pages",
        {200: _PAGE, 303: {}, 401: _PAGE}, query="continue", form="token user"),
    _endpoint("browser.signedIn", "GET", "oauth_callback", "browser_sign_in",
        "Complete a sign-in with JupyterHub", {303: {}, 401: _PAGE, 404: _json("Error")}, query="code state error"),
    _endpoint("browser.signOut", "POST", "signout", "browser_sign_in", "Sign out of the web pages", {303: {}}),
    *(_endpoint("files.page", "GET HEAD", path, "A6-08", "Show a file (webViewLink)", _FILE_PAGE,
        units=DOWNLOAD_COST) for path in (
        f"file/d/{FILE_ID}/view",
        f"document/d/{FILE_ID}/edit",
        f"spreadsheets/d/{FILE_ID}/edit",
        f"presentation/d/{FILE_ID}/edit",
    )),
    _endpoint("files.content", "GET HEAD", "uc", "A6-08", "Download a file in a browser (webContentLink)",
        {200: _CONTENT, 206: _CONTENT, **dict.fromkeys((400, 401, 403, 404, 416), _ERROR)},
        query="id export acknowledgeAbuse", units=DOWNLOAD_COST),
    _endpoint("openapi.get", "GET HEAD", "openapi.json", TOKENS, "Get this OpenAPI document", {200: _json("Document")},
        query="prettyPrint"),
    _endpoint("events.page", "GET HEAD", f"{CALENDAR}/event", "open_links", "Show an event (htmlLink)",
        {200: _PAGE, 404: _json("Error")}, query="eid", calendar=True),
    _endpoint(BATCHES[0], "POST", f"batch/{STORAGE}/v3", "Several requests in one batch",
        "Send several requests for files at once", _BATCH, extension=True),
    _endpoint(BATCHES[1], "POST", f"batch/{CALENDAR}/v3", "Several requests in one batch",
        "Send several requests for calendars at once", _BATCH, extension=True),
)
# fmt: on

# The pages with which a user signs in. Requests without a sign-in are not counted here.
SIGN_IN = frozenset({"oauth.authorize", "browser.signIn", "browser.signedIn", "browser.signOut"})

# The endpoints that a browser opens, with or without a sign-in cookie. Other endpoints use no cookie.
PAGES = SIGN_IN | {"files.page", "files.content", "events.page"}
