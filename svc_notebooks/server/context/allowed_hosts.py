"""Checks that the Host of a request names this service.

A web page can make the name of its own host resolve to this machine (DNS rebinding). The browser then treats this
service as a part of that page, and only the Host header shows the difference.
"""

from __future__ import annotations

import socket
from functools import cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import urlsplit

from ...core.errors.catalogue import refuse
from ...core.http.messages import Request
from ...core.http.origins import ANY, host_of
from .service_context import ServiceContext

_LOCALHOST = "localhost"


def check_host(request: Request, context: ServiceContext) -> None:
    """Refuse a Host that does not name this service. Raises ApiError (403).

    A request without a Host does not come from a browser, and passes.
    """
    authority = request.headers.get("Host")
    if authority is None or ANY in context.policy.host_names:
        return
    host, allowed = host_of(authority), [name.lower() for name in context.policy.host_names]
    base = host_of(urlsplit(context.base_url).netloc) if context.base_url else None
    if not host or (host not in (*allowed, base) and not _is_listening(host, urlsplit(request.url).hostname or "")):
        raise refuse("foreignHost", host=authority[:100])


def _is_listening(host: str, listening: str) -> bool:
    """Return whether a host is a name of the server that listens at `listening`.

    A server that listens at all addresses (0.0.0.0) accepts every IP address. A container does not know the address
    of its published port, and an address, unlike a name, cannot be rebound.
    """
    own, requested = _address(listening), _address(host)
    if host == listening:
        return True
    if own is None or not (own.is_loopback or own.is_unspecified):
        return False
    if own.is_loopback:
        return host == _LOCALHOST or bool(requested and requested.is_loopback)
    return requested is not None or host in (_LOCALHOST, _host_name())


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


@cache
def _host_name() -> str:
    return socket.gethostname().lower()
