"""Opens a connection to a receiver: parses its address, resolves its host, makes TLS, describes failures."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from threading import Thread
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from ...core.notifications.channels import host_of
from .connection import Connection, NoResponse
from .trust_store import TrustStore

AddrInfo = tuple[Any, Any, int, str, Any]
"""A row of getaddrinfo."""

_SAFE_CHARACTERS = "/%:@!$&'()*+,;=~"
_CONNECT_SECONDS = 2.0  # an address that is silent for so long gives way to the host's next one
_TLS_SHUTDOWN_SECONDS = 1.0


class Endpoint(NamedTuple):
    """Where a message goes; `authority` and `path` as HTTP writes them."""

    host: str
    port: int
    authority: str
    path: str

    def __str__(self) -> str:
        return f"{_bracketed(self.host)}:{self.port}"


@lru_cache(maxsize=1024)
def parse_endpoint(address: str) -> Endpoint:
    """What an address says. Raises ValueError for one that is not https or names no host.

    >>> parse_endpoint("https://[::1]:8443/in?x=ü")
    Endpoint(host='::1', port=8443, authority='[::1]:8443', path='/in?x=%C3%BC')
    """
    parts = urlsplit(address)
    if parts.scheme != "https":
        raise ValueError("messages are sent over https alone")
    host, port = host_of(address), parts.port or 443
    host.encode("idna")  # raises for what no name server can be asked
    if not host:
        raise ValueError("the address names no host")
    path = quote(parts.path or "/", safe=_SAFE_CHARACTERS) + (
        f"?{quote(parts.query, safe=_SAFE_CHARACTERS + '?')}" if parts.query else ""
    )
    return Endpoint(host, port, _bracketed(host) + ("" if port == 443 else f":{port}"), path)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def resolve(target: Endpoint) -> asyncio.Future[list[AddrInfo]]:
    """The places that a host's name stands for, looked up in a thread of its own.

    The event loop's own threads are few and shared: a name server that is silent would hold up every receiver.
    """
    loop = asyncio.get_running_loop()
    addresses: asyncio.Future[list[AddrInfo]] = loop.create_future()

    def settle(report: Callable[[Any], None], outcome: object) -> None:
        if not addresses.done():
            report(outcome)

    def work() -> None:
        report: Callable[[Any], None] = addresses.set_result
        outcome: object
        try:
            outcome = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
        except (OSError, ValueError) as error:
            report, outcome = addresses.set_exception, error
        with suppress(RuntimeError):  # nobody waits any more, the loop is closed
            loop.call_soon_threadsafe(settle, report, outcome)

    addresses.add_done_callback(lambda done: done.cancelled() or done.exception())  # also where nobody waits for it
    Thread(target=work, name="svc-lookup", daemon=True).start()
    return addresses


async def connect(
    target: Endpoint, addresses: Sequence[AddrInfo], trust: TrustStore, make_connection: Callable[[], Connection]
) -> Connection:
    """A line to the first of these places that takes a connection. Raises OSError, ValueError, NoResponse."""
    loop = asyncio.get_running_loop()
    sock = await _connect(addresses)
    try:
        _, connection = await loop.create_connection(
            make_connection,
            sock=sock,
            ssl=trust.context,
            server_hostname=target.host,
            ssl_shutdown_timeout=_TLS_SHUTDOWN_SECONDS,
        )
    except BaseException:
        sock.close()
        raise
    if trust.is_revoked(connection.certificate):
        connection.abort()
        raise NoResponse("shows a certificate that was revoked")
    return connection


async def _connect(addresses: Sequence[AddrInfo]) -> socket.socket:
    failure: Exception = OSError("its name stands for no address")
    for address in addresses:
        patience = None if address is addresses[-1] else _CONNECT_SECONDS
        try:
            async with asyncio.timeout(patience):
                return await _connect_to(address)
        except OSError as error:
            failure = error
    raise failure


async def _connect_to(addr_info: AddrInfo) -> socket.socket:
    family, kind, protocol, _, sock_address = addr_info
    sock = socket.socket(family, kind, protocol)
    try:
        sock.setblocking(False)
        await asyncio.get_running_loop().sock_connect(sock, sock_address)
    except BaseException:
        sock.close()
        raise
    return sock


# By OpenSSL's number of what is wrong with a certificate.
_CERTIFICATE_FAULTS = {
    9: "it is not valid yet",
    10: "it has expired",
    18: "it is self-signed, and not trusted",
    19: "its authority is not trusted (self-signed certificate in certificate chain)",
    20: "its authority is not trusted (unable to get local issuer certificate)",
    21: "its authority is not trusted (unable to verify the first certificate)",
}


def describe_error(error: Exception, target: Endpoint) -> str:
    """What happened, in one sentence."""
    match error:
        case NoResponse():
            return f"{target} {error}"
        case ssl.SSLCertVerificationError():
            return f"the certificate of {target} is not valid: {_certificate_fault(error)}"
        case ssl.SSLError():
            return f"no TLS with {target}: {(error.reason or str(error)).replace('_', ' ').lower()}"
        case socket.gaierror():
            return f"there is no host {target.host}: {_error_text(error)}"
        case ConnectionRefusedError():
            return f"nothing listens at {target}: connection refused"
        case ConnectionError():
            return f"{target} closed the connection without an answer"
    return f"{target} cannot be reached: {_error_text(error)}"


def _error_text(error: Exception) -> str:
    return (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__


def _certificate_fault(error: ssl.SSLCertVerificationError) -> str:
    code = getattr(error, "verify_code", 0)
    return _CERTIFICATE_FAULTS.get(code) or getattr(error, "verify_message", None) or str(error)
