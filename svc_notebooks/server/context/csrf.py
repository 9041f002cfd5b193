"""Refuses requests that a web page of another site makes a browser send (CSRF, DNS rebinding).

The checks protect the control interface and the pages that a browser opens with a cookie, because both need no access
token. A browser names the origin of a request in the headers Origin and Sec-Fetch-Site. Other programs send neither
header, so the checks accept their requests.

A web page can also make the name of its own host resolve to this machine (DNS rebinding). Only the Host header shows
this.
"""

from __future__ import annotations

import socket
from functools import cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import urlsplit

from ...core.errors.catalogue import refuse
from ...core.http.messages import Request
from ...core.http.origins import ANY, host_of
from .external_origin import external_base_url, external_origin
from .service_context import ServiceContext

_LOCALHOST = "localhost"
_SAME_SITE = ("same-origin", "none")
"""Accepted values of Sec-Fetch-Site. `same-site` is missing, because pages on other ports of the host send it."""


def check_page(request: Request, operation: str, context: ServiceContext) -> None:
    """Refuse a request that another site sends to a page, unless the request only opens the page.

    Any site may link to a page with GET. But the link to the consent page must open in a browser window, because a
    consent request with prompt=none returns a code at once. Raises ApiError (403).
    """
    check_host(request, context)
    headers = request.headers
    is_link = (headers.get("Sec-Fetch-Mode"), headers.get("Sec-Fetch-Dest")) == ("navigate", "document")
    if request.method not in ("GET", "HEAD") or (operation == "oauth.authorize" and not is_link):
        check_same_origin(request, context)


def check_same_origin(request: Request, context: ServiceContext, *, configured: bool = False) -> None:
    """Refuse a request from a page of another origin. Raises ApiError (403).

    If `configured`, the origin must be an address of `own_base_url`, also if the policy accepts every host name.
    """
    origin = request.headers.get("Origin")
    own = own_base_url(request, context) if configured else external_origin(request, context)
    # Without the scheme, which a proxy may have changed; `null` has no authority.
    if origin is not None and origin.partition("://")[2] != urlsplit(own).netloc:
        raise refuse("foreignOrigin", origin=origin[:100])
    site = request.headers.get("Sec-Fetch-Site", "none")
    if site not in _SAME_SITE:
        raise refuse("foreignOrigin", origin=f"Sec-Fetch-Site: {site[:20]}")


def check_host(request: Request, context: ServiceContext) -> None:
    """Raise ApiError (403) if the Host header names another host. A missing Host header is accepted."""
    authority = request.headers.get("Host")
    if authority is None or ANY in context.policy.host_names:
        return
    host, base = host_of(authority), host_of(urlsplit(context.base_url).netloc) if context.base_url else None
    is_known = host == base or _is_configured(host, context)
    if not host or not (is_known or _is_listening(host, urlsplit(request.url).hostname or "", addresses=True)):
        raise refuse("foreignHost", host=authority[:100])


def own_base_url(request: Request, context: ServiceContext) -> str:
    """Return the base URL of the service, which does not depend on what a client sends.

    It is the configured one, or that of the address on which the service listens. Headers only choose one of the names
    of this address, and one of the configured host names. Raises ApiError (400) for an invalid Host.
    """
    requested, listening = urlsplit(external_origin(request, context)), urlsplit(request.url)
    name, is_port = requested.hostname or "", requested.port == listening.port
    is_own = _is_configured(name, context) and (is_port or requested.port is None)
    if context.base_url or is_own or (is_port and _is_listening(name, listening.hostname or "", addresses=False)):
        return external_base_url(request, context)
    return request.origin + context.policy.path_prefix


def _is_configured(host: str, context: ServiceContext) -> bool:
    return host in [name.lower() for name in context.policy.host_names if name != ANY]


def _is_listening(host: str, listening: str, *, addresses: bool) -> bool:
    """Return True if `host` is a name or an address of the server that listens at the address `listening`.

    With `addresses`, a server that listens at all addresses (0.0.0.0) accepts every IP address. A container does not
    know the address of its published port, and an IP address, unlike a name, cannot be rebound.
    """
    own, requested = _address(listening), _address(host)
    if host == listening:
        return True
    if own is None or not (own.is_loopback or own.is_unspecified):
        return False
    if own.is_loopback:
        return host == _LOCALHOST or bool(requested and requested.is_loopback)
    is_address = requested is not None and (addresses or requested.is_loopback)
    return is_address or host in (_LOCALHOST, _host_name())


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


@cache
def _host_name() -> str:
    return socket.gethostname().lower()
