"""OpenID Connect: the claims of a signed-in user, ID tokens, and the public key that verifies them.

ID tokens are signed with a key of the service, which is made for the first one. They need the extra `identity`.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from importlib.util import find_spec
from typing import Any, cast

from ...core.auth.assertions import ALGORITHM, new_key, public_jwk, sign
from ...core.auth.oauth import OAuthError
from ...core.http.messages import Response
from ...core.resources.errors import AuthorizationServer, KeySet, Token, UserInfo
from ..dispatch.origin import own_base_url
from ..dispatch.service_context import IDENTITY_SCOPES, ServiceContext, bearer
from ..files.resource import display_name, permission_id
from .public_request import PublicRequest, no_store_json, oauth_error_response
from .tables import GrantRow

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
    return context.store.users.find_fact(_KEY) or context.store.users.fact(_KEY, new_key()[0])
