"""Creates TLS certificates for receivers and servers on this machine with the package trustme."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...core.http.origins import ANY
from ...core.processes import temporary_folder

_HOSTS = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Authority:
    """A certificate authority that exists only in this process."""

    _ca: Any

    @property
    def ca_pem(self) -> str:
        """The certificate of the authority as PEM text, with which clients verify the server certificates."""
        pem: bytes = self._ca.cert_pem.bytes()
        return pem.decode("ascii")

    def context(self, *hosts: str) -> ssl.SSLContext:
        """Return a server-side TLS context with a new certificate for the given hosts, or for localhost by default."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._ca.issue_cert(*(hosts or _HOSTS)).configure_cert(context)
        return context


def make_authority() -> Authority:
    """Create a certificate authority with a new private key. Raises ImportError if trustme is not installed."""
    try:
        import trustme
    except ImportError:
        raise ImportError(
            "certificates need the package trustme: pip install 'svc-notebooks[push]'; or pass"
            " certificate=(certificate file, key file)"
        ) from None
    return Authority(trustme.CA())


@contextmanager
def tls_for(*hosts: str) -> Iterator[tuple[ssl.SSLContext, Path]]:
    """Yield a server-side TLS context for these hosts and this machine, and the path of a PEM file for clients.

    The wildcard "*" of `Policy(host_names=...)` is not a host. Raises ImportError without trustme.
    """
    authority = make_authority()
    with temporary_folder("svc-ca-") as folder:
        folder.chmod(0o755)
        ca = folder / "ca.pem"
        ca.write_text(authority.ca_pem)
        ca.chmod(0o644)
        yield authority.context(*dict.fromkeys((*(host for host in hosts if host != ANY), *_HOSTS))), ca
