"""POST /token, /tokeninfo and /revoke: where stock OAuth libraries get tokens, look at them and give them back."""

from __future__ import annotations

import hmac
from base64 import b64decode
from collections.abc import Callable, Mapping
from urllib.parse import unquote_plus

from ...core.auth.oauth import AUTHORIZATION_CODE, GRANTS, JWT_BEARER, REFRESH_TOKEN, OAuthError
from ...core.http.messages import JSONObject, Response
from ..context.public_request import PublicRequest, needed, no_store_json, oauth_error_response
from ..store.oauth import ClientRow
from ..store.users import digest_of
from . import grants

_BY_CLIENT: Mapping[str, Callable[[PublicRequest, dict[str, str], ClientRow], JSONObject]] = {
    AUTHORIZATION_CODE: grants.exchange_code,
    REFRESH_TOKEN: grants.by_refresh_token,
}


def token(visit: PublicRequest) -> Response:
    """An access token for a code, a refresh token or an assertion."""
    basic = "Authorization" in visit.request.headers
    try:
        return no_store_json(_granted(visit))
    except OAuthError as error:
        return oauth_error_response(error, basic=basic)


def _granted(visit: PublicRequest) -> JSONObject:
    form = visit.form()
    kind = needed(form, "grant_type")
    if kind == JWT_BEARER:
        return grants.by_assertion(visit, form)
    if kind not in _BY_CLIENT:
        raise OAuthError("unsupported_grant_type", f"grant_type must be one of {', '.join(GRANTS)}.")
    return _BY_CLIENT[kind](visit, form, _client(visit, form))


def _client(visit: PublicRequest, form: dict[str, str]) -> ClientRow:
    """Who asks: a registered client that shows its secret, if it has one. Raises OAuthError (401)."""
    name, secret = _shown(visit, form)
    found = visit.context.store.oauth.client(name)
    if found is None:
        raise OAuthError("invalid_client", "there is no OAuth client of this client_id.")
    if found.secret and not hmac.compare_digest(found.secret, digest_of(secret)):
        raise OAuthError("invalid_client", "client_secret is missing or wrong.")
    return found


def _shown(visit: PublicRequest, form: dict[str, str]) -> tuple[str, str]:
    """Id and secret, in the header or in the form, not in both (RFC 6749, 2.3)."""
    header = visit.request.headers.get("Authorization")
    if header is None:
        return form.get("client_id", ""), form.get("client_secret", "")
    name, secret = _basic(header)
    if "client_secret" in form or form.get("client_id", name) != name:
        raise OAuthError("invalid_request", "a client shows its id and secret in one way only.")
    return name, secret


def _basic(header: str) -> tuple[str, str]:
    scheme, _, value = header.partition(" ")
    try:
        name, _, secret = b64decode(value.strip(), validate=True).decode().partition(":")
    except ValueError:
        scheme = ""
    if scheme.lower() != "basic":
        raise OAuthError("invalid_client", "the Authorization header is no Basic one.")
    return unquote_plus(name), unquote_plus(secret)


def tokeninfo(visit: PublicRequest) -> Response:
    """Whom a token is for, what it lets them do, and for how long."""
    try:
        return no_store_json(_info(visit, visit.access.shown(visit.request) or _named(visit, "access_token")))
    except OAuthError as error:
        return oauth_error_response(error)


def _info(visit: PublicRequest, secret: str) -> JSONObject:
    found, now = visit.context.store.users.token(secret), visit.now()
    if found is None or (found.expires is not None and now >= found.expires):
        raise OAuthError("invalid_token", "the access token is unknown or has expired.")
    info: JSONObject = {
        "azp": found.client,
        "aud": found.client,
        "scope": grants.scope_uris(visit.context, found.scopes),
        "email": found.user,
        "email_verified": True,
        "access_type": "offline" if visit.context.store.oauth.family(secret) else "online",
    }
    if found.expires is not None:
        info |= {"exp": int(found.expires), "expires_in": int(found.expires - now)}
    return info


def revoke(visit: PublicRequest) -> Response:
    """A token is good no more; with it goes all that came from the same consent."""
    try:
        _end(visit, _named(visit, "token"))
    except OAuthError as error:
        return oauth_error_response(error)
    return no_store_json({})


def _end(visit: PublicRequest, secret: str) -> None:
    oauth = visit.context.store.oauth
    grant = oauth.grant(secret)
    family = grant.family if grant and grant.kind == "refresh" else oauth.family(secret)
    with visit.context.store.transaction():
        known = oauth.end_token(secret) or family is not None
        if family:
            oauth.end(family)
    visit.access.forget()
    if not known:
        raise OAuthError("invalid_token", "there is no such token, or it was revoked before.")


def _named(visit: PublicRequest, name: str) -> str:
    """A parameter of the query or of the form."""
    form = visit.form() if visit.method == "POST" else {}
    return needed({**form, name: visit.query.get(name) or form.get(name, "")}, name)
