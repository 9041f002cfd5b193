"""Adds the CORS headers by which a browser lets a page of another origin use the interface.

They are for addresses where the request itself carries an access token, a code or a secret. A browser adds none of
these to the request of a foreign page by itself. No response ever allows credentials, which are cookies.
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
"""The response headers that a page may read in addition to the few that every page may."""

_MAX_AGE = "7200"
"""Seconds for which a browser may cache a preflight. Chromium caches none longer."""


def is_preflight(request: Request) -> bool:
    """Return whether a request with an Origin is the preflight of a browser."""
    return request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers


def preflight(request: Request, methods: Iterable[str], context: ServiceContext) -> Response:
    """Return the response to a preflight. Raises ApiError (403) for an origin that is not allowed.

    Every header may be sent, because the access token alone decides the rights of a request.
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
    """Return a response with the headers that tell a page of this origin what it may read."""
    allowed = _allow_origin(origin, context)
    headers = [] if allowed == ANY else [("Vary", "Origin")]
    if allowed:
        headers += [(ALLOWED, allowed), ("Access-Control-Expose-Headers", ", ".join(_EXPOSED))]
    return Response(response.status, response.headers.plus(*headers), response.body)


def _allow_origin(origin: str, context: ServiceContext) -> str:
    """Return the value of Access-Control-Allow-Origin, "" for an origin that is not allowed.

    Without a policy all origins are allowed, or none where a seed makes the access tokens, since anybody can compute
    those.
    """
    origins = context.policy.allowed_origins
    if origins is None:
        return ANY if context.ids.seed is None else ""
    return ANY if ANY in origins else origin if origin in origins else ""
