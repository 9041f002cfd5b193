"""The keys of service accounts and their signed assertions (RFC 7523, only RS256). Needs the extra `identity`."""

from __future__ import annotations

from typing import Any

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
        raise ValueError(
            "private_key must be an RSA key in PEM; pass the whole key file of the service account"
        ) from None


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
