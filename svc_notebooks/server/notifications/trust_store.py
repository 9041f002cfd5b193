"""Holds the certificate authorities and revocation lists that deliveries trust (A8-04)."""

from __future__ import annotations

import re
from threading import RLock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ssl

_BLOCK = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----.*?-----END \1-----", re.DOTALL)
_CERTIFICATE, _REVOCATION_LIST = "CERTIFICATE", "X509 CRL"


class TrustStore:
    """Authorities and revocation lists; they can be added to, never taken away."""

    def __init__(self) -> None:
        self._revoked: set[tuple[bytes, int]] = set()
        self._context: ssl.SSLContext | None = None
        self._lock = RLock()  # who adds and who sends are two threads, and may both be the first

    @property
    def context(self) -> ssl.SSLContext:
        """What a connection is made with; it learns of what is added later."""
        import ssl

        with self._lock:
            self._context = self._context or ssl.create_default_context()
            return self._context

    def add(self, pem: str) -> None:
        """Trust the certificates in this text, and believe its revocation lists. Raises ValueError."""
        blocks = [(block[1], block[0]) for block in _BLOCK.finditer(pem)]
        certificates = [text for label, text in blocks if label == _CERTIFICATE]
        lists = [text for kind, text in blocks if kind == _REVOCATION_LIST]
        if not certificates and not lists:
            raise ValueError("there is no certificate in it: give the authority's in PEM, -----BEGIN CERTIFICATE-----")
        import ssl

        revoked = {serial for text in lists for serial in _revoked_by(text)}
        _load(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), certificates)  # all of them or none
        with self._lock:
            _load(self.context, certificates)
            self._revoked |= revoked

    def is_revoked(self, certificate: bytes | None) -> bool:
        """Whether a list says so of this certificate, in DER."""
        return bool(self._revoked) and certificate is not None and _identity(certificate) in self._revoked


def _load(context: ssl.SSLContext, certificates: list[str]) -> None:
    import ssl

    try:
        if certificates:
            context.load_verify_locations(cadata="\n".join(certificates).encode("ascii", "replace").decode())
    except ssl.SSLError as error:
        raise ValueError(f"a certificate in it cannot be read: {error.reason or error}") from None


def _revoked_by(pem: str) -> set[tuple[bytes, int]]:
    """The issuer and the serial number of what a list revokes."""
    try:
        from cryptography import x509
    except ImportError:
        raise ValueError("a revocation list needs the package cryptography: pip install cryptography") from None
    try:
        crl = x509.load_pem_x509_crl(pem.encode())
    except ValueError as error:
        raise ValueError(f"a revocation list in it cannot be read: {error}") from None
    issuer = crl.issuer.public_bytes()
    return {(issuer, revoked.serial_number) for revoked in crl}


def _identity(certificate: bytes) -> tuple[bytes, int]:
    from cryptography import x509

    parsed = x509.load_der_x509_certificate(certificate)
    return parsed.issuer.public_bytes(), parsed.serial_number
