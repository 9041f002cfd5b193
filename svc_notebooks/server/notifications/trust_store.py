"""Holds the certificate authorities and revocation lists that deliveries trust (A8-04)."""

from __future__ import annotations

import re
from threading import RLock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ssl


_BLOCK = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----.*?-----END \1-----", re.DOTALL)
_CERTIFICATE, _REVOCATION_LIST = "CERTIFICATE", "X509 CRL"
_NO_CERTIFICATE = "expected a certificate in PEM, which begins with -----BEGIN CERTIFICATE-----"


class TrustStore:
    """The certificate authorities and revocation lists of deliveries. Entries can be added but not removed."""

    def __init__(self) -> None:
        self._revoked: set[tuple[bytes, int]] = set()
        self._context: ssl.SSLContext | None = None
        self._receiver_contexts: dict[str, ssl.SSLContext] = {}
        self._lock = RLock()  # one thread adds while another sends

    @property
    def context(self) -> ssl.SSLContext:
        """The TLS context for new connections. Authorities that are added later also take effect in this context."""
        import ssl

        with self._lock:
            self._context = self._context or ssl.create_default_context()
            return self._context

    def context_of(self, receiver: str) -> ssl.SSLContext:
        """Return the TLS context for new connections to a receiver, which is named by its host and port."""
        return self._receiver_contexts.get(receiver) or self.context

    def add_for(self, receiver: str, pem: str) -> None:
        """Trust the certificates in a PEM text for one receiver only. Raises ValueError if invalid."""
        import ssl

        certificates = [block[0] for block in _BLOCK.finditer(pem) if block[1] == _CERTIFICATE]
        if not certificates:
            raise ValueError(_NO_CERTIFICATE)
        context = ssl.create_default_context()
        _load(context, certificates)
        with self._lock:
            self._receiver_contexts[receiver] = context

    def add(self, pem: str) -> None:
        """Trust the certificates and apply the revocation lists in a PEM text. Raises ValueError if invalid."""
        blocks = [(block[1], block[0]) for block in _BLOCK.finditer(pem)]
        certificates = [text for label, text in blocks if label == _CERTIFICATE]
        lists = [text for label, text in blocks if label == _REVOCATION_LIST]
        if not certificates and not lists:
            raise ValueError(_NO_CERTIFICATE)
        import ssl

        revoked = {serial for text in lists for serial in _read_revocation_list(text)}
        _load(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), certificates)  # all of them or none
        with self._lock:
            _load(self.context, certificates)
            self._revoked |= revoked

    def is_revoked(self, certificate: bytes | None) -> bool:
        """Return True if a revocation list contains this certificate, which is in DER form."""
        if not self._revoked or certificate is None:
            return False
        from cryptography import x509

        parsed = x509.load_der_x509_certificate(certificate)
        return (parsed.issuer.public_bytes(), parsed.serial_number) in self._revoked


def _load(context: ssl.SSLContext, certificates: list[str]) -> None:
    import ssl

    try:
        if certificates:
            context.load_verify_locations(cadata="\n".join(certificates).encode("ascii", "replace").decode())
    except ssl.SSLError as error:
        raise ValueError(f"a certificate in the text cannot be read: {error.reason or error}") from None


def _read_revocation_list(pem: str) -> set[tuple[bytes, int]]:
    """Return the issuer and serial of each certificate in a PEM revocation list. Raises ValueError if invalid."""
    try:
        from cryptography import x509
    except ImportError:
        raise ValueError("a revocation list needs the package cryptography: pip install cryptography") from None
    try:
        crl = x509.load_pem_x509_crl(pem.encode())
    except ValueError as error:
        raise ValueError(f"a revocation list in the text cannot be read: {error}") from None
    issuer = crl.issuer.public_bytes()
    return {(issuer, revoked.serial_number) for revoked in crl}
