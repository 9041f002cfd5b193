"""The OAuth endpoints POST /token, /tokeninfo and /revoke."""

from __future__ import annotations

import hmac
from base64 import b64decode
from collections.abc import Callable, Mapping
from urllib.parse import unquote_plus

from ...core.auth.oauth import AUTHORIZATION_CODE, GRANTS, JWT_BEARER, REFRESH_TOKEN, OAuthError
from ...core.http.messages import Response
from ...core.resources.errors import Token, TokenInfo
from ..dispatch.caller import bearer
from . import grants
from .public_request import PublicRequest, no_store_json, oauth_error_response, require_parameter
from .tables import ClientRow, digest_of

_CLIENT_GRANTS: Mapping[str, Callable[[PublicRequest, dict[str, str], ClientRow], Token]] = {
    AUTHORIZATION_CODE: grants.exchange_code,
    REFRESH_TOKEN: grants.refresh_access_token,
}


def token(request: PublicRequest) -> Response:
    """Handle POST /token and return the response with an access token or an OAuth error."""
    basic = "Authorization" in request.http_request.headers
    try:
        return no_store_json(_issue(request))
    except OAuthError as error:
        return oauth_error_response(error, basic=basic)


def _issue(request: PublicRequest) -> Token:
    form = request.form()
    grant_type = require_parameter(form, "grant_type")
    if grant_type == JWT_BEARER:
        return grants.exchange_assertion(request, form)
    if grant_type not in _CLIENT_GRANTS:
        raise OAuthError("unsupported_grant_type", f"grant_type must be one of {', '.join(GRANTS)}.")
    return _CLIENT_GRANTS[grant_type](request, form, _client(request, form))


def _client(request: PublicRequest, form: dict[str, str]) -> ClientRow:
    name, secret = _client_credentials(request, form)
    client = request.context.store.oauth.client(name)
    if client is None:
        raise OAuthError("invalid_client", "there is no OAuth client with this client_id.")
    if client.secret and not hmac.compare_digest(client.secret, digest_of(secret)):
        raise OAuthError("invalid_client", "client_secret is missing or wrong.")
    return client


def _client_credentials(request: PublicRequest, form: dict[str, str]) -> tuple[str, str]:
    """Return the client id and the client secret from the Authorization header, or else from the form.

    Each is "" if missing. Raises OAuthError if the header is invalid or contradicts the form (RFC 6749, 2.3).
    """
    header = request.http_request.headers.get("Authorization")
    if header is None:
        return form.get("client_id", ""), form.get("client_secret", "")
    scheme, _, value = header.partition(" ")
    try:
        name, _, secret = b64decode(value.strip(), validate=True).decode().partition(":")
    except ValueError:
        scheme = ""
    if scheme.lower() != "basic":
        raise OAuthError("invalid_client", "the Authorization header must use the Basic scheme.")
    name, secret = unquote_plus(name), unquote_plus(secret)
    if "client_secret" in form or form.get("client_id", name) != name:
        raise OAuthError(
            "invalid_request",
            "send the client's id and secret in the Authorization header or in the form, not in both.",
        )
    return name, secret


def tokeninfo(request: PublicRequest) -> Response:
    """Handle /tokeninfo and return the response with the data of an access token or with an OAuth error."""
    try:
        secret = bearer(request.http_request) or request.query.get("access_token")
        if secret is None:
            secret = require_parameter(request.form() if request.method == "POST" else {}, "access_token")
            if token_row := request.context.store.users.token(secret):
                request.check_limits(token_row.user)
        return no_store_json(_token_info(request, secret))
    except OAuthError as error:
        return oauth_error_response(error)


def _token_info(request: PublicRequest, secret: str) -> TokenInfo:
    token_row, now = request.context.store.users.token(secret), request.now()
    if token_row is None or (token_row.expires is not None and now >= token_row.expires):
        raise OAuthError("invalid_token", "the access token is unknown or has expired.")
    info: TokenInfo = {
        "azp": token_row.client,
        "aud": token_row.client,
        "scope": grants.scope_uris(request.context, token_row.scopes),
        "email": token_row.user,
        "email_verified": True,
        "access_type": "offline" if request.context.store.oauth.family(secret) else "online",
    }
    if token_row.expires is not None:
        info["exp"], info["expires_in"] = int(token_row.expires), int(token_row.expires - now)
    return info


def revoke(request: PublicRequest) -> Response:
    """Revoke a token and all tokens of the same consent. Return an OAuth error if the token is unknown."""
    try:
        secret = _parameter(request, "token")
    except OAuthError as error:
        return oauth_error_response(error)
    oauth = request.context.store.oauth
    grant = oauth.grant(secret)
    family = grant.family if grant and grant.kind == "refresh" else oauth.family(secret)
    with request.context.store.transaction():
        exists = oauth.end_token(secret) or family is not None
        if family:
            oauth.end(family)
    request.token_verifier.clear_cache()
    if not exists:
        return oauth_error_response(OAuthError("invalid_token", "the token is unknown or was already revoked."))
    return no_store_json({})


def _parameter(request: PublicRequest, name: str) -> str:
    """Return a parameter from the query, or else from the form. Raises OAuthError if the parameter is missing."""
    form = request.form() if request.method == "POST" else {}
    return require_parameter({**form, name: request.query.get(name) or form.get(name, "")}, name)
