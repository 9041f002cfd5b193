"""The keys of service accounts, and the assertions that they sign (RFC 7523, RS256 alone).

Needs PyJWT and cryptography, the extra `identity`; they are imported when a key is first used.
"""

from __future__ import annotations

from typing import Any

ALGORITHM = "RS256"
_MISSING = "service accounts need the package {package}: pip install 'svc-notebooks[identity]'"
_BITS = 2048


class InvalidAssertionError(ValueError):
    """A text that is no assertion of this key; the message says why."""


def new_key() -> tuple[str, str]:
    """A private key and its public key, both in PEM. Raises ImportError without the extra."""
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
    """An assertion of these claims. Raises ImportError, or ValueError for a key that is none."""
    try:
        return str(_jwt().encode(claims, private_key, algorithm=ALGORITHM, headers={"kid": key_id}))
    except (_jwt().PyJWTError, ValueError, TypeError):
        raise ValueError("private_key is no RSA key in PEM: take the whole key file that the service gave") from None


def read_unverified(assertion: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Header and claims as they stand there, which proves nothing yet. Raises InvalidAssertionError."""
    try:
        decoded = _jwt().decode_complete(assertion, options={"verify_signature": False})
    except _jwt().PyJWTError as error:
        raise InvalidAssertionError(f"it is no JWT ({error})") from None
    return decoded["header"], decoded["payload"]


def check_signature(assertion: str, public_key: str) -> None:
    """Refuse what this key has not signed; the caller checks times and audience. Raises InvalidAssertionError."""
    options = dict.fromkeys(("verify_exp", "verify_iat", "verify_nbf", "verify_aud", "verify_iss"), False)
    try:
        _jwt().decode(assertion, public_key, algorithms=[ALGORITHM], options=options)
    except _jwt().PyJWTError as error:
        raise InvalidAssertionError(f"its signature does not hold ({error})") from None


def _jwt() -> Any:
    try:
        import jwt
    except ImportError:
        raise ImportError(_MISSING.format(package="PyJWT")) from None
    return jwt
