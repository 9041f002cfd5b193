"""The OAuth endpoints POST /token, /tokeninfo and /revoke, and the endpoints of OpenID Connect.

Authorization codes, refresh tokens and assertions are exchanged for access tokens. ID tokens are signed with a key of
the service, which is made for the first one. They need the extra `identity`.
"""

from __future__ import annotations

import hmac
from base64 import b64decode, urlsafe_b64decode, urlsafe_b64encode
from importlib.util import find_spec
from typing import Any, cast
from urllib.parse import unquote_plus

from ...core.http.messages import JSONObject, Response
from ...core.oauth import (
    ALGORITHM,
    AUTHORIZATION_CODE,
    GRANTS,
    JWT_BEARER,
    REFRESH_TOKEN,
    InvalidAssertionError,
    OAuthError,
    check_signature,
    matches_challenge,
    new_key,
    public_jwk,
    read_claims,
    sign,
)
from ...core.resources.errors import AuthorizationServer, KeySet, Token, TokenInfo, UserInfo
from ..dispatch.origin import own_base_url
from ..dispatch.service_context import IDENTITY_SCOPES, ServiceContext, bearer, scope_names
from ..files.resource import display_name, permission_id
from .public_request import PublicRequest, no_store_json, oauth_error_response, require_parameter
from .tables import AccountRow, ClientRow, GrantRow, TokenRow, digest_of

_LONGEST_ASSERTION = 3600
_SKEW = 300
_MAX_SECONDS = 1e12
_GRANT_NAMES = {"code": "authorization code", "refresh": "refresh token"}


def exchange_code(request: PublicRequest, form: dict[str, str], client: ClientRow) -> Token:
    """Exchange an authorization code for an access token and a refresh token. Raises OAuthError for an invalid code.

    A second use of the same code raises OAuthError and revokes all tokens that were issued for the code.
    """
    with request.context.store.transaction():
        grant = _grant(request, require_parameter(form, "code"), "code", client)
        if not grant.spent:
            _check_exchange(form, grant)
            oauth, refresh = request.context.store.oauth, request.context.ids.refresh_token()
            oauth.spend(grant)
            oauth.add_grant(grant._replace(digest=digest_of(refresh), kind="refresh", expires=None))
            token = _issue(request, grant, grant.scopes)
            token.update(id_token(request, grant, grant.scopes, form["code"]))
            return {**token, "refresh_token": refresh}
    request.context.store.oauth.end(grant.family)
    request.token_verifier.clear_cache()
    raise OAuthError("invalid_grant", "the code was already used; all tokens issued for the code are revoked.")


def _check_exchange(form: dict[str, str], grant: GrantRow) -> None:
    if form.get("redirect_uri", "") != grant.redirect:
        raise OAuthError("invalid_grant", "redirect_uri must be the same as in the authorization request.")
    verifier = form.get("code_verifier", "")
    if grant.challenge and not matches_challenge(verifier, grant.method, grant.challenge):
        raise OAuthError(
            "invalid_grant", "code_verifier does not match the code_challenge of the authorization request."
        )
    if verifier and not grant.challenge:
        raise OAuthError(
            "invalid_grant", "code_verifier is not allowed: the authorization request had no code_challenge."
        )


def refresh_access_token(request: PublicRequest, form: dict[str, str], client: ClientRow) -> Token:
    """Exchange a refresh token for an access token. Raises OAuthError if the token or the scope is invalid."""
    with request.context.store.transaction():  # no revocation can happen between the check and the new token
        grant = _grant(request, require_parameter(form, "refresh_token"), "refresh", client)
        scopes = scopes_of(request.context, form["scope"]) if form.get("scope") else grant.scopes
        if not set(scopes.split()) <= set(grant.scopes.split()):
            raise OAuthError("invalid_scope", "scope contains a scope to which the user has not consented.")
        token = _issue(request, grant, scopes)
        token.update(id_token(request, grant, scopes, ""))
        return token


def _grant(request: PublicRequest, secret: str, grant_kind: str, client: ClientRow) -> GrantRow:
    grant = request.context.store.oauth.grant(secret)
    if grant is None or grant.kind != grant_kind or grant.client != client.id:
        name = _GRANT_NAMES[grant_kind]
        raise OAuthError("invalid_grant", f"the {name} is unknown or revoked, or belongs to another client.")
    if grant.expires is not None and request.now() >= grant.expires:
        raise OAuthError("invalid_grant", f"the {_GRANT_NAMES[grant_kind]} has expired.")
    return grant


def _issue(request: PublicRequest, grant: GrantRow, scopes: str) -> Token:
    secret, answer = _token(request, grant.user, grant.client, scopes, service_account=False)
    request.context.store.oauth.add_token(secret, grant.family)
    return answer


def _token(request: PublicRequest, user: str, client: str, scopes: str, *, service_account: bool) -> tuple[str, Token]:
    context, secret = request.context, request.context.ids.token()
    lifetime = context.policy.token_lifetime
    token = TokenRow(user, client, scopes, int(service_account), request.now() + lifetime)
    request.token_verifier.add_token(secret, token)
    entry = request.journal_entry
    entry.user, entry.client, entry.scopes = user, client, frozenset(scopes.split())
    return secret, {
        "access_token": secret,
        "expires_in": int(lifetime),
        "scope": scope_uris(context, scopes),
        "token_type": "Bearer",
    }


def exchange_assertion(request: PublicRequest, form: dict[str, str]) -> Token:
    """Exchange a service account's signed assertion for an access token. Raises OAuthError for an invalid assertion."""
    assertion = require_parameter(form, "assertion")
    try:
        header, claims = read_claims(assertion)
        account = _account(request, header, claims)
        check_signature(assertion, account.public_key)
    except InvalidAssertionError as error:
        raise OAuthError("invalid_grant", f"{error}.") from None
    _check_times(request, claims)
    scopes = scopes_of(request.context, claims.get("scope"))
    user = _subject(request.context, account, claims, scopes)
    own = user == account.email
    with request.context.store.transaction():
        return _token(request, user, account.client, scopes, service_account=own)[1]


def _account(request: PublicRequest, header: JSONObject, claims: JSONObject) -> AccountRow:
    if header.get("alg") != ALGORITHM:
        raise InvalidAssertionError(f"the assertion must be signed with {ALGORITHM}")
    issuer = claims.get("iss")
    account = request.context.store.oauth.account(issuer) if isinstance(issuer, str) else None
    if account is None:
        raise OAuthError("invalid_grant", "iss must be the e-mail address of a service account of this service.")
    if header.get("kid", account.key_id) != account.key_id:
        raise InvalidAssertionError("kid must be the id of the current key of this service account")
    # Some libraries always sign the same fixed audience. The policy lists it in `assertion_audiences`.
    address, audience = own_base_url(request.http_request, request.context) + "/token", claims.get("aud")
    accepted = (address, *request.context.policy.assertion_audiences)
    if not any(entry in accepted for entry in (audience if isinstance(audience, list) else [audience])):
        raise OAuthError("invalid_grant", f"aud must be {address}, the address of this endpoint.")
    return account


def _check_times(request: PublicRequest, claims: JSONObject) -> None:
    issued, expires, now = _seconds(claims, "iat"), _seconds(claims, "exp"), request.now()
    clock = f"the clock of the service shows {request.context.clock.now():%Y-%m-%dT%H:%M:%SZ}"
    if issued > now + _SKEW or ("nbf" in claims and _seconds(claims, "nbf") > now + _SKEW):
        raise OAuthError("invalid_grant", f"iat or nbf of the assertion is in the future: {clock}.")
    if not issued < expires <= issued + _LONGEST_ASSERTION:
        raise OAuthError("invalid_grant", f"exp must be after iat, by at most {_LONGEST_ASSERTION} seconds.")
    if now >= expires:
        raise OAuthError("invalid_grant", f"the assertion has expired: {clock}.")


def _seconds(claims: JSONObject, name: str) -> float:
    value = claims.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < _MAX_SECONDS:  # or nan
        raise OAuthError("invalid_grant", f"{name} must be a number of seconds since 1970.")
    return value


def _subject(context: ServiceContext, account: AccountRow, claims: JSONObject, scopes: str) -> str:
    """Return the e-mail address of the token's user. Raises OAuthError if the account may not act for this user."""
    subject = claims.get("sub", account.email)
    if subject == account.email:
        return account.email
    if not set(scopes.split()) <= set(account.delegation.split()):
        raise OAuthError(
            "unauthorized_client", "this service account is not allowed to act for users with these scopes."
        )
    if not isinstance(subject, str) or context.store.users.root(subject.lower()) is None:
        raise OAuthError("invalid_grant", "sub must be the e-mail address of a user of this service.")
    return subject.lower()


def scopes_of(context: ServiceContext, scope: object) -> str:
    """Convert the OAuth parameter `scope` to scope names joined by spaces. Raises OAuthError for an invalid `scope`."""
    if not isinstance(scope, str) or not scope.strip():
        raise OAuthError("invalid_scope", "scope is missing: give at least one scope, and separate scopes with spaces.")
    try:
        return " ".join(dict.fromkeys(scope_names(scope.split(), context.policy, context.names).split()))
    except ValueError as error:
        raise OAuthError("invalid_scope", str(error)) from None


def scope_uris(context: ServiceContext, scopes: str) -> str:
    """Convert stored scope names to full URIs separated by spaces, which is the form that clients use."""
    return " ".join(scope_uri(context, scope) for scope in scopes.split())


def scope_uri(context: ServiceContext, scope: str) -> str:
    """Return the full URI of a scope, with the names of this deployment. `openid`, `email` and `profile` have none."""
    return scope if scope in IDENTITY_SCOPES[:3] else f"{context.policy.auth_scope_base}/{context.names.scope(scope)}"


def token(request: PublicRequest) -> Response:
    """Handle POST /token and return the response with an access token or an OAuth error."""
    basic = "Authorization" in request.http_request.headers
    try:
        form = request.form()
        grant_type = require_parameter(form, "grant_type")
        if grant_type == JWT_BEARER:
            return no_store_json(exchange_assertion(request, form))
        exchange = {AUTHORIZATION_CODE: exchange_code, REFRESH_TOKEN: refresh_access_token}.get(grant_type)
        if exchange is None:
            raise OAuthError("unsupported_grant_type", f"grant_type must be one of {', '.join(GRANTS)}.")
        return no_store_json(exchange(request, form, _client(request, form)))
    except OAuthError as error:
        return oauth_error_response(error, basic=basic)


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
        "scope": scope_uris(request.context, token_row.scopes),
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
        form = request.form() if request.method == "POST" else {}
        secret = require_parameter({"token": request.query.get("token") or form.get("token", "")}, "token")
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


_KEY = "id_token_key"
_KEY_ID = "1"


def code_with_nonce(code: str, nonce: str) -> str:
    """Return an authorization code that carries the nonce of its request, because the ID token repeats the nonce."""
    return f"{code}.{urlsafe_b64encode(nonce.encode()).decode().rstrip('=')}" if nonce else code


def id_token(request: PublicRequest, grant: GrantRow, scopes: str, code: str) -> Token:
    """Return the ID token of an access token with the scope `openid`, as a field of the response, otherwise {}."""
    if "openid" not in scopes.split() or find_spec("jwt") is None:
        return cast(Token, {})
    now, nonce = int(request.now()), code.partition(".")[2]
    claims: dict[str, Any] = {
        "iss": own_base_url(request.http_request, request.context),
        "aud": grant.client,
        "azp": grant.client,
        "iat": now,
        "exp": now + int(request.context.policy.token_lifetime),
        **_claims(grant.user, scopes),
    }
    if nonce:
        claims["nonce"] = urlsafe_b64decode(nonce + "=" * (-len(nonce) % 4)).decode()
    return cast(Token, {"id_token": sign(claims, _private_key(request.context), _KEY_ID)})


def userinfo(request: PublicRequest) -> Response:
    """Return the claims of the user of an access token, or an OAuth error."""
    secret = bearer(request.http_request)
    caller = request.token_verifier.caller_for_token(secret) if secret else None
    if caller is None:
        return oauth_error_response(OAuthError("invalid_token", "send a valid access token as a bearer token.", 401))
    if caller.scopes.isdisjoint(IDENTITY_SCOPES):
        needed = OAuthError("insufficient_scope", "the token needs one of the scopes openid, email and profile.", 403)
        return oauth_error_response(needed)
    return no_store_json(_claims(caller.user, " ".join(caller.scopes)))


def _claims(user: str, scopes: str) -> UserInfo:
    claims: UserInfo = {"sub": permission_id(user)}
    names = scopes.split()
    if "email" in names or "userinfo.email" in names:
        claims["email"], claims["email_verified"] = user, True
    if "profile" in names or "userinfo.profile" in names:
        claims["name"] = display_name(user)
    return claims


def keys(request: PublicRequest) -> Response:
    """Return the public key of the ID tokens (RFC 7517), or no key without the extra `identity`."""
    has_key = find_spec("jwt") is not None
    key_set: KeySet = {"keys": [public_jwk(_private_key(request.context), _KEY_ID)] if has_key else []}
    return no_store_json(key_set)


def server_metadata(request: PublicRequest) -> AuthorizationServer:
    """Return the members that the metadata of OAuth (RFC 8414) and of OpenID Connect have in common."""
    base = own_base_url(request.http_request, request.context)
    return {
        "issuer": base,
        "authorization_endpoint": f"{base}/authorize",
        "token_endpoint": f"{base}/token",
        "revocation_endpoint": f"{base}/revoke",
        "response_types_supported": ["code"],
        "code_challenge_methods_supported": ["plain", "S256"],
    }


def configuration(request: PublicRequest) -> Response:
    """Return the addresses of OpenID Connect, for libraries that discover them."""
    base = own_base_url(request.http_request, request.context)
    document: AuthorizationServer = {
        **server_metadata(request),
        "userinfo_endpoint": f"{base}/oauth2/v3/userinfo",
        "jwks_uri": f"{base}/oauth2/v3/certs",
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": [ALGORITHM],
        "scopes_supported": ["openid", "email", "profile"],
    }
    return no_store_json(document)


def _private_key(context: ServiceContext) -> str:
    """Return the private key of the service in PEM, and make it at the first call."""
    return context.store.users.named_value(_KEY) or context.store.users.ensure_named_value(_KEY, new_key()[0])
