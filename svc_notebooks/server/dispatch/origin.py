"""Checks the Host and the Origin of a request (CSRF, CORS)."""

from __future__ import annotations

import socket
from collections.abc import Iterable
from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import urlsplit

from ...core.errors.catalogue import refuse
from ...core.http.messages import Request, Response
from ...core.http.origins import ANY, host_of
from .requests_and_responses import empty_response
from .service_context import ServiceContext, external_base_url, external_origin


def without_prefix(request: Request, prefix: str) -> Request:
    """Return a request whose URL has no path prefix. Return the same request if its URL does not have the prefix.

    >>> without_prefix(Request("GET", "http://hub.example/services/svc/token?a=1"), "/services/svc").url
    'http://hub.example/token?a=1'
    """
    parts = urlsplit(request.url)
    if not prefix or not f"{parts.path}/".startswith(f"{prefix}/"):
        return request
    return replace(request, url=parts._replace(path=parts.path[len(prefix) :] or "/").geturl())


_LOCALHOST = "localhost"
# Accepted values of Sec-Fetch-Site. `same-site` is missing, because pages on other ports of the host send it.
_SAME_SITE = ("same-origin", "none")


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
    return is_address or host in (_LOCALHOST, socket.gethostname().lower())


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


ALLOWED = "Access-Control-Allow-Origin"

# The response headers that a page may read in addition to the headers that CORS always allows.
_EXPOSED = (
    "Accept-Ranges", "Content-Disposition", "Content-Length", "Content-Range", "ETag", "Location", "Range",
    "Retry-After", "WWW-Authenticate",
)  # fmt: skip

# The seconds for which a browser may cache a preflight response. This is the maximum that Chromium accepts.
_MAX_AGE = "7200"


def preflight(request: Request, methods: Iterable[str], context: ServiceContext) -> Response:
    """Return the response to a CORS preflight. Raises ApiError (403) for an origin that is not allowed.

    All request headers are allowed, because the access token alone decides the rights of a request.
    """
    origin = request.headers["Origin"]
    if not _allow_origin(origin, context):
        raise refuse("foreignOrigin", decided_by="allowed_origins", origin=origin[:100])
    requested = request.headers.get("Access-Control-Request-Headers")
    headers = [("Access-Control-Allow-Methods", ", ".join(methods)), ("Access-Control-Max-Age", _MAX_AGE)]
    if requested:
        headers.append(("Access-Control-Allow-Headers", requested))
    return empty_response(204, headers)


def with_origin(response: Response, origin: str, context: ServiceContext) -> Response:
    """Return a response with CORS headers, which let pages of `origin` read the response if the origin is allowed."""
    allowed = _allow_origin(origin, context)
    headers = [] if allowed == ANY else [("Vary", "Origin")]
    if allowed:
        headers += [(ALLOWED, allowed), ("Access-Control-Expose-Headers", ", ".join(_EXPOSED))]
    return Response(response.status, response.headers.plus(*headers), response.body)


def _allow_origin(origin: str, context: ServiceContext) -> str:
    """Return the value of Access-Control-Allow-Origin, or "" for a refused origin.

    By default all origins are allowed. If the service has a seed, only origins on this machine are allowed, because
    anybody can compute seeded tokens, and a page of the internet could try them on this machine.
    """
    origins = context.policy.allowed_origins
    if origins is None and context.ids.seed is not None:
        host = host_of(origin.partition("://")[2]) or ""
        return origin if host == _LOCALHOST or ((address := _address(host)) and address.is_loopback) else ""
    if origins is None:
        return ANY
    return ANY if ANY in origins else origin if origin in origins else ""
