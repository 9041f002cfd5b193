"""Creates certificates for receivers and servers on this machine. No other module imports trustme.

The keys never leave this process; clients trust the certificate of the authority.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...core.process_fork import temporary_folder

_HOSTS = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Authority:
    """A certificate authority of this process."""

    _ca: Any

    @property
    def ca_pem(self) -> str:
        """The authority's certificate in PEM, for clients to trust."""
        pem: bytes = self._ca.cert_pem.bytes()
        return pem.decode("ascii")

    def context(self, *hosts: str) -> ssl.SSLContext:
        """Return the TLS context of a server with these host names, or with those of this machine."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._ca.issue_cert(*(hosts or _HOSTS)).configure_cert(context)
        return context


def make_authority() -> Authority:
    """Create an authority. Raises ImportError if trustme is not installed."""
    try:
        import trustme
    except ImportError:
        raise ImportError(
            "certificates need the package trustme: pip install 'svc-notebooks[push]'; or give your own with"
            " certificate=(certificate file, key file)"
        ) from None
    return Authority(trustme.CA())


@contextmanager
def tls_for(host: str) -> Iterator[tuple[ssl.SSLContext, Path]]:
    """Yield the TLS context of a server on this host, and the path of a file with the authority's certificate.

    All users of the machine can read the file, which is removed at the end. Raises ImportError if trustme is not
    installed.
    """
    authority = make_authority()
    with temporary_folder("svc-ca-") as folder:
        folder.chmod(0o755)
        ca = folder / "ca.pem"
        ca.write_text(authority.ca_pem)
        ca.chmod(0o644)
        yield authority.context(*dict.fromkeys((host, *_HOSTS))), ca
