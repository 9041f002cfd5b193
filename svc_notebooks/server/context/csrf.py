"""Refuses requests that a web page of another site makes a browser send (CSRF).

It matters where no access token is asked for: at the control interface, and at the pages that a browser opens with
a cookie. Browsers say where a request comes from in Origin and Sec-Fetch-Site. Programs send neither, and pass.
"""

from __future__ import annotations

from ...core.errors.catalogue import refuse
from ...core.http.messages import Request
from .allowed_hosts import check_host
from .external_origin import external_origin
from .service_context import ServiceContext

_SAME_SITE = ("same-origin", "none")
"""Values of Sec-Fetch-Site for our own pages, and for what a person typed. `same-site` is another port of the host."""


def check_page(request: Request, operation: str, context: ServiceContext) -> None:
    """Refuse what another site sends to one of our pages to change something. Raises ApiError (403).

    Anybody may link to a page. A link to the page of consent must be followed by a person, since a client that asks
    with prompt=none gets its code at once.
    """
    check_host(request, context)
    if request.method not in ("GET", "HEAD") or (operation == "oauth.authorize" and not _is_link(request)):
        check_same_origin(request, context)


def check_same_origin(request: Request, context: ServiceContext) -> None:
    """Refuse a request that a page of another origin has sent. Raises ApiError (403)."""
    origin = request.headers.get("Origin")
    if origin is not None and _authority(origin) != _authority(external_origin(request, context)):
        raise refuse("foreignOrigin", origin=origin[:100])
    site = request.headers.get("Sec-Fetch-Site", "none")
    if site not in _SAME_SITE:
        raise refuse("foreignOrigin", origin=f"Sec-Fetch-Site: {site[:20]}")


def _authority(origin: str) -> str:
    """What stands behind the scheme, which a proxy may have changed; "" for `null`."""
    return origin.partition("://")[2]


def _is_link(request: Request) -> bool:
    """Whether a person follows a link in a window of the browser, as opposed to a script, an image or a frame."""
    headers = request.headers
    return (headers.get("Sec-Fetch-Mode"), headers.get("Sec-Fetch-Dest")) == ("navigate", "document")
