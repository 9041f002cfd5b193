"""OAuth 2.0 errors, code challenges and redirect addresses.

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
"""The lifetime in seconds of an access token from the token endpoint."""

ERRORS = {
    "invalid_request": 400,
    "invalid_client": 401,
    "invalid_grant": 400,
    "invalid_scope": 400,
    "invalid_token": 400,
    "unauthorized_client": 401,
    "unsupported_grant_type": 400,
}
"""Maps error codes of the token endpoints to HTTP statuses. The body of these errors is flat (RFC 6749, 5.2)."""

_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")
_LOOPBACK = ("127.0.0.1", "[::1]", "localhost")


class OAuthError(Exception):
    """An error response of an OAuth endpoint, with its error code, description and HTTP status."""

    def __init__(self, error: str, description: str, status: int | None = None) -> None:
        super().__init__(description)
        self.error = error
        self.description = description
        self.status = status or ERRORS[error]


def token_problem(token: str) -> str:
    """Return what is wrong with the form of an access token, in words that do not show the token, or "" if nothing is.

    >>> token_problem("Bearer abc"), token_problem("abc")
    ('begins with the word "Bearer": leave the word out', '')
    """
    return next((problem for pattern, problem in _TOKEN_PROBLEMS if re.fullmatch(pattern, token, re.DOTALL)), "")


_TOKEN_PROBLEMS = (
    (r"", "is empty"),
    (r"(?i:bearer)\s.*", 'begins with the word "Bearer": leave the word out'),
    (r"['\"]?\[redacted.*", "is the text that is shown in place of a token: print(lab.access_token) shows the token"),
    (r"b[\"'].*", "is the text of a bytes object (b'...'): use token.decode()"),
    (r"[\"'`\u201c\u2018].*|.*[\"'`\u201d\u2019]", "has quotes around it: remove the quotes"),
    (r"\s.*|.*\s", "has a space or a line end before or after it: use token.strip()"),
    (r".*[^!-~].*", "must be printable ASCII without spaces, and without a scheme before it"),
)
"""Patterns of texts that are not tokens, with what is wrong with them."""


def is_verifier(text: str) -> bool:
    """Return whether a text has the format of a PKCE code verifier or plain code challenge."""
    return _VERIFIER.fullmatch(text) is not None


def challenge(verifier: str, method: str) -> str:
    """Return the PKCE code challenge for a code verifier. `method` is "plain" or "S256".

    >>> challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", "S256")
    'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'
    """
    if method == "plain":
        return verifier
    return urlsafe_b64encode(sha256(verifier.encode()).digest()).decode().rstrip("=")


def matches_challenge(verifier: str, method: str, expected: str) -> bool:
    """Return whether a code verifier is valid and yields the expected code challenge."""
    return is_verifier(verifier) and hmac.compare_digest(challenge(verifier, method), expected)


def matches_redirect(registered: str, requested: str) -> bool:
    """Return whether a redirect address is registered. Hosts and ports of the loopback may differ (RFC 8252, 7.3).

    >>> [matches_redirect("http://localhost/a", f"http://127.0.0.1:8080/{path}") for path in "ab"]
    [True, False]
    """
    if registered == requested:
        return True
    parts, other = urlsplit(registered), urlsplit(requested)
    on_loopback = all(
        url.scheme == "http" and re.sub(r":[0-9]{1,5}$", "", url.netloc) in _LOOPBACK for url in (parts, other)
    )
    return on_loopback and (parts.path or "/", parts.query) == (other.path or "/", other.query) and not other.fragment
