"""Opens a connection to a receiver, which includes address parsing, DNS, TLS and error messages."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Thread
from typing import Any

from .endpoints import Endpoint
from .receiver_connection import Connection, NoResponse
from .trust_store import TrustStore

AddrInfo = tuple[Any, Any, int, str, Any]
"""A row of getaddrinfo."""

_CONNECT_SECONDS = 2.0  # after this time, the next address of the host is tried
_TLS_SHUTDOWN_SECONDS = 1.0


def resolve(target: Endpoint) -> asyncio.Future[list[AddrInfo]]:
    """Look up a host's IP addresses in a new thread, because a silent name server would block the shared threads."""
    loop = asyncio.get_running_loop()
    addresses: asyncio.Future[list[AddrInfo]] = loop.create_future()

    def set_outcome(outcome: list[AddrInfo] | Exception) -> None:
        if addresses.done():
            return
        if isinstance(outcome, Exception):
            addresses.set_exception(outcome)
        else:
            addresses.set_result(outcome)

    def look_up() -> None:
        outcome: list[AddrInfo] | Exception
        try:
            outcome = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
        except (OSError, ValueError) as error:
            outcome = error
        with suppress(RuntimeError):  # the loop is closed, so no task waits for the result
            loop.call_soon_threadsafe(set_outcome, outcome)

    addresses.add_done_callback(lambda done: done.cancelled() or done.exception())  # or asyncio warns of unread errors
    Thread(target=look_up, name="svc-lookup", daemon=True).start()
    return addresses


async def connect(
    target: Endpoint, addresses: Sequence[AddrInfo], trust: TrustStore, make_connection: Callable[[], Connection]
) -> Connection:
    """Connect to the first address that accepts, start TLS and return the connection.

    Raises OSError if no address accepts or TLS fails, ValueError for an invalid host name, and NoResponse for a revoked
    certificate.
    """
    loop = asyncio.get_running_loop()
    sock = await _connect_socket(addresses)
    try:
        _, connection = await loop.create_connection(
            make_connection,
            sock=sock,
            ssl=trust.context_of(str(target)),
            server_hostname=target.host,
            ssl_shutdown_timeout=_TLS_SHUTDOWN_SECONDS,
        )
    except BaseException:
        sock.close()
        raise
    if trust.is_revoked(connection.certificate):
        connection.abort()
        raise NoResponse("uses a revoked certificate")
    return connection


async def _connect_socket(addresses: Sequence[AddrInfo]) -> socket.socket:
    failure: Exception = OSError("the host name has no address")
    for address in addresses:
        family, kind, protocol, _, sock_address = address
        seconds = None if address is addresses[-1] else _CONNECT_SECONDS
        try:
            sock = socket.socket(family, kind, protocol)
            try:
                sock.setblocking(False)
                async with asyncio.timeout(seconds):
                    await asyncio.get_running_loop().sock_connect(sock, sock_address)
                return sock
            except BaseException:
                sock.close()
                raise
        except OSError as error:
            failure = error
    raise failure


# The keys are OpenSSL's error numbers for invalid certificates (X509_V_ERR_*).
_CERTIFICATE_FAULTS = {
    9: "the certificate is not valid yet",
    10: "the certificate has expired",
    18: "the certificate is self-signed and not trusted",
    19: "the certificate authority is not trusted (self-signed certificate in certificate chain)",
    20: "the certificate authority is not trusted (unable to get local issuer certificate)",
    21: "the certificate authority is not trusted (unable to verify the first certificate)",
}


def describe_error(error: Exception, target: Endpoint) -> str:
    """Return one sentence about a failed delivery, with the address of the receiver."""
    text = (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__
    match error:
        case NoResponse():
            return f"{target} {error}"
        case ssl.SSLCertVerificationError():
            fault = _CERTIFICATE_FAULTS.get(getattr(error, "verify_code", 0))
            fault = fault or getattr(error, "verify_message", None) or str(error)
            return f"the certificate of {target} is not valid: {fault}"
        case ssl.SSLError():
            return f"the TLS connection to {target} failed: {(error.reason or str(error)).replace('_', ' ').lower()}"
        case socket.gaierror():
            return f"the host {target.host} was not found: {text}"
        case ConnectionRefusedError():
            return f"nothing listens at {target}: connection refused"
        case ConnectionError():
            return f"{target} closed the connection without a response"
    return f"{target} cannot be reached: {text}"
