"""Refuses requests that a web page of another site makes a browser send (CSRF).

This protects the addresses without an access token, which are the control interface and the pages that a browser
opens with a cookie. A browser names the origin of a request in Origin and Sec-Fetch-Site. Programs send neither, and
pass.
"""

from __future__ import annotations

from ...core.errors.catalogue import refuse
from ...core.http.messages import Request
from .allowed_hosts import check_host
from .external_origin import external_origin
from .service_context import ServiceContext

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
