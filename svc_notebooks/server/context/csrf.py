"""Refuses requests that a web page of another site makes a browser send (CSRF, DNS rebinding).

This protects the addresses without an access token, which are the control interface and the pages that a browser
opens with a cookie. A browser names the origin of a request in Origin and Sec-Fetch-Site. Programs send neither, and
pass.

A web page can also make the name of its own host resolve to this machine (DNS rebinding). The browser then treats this
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
from .external_origin import external_origin
from .service_context import ServiceContext

_LOCALHOST = "localhost"
_SAME_SITE = ("same-origin", "none")
"""Values of Sec-Fetch-Site for our own pages and for a typed address. `same-site` is another port of the host."""


def check_page(request: Request, operation: str, context: ServiceContext) -> None:
    """Refuse a request of another site that could change something at one of our pages. Raises ApiError (403).

    Any site may link to a page. The link to the consent page must be followed by a person in a browser window, because
    a request with prompt=none returns a code at once.
    """
    check_host(request, context)
    headers = request.headers
    is_link = (headers.get("Sec-Fetch-Mode"), headers.get("Sec-Fetch-Dest")) == ("navigate", "document")
    if request.method not in ("GET", "HEAD") or (operation == "oauth.authorize" and not is_link):
        check_same_origin(request, context)


def check_same_origin(request: Request, context: ServiceContext) -> None:
    """Refuse a request from a page of another origin. Raises ApiError (403)."""
    origin = request.headers.get("Origin")
    # Without the scheme, which a proxy may have changed; `null` has no authority.
    if origin is not None and origin.partition("://")[2] != external_origin(request, context).partition("://")[2]:
        raise refuse("foreignOrigin", origin=origin[:100])
    site = request.headers.get("Sec-Fetch-Site", "none")
    if site not in _SAME_SITE:
        raise refuse("foreignOrigin", origin=f"Sec-Fetch-Site: {site[:20]}")


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
