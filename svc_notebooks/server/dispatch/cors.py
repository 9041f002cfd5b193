"""Adds the CORS headers that let a web page of another origin use the interface from a browser.

The headers are sent only at addresses where the request itself carries an access token, a code or a secret. A browser
never adds these to a request of a foreign page by itself. No response allows credentials (cookies).
"""

from __future__ import annotations

from collections.abc import Iterable

from ...core.errors.catalogue import refuse
from ...core.http.messages import Request, Response
from ...core.http.origins import ANY
from ..context.responses import empty_response
from ..context.service_context import ServiceContext

ALLOWED = "Access-Control-Allow-Origin"

_EXPOSED = (
    "Accept-Ranges", "Content-Disposition", "Content-Length", "Content-Range", "ETag", "Location", "Range",
    "Retry-After", "WWW-Authenticate",
)  # fmt: skip
"""The response headers that a page may read in addition to the headers that CORS always allows."""

_MAX_AGE = "7200"
"""The seconds for which a browser may cache a preflight response. This is the maximum that Chromium accepts."""


def is_preflight(request: Request) -> bool:
    """Return True if a request, which has an Origin header, is a CORS preflight."""
    return request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers


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

    By default all origins are allowed, or none if the service has a seed, because anybody can compute seeded tokens.
    """
    origins = context.policy.allowed_origins
    if origins is None:
        return ANY if context.ids.seed is None else ""
    return ANY if ANY in origins else origin if origin in origins else ""
