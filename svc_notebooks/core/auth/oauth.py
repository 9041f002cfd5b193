"""OAuth 2.0 as plain values: the errors of its endpoints, and how a code verifier is challenged.

RFC 6749 (grants and errors), 7009 (revocation), 7523 (JWT bearer), 7636 (PKCE), 8252 (loopback redirects).
"""

from __future__ import annotations

import hmac
import re
from base64 import urlsafe_b64encode
from hashlib import sha256
from urllib.parse import urlsplit

AUTHORIZATION_CODE = "authorization_code"
REFRESH_TOKEN = "refresh_token"
JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
GRANTS = (AUTHORIZATION_CODE, REFRESH_TOKEN, JWT_BEARER)

ACCESS_LIFETIME = 3599.0
"""Seconds that a token from the token endpoint is good for, as its answer says."""

ERRORS = {
    "invalid_request": 400,
    "invalid_client": 401,
    "invalid_grant": 400,
    "invalid_scope": 400,
    "invalid_token": 400,
    "unauthorized_client": 401,
    "unsupported_grant_type": 400,
}
"""The errors of the endpoints and their statuses; their body is flat, not the family's envelope."""

_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")
_LOOPBACK = ("127.0.0.1", "[::1]", "localhost")


class OAuthError(Exception):
    """A refusal of an OAuth endpoint."""

    def __init__(self, error: str, description: str, status: int | None = None) -> None:
        super().__init__(description)
        self.error = error
        self.description = description
        self.status = status or ERRORS[error]


def is_verifier(text: str) -> bool:
    """Whether a text can be a code verifier, or a plain challenge."""
    return _VERIFIER.fullmatch(text) is not None


def challenge(verifier: str, method: str) -> str:
    """What a client sends ahead for a verifier that it keeps back (PKCE).

    >>> challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", "S256")
    'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'
    """
    if method == "plain":
        return verifier
    return urlsafe_b64encode(sha256(verifier.encode()).digest()).decode().rstrip("=")


def matches_challenge(verifier: str, method: str, expected: str) -> bool:
    """Whether this is the verifier of a challenge."""
    return is_verifier(verifier) and hmac.compare_digest(challenge(verifier, method), expected)


def matches_redirect(registered: str, requested: str) -> bool:
    """Whether an address is the registered one; a loopback address may have any port (RFC 8252, 7.3)."""
    if registered == requested:
        return True
    registered_parts, requested_parts = urlsplit(registered), urlsplit(requested)
    if registered_parts.scheme != "http" or _host(registered_parts.netloc) not in _LOOPBACK:
        return False
    return (registered_parts.scheme, _host(registered_parts.netloc), registered_parts.path, registered_parts.query) == (
        requested_parts.scheme,
        _host(requested_parts.netloc),
        requested_parts.path,
        requested_parts.query,
    ) and not requested_parts.fragment


def _host(netloc: str) -> str:
    return re.sub(r":[0-9]{1,5}$", "", netloc)
