"""OAuth 2.0 errors, code challenges and redirect addresses, and the signed assertions of service accounts.

RFC 6749 (grants and errors), 7009 (revocation), 7523 (JWT bearer), 7636 (PKCE), 8252 (loopback redirects).
Assertions are only signed with RS256, and need the extra `identity`.
"""

from __future__ import annotations

import hmac
import re
from base64 import urlsafe_b64encode
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit

AUTHORIZATION_CODE = "authorization_code"
REFRESH_TOKEN = "refresh_token"
JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
GRANTS = (AUTHORIZATION_CODE, REFRESH_TOKEN, JWT_BEARER)

# The lifetime in seconds of an access token from the token endpoint.
ACCESS_LIFETIME = 3599.0

# Maps error codes of the token endpoints to HTTP statuses. The body of these errors is flat (RFC 6749, 5.2).
ERRORS = {
    "invalid_request": 400,
    "invalid_client": 401,
    "invalid_grant": 400,
    "invalid_scope": 400,
    "invalid_token": 400,
    "unauthorized_client": 401,
    "unsupported_grant_type": 400,
}

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


# Patterns of texts that are not tokens, with what is wrong with them.
_TOKEN_PROBLEMS = (
    (r"", "is empty"),
    (r"(?i:bearer)\s.*", 'begins with the word "Bearer": leave the word out'),
    (r"['\"]?\[redacted.*", "is the text that is shown in place of a token: print(lab.access_token) shows the token"),
    (r"b[\"'].*", "is the text of a bytes object (b'...'): use token.decode()"),
    (r"[\"'`\u201c\u2018].*|.*[\"'`\u201d\u2019]", "has quotes around it: remove the quotes"),
    (r"\s.*|.*\s", "has a space or a line end before or after it: use token.strip()"),
    (r".*[^!-~].*", "must be printable ASCII without spaces, and without a scheme before it"),
)


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


ALGORITHM = "RS256"
_MISSING = "service accounts need the package {package}: pip install 'svc-notebooks[identity]'"
_BITS = 2048


class InvalidAssertionError(ValueError):
    """The text is not a JWT, or was not signed with the expected key."""


def new_key() -> tuple[str, str]:
    """Generate an RSA key pair as PEM texts (private, public). Raises ImportError without the package cryptography."""
    try:
        from cryptography.hazmat.primitives import serialization as form
        from cryptography.hazmat.primitives.asymmetric import rsa
    except ImportError:
        raise ImportError(_MISSING.format(package="cryptography")) from None
    key = rsa.generate_private_key(public_exponent=65537, key_size=_BITS)
    private = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    public = key.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)
    return private.decode(), public.decode()


def sign(claims: dict[str, Any], private_key: str, key_id: str) -> str:
    """Return a signed JWT with these claims. Raises ImportError without PyJWT, ValueError if the key is invalid."""
    try:
        return str(_jwt().encode(claims, private_key, algorithm=ALGORITHM, headers={"kid": key_id}))
    except (_jwt().PyJWTError, ValueError, TypeError):
        hint = "pass the whole key file of the service account"
        raise ValueError(f"private_key must be an RSA key in PEM; {hint}") from None


def public_jwk(private_key: str, key_id: str) -> dict[str, Any]:
    """Return the public part of a private key in PEM as a JSON Web Key."""
    jwk: dict[str, Any] = _jwt().algorithms.RSAAlgorithm.to_jwk(
        _jwt().algorithms.RSAAlgorithm(_jwt().algorithms.RSAAlgorithm.SHA256).prepare_key(private_key).public_key(),
        as_dict=True,
    )
    return {**jwk, "kid": key_id, "alg": ALGORITHM, "use": "sig", "key_ops": ["verify"]}


def read_claims(assertion: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the header and claims of a JWT, unverified. Raises InvalidAssertionError if the text is not a JWT."""
    try:
        decoded = _jwt().decode_complete(assertion, options={"verify_signature": False})
    except _jwt().PyJWTError as error:
        raise InvalidAssertionError(f"the assertion is not a JWT ({error})") from None
    return decoded["header"], decoded["payload"]


def check_signature(assertion: str, public_key: str) -> None:
    """Check the signature of a JWT, but not its times and audience. Raises InvalidAssertionError if invalid."""
    options = dict.fromkeys(("verify_exp", "verify_iat", "verify_nbf", "verify_aud", "verify_iss"), False)
    try:
        _jwt().decode(assertion, public_key, algorithms=[ALGORITHM], options=options)
    except _jwt().PyJWTError as error:
        raise InvalidAssertionError(f"the signature of the assertion is not valid ({error})") from None


def _jwt() -> Any:
    try:
        import jwt
    except ImportError:
        raise ImportError(_MISSING.format(package="PyJWT")) from None
    return jwt
