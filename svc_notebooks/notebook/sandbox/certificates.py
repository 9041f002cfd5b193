"""Certificates of our own, for receivers and servers on this machine: the one file that knows trustme.

The keys never leave this process; the authority's certificate is what others are told to trust.
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
    """A certificate authority that this process made."""

    _ca: Any

    @property
    def ca_pem(self) -> str:
        """The certificate to trust, in PEM."""
        pem: bytes = self._ca.cert_pem.bytes()
        return pem.decode("ascii")

    def context(self, *hosts: str) -> ssl.SSLContext:
        """What a server needs to be believed to be these hosts; this machine without any."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._ca.issue_cert(*(hosts or _HOSTS)).configure_cert(context)
        return context


def make_authority() -> Authority:
    """A new authority. Raises ImportError where trustme is not installed."""
    try:
        import trustme
    except ImportError:
        raise ImportError(
            "certificates need the package trustme: pip install 'svc-notebooks[push]'; or give your own, as"
            " certificate=(certificate file, key file)"
        ) from None
    return Authority(trustme.CA())


@contextmanager
def tls_for(host: str) -> Iterator[tuple[ssl.SSLContext, Path]]:
    """What a server on this host needs, and a file with the authority to trust, that is gone in the end.

    Anybody may read the file. Raises ImportError where trustme is not installed.
    """
    authority = make_authority()
    with temporary_folder("svc-ca-") as folder:
        folder.chmod(0o755)
        ca = folder / "ca.pem"
        ca.write_text(authority.ca_pem)
        ca.chmod(0o644)
        yield authority.context(*dict.fromkeys((host, *_HOSTS))), ca
