"""Creates TLS certificates for receivers and servers on this machine with the package trustme."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ...core.http.origins import ANY
from ...core.platform import temporary_folder

_HOSTS = ("localhost", "127.0.0.1", "::1")


def server_context(*hosts: str) -> tuple[ssl.SSLContext, str]:
    """Return a server-side TLS context for these hosts, and the certificate of its new authority as PEM text.

    Raises ImportError if trustme is not installed.
    """
    try:
        import trustme
    except ImportError:
        raise ImportError(
            "certificates need the package trustme: pip install 'svc-notebooks[push]'; or pass"
            " certificate=(certificate file, key file)"
        ) from None
    authority, context = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*hosts).configure_cert(context)
    return context, authority.cert_pem.bytes().decode("ascii")


@contextmanager
def tls_for(*hosts: str) -> Iterator[tuple[ssl.SSLContext, Path]]:
    """Yield a server-side TLS context for these hosts and this machine, and the path of a PEM file for clients.

    The wildcard "*" of `Policy(host_names=...)` is not a host. Raises ImportError without trustme.
    """
    context, ca_pem = server_context(*dict.fromkeys((*(host for host in hosts if host != ANY), *_HOSTS)))
    with temporary_folder("svc-ca-") as folder:
        folder.chmod(0o755)
        ca = folder / "ca.pem"
        ca.write_text(ca_pem)
        ca.chmod(0o644)
        yield context, ca
