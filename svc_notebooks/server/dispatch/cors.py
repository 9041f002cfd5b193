"""CORS: how a browser learns that a page of another origin may use the interface.

It is for addresses where an access token, a code or a secret of the request itself says who asks. A browser adds none
of these to the request of a foreign page by itself. No answer ever allows credentials, which are cookies.
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
"""What of an answer a page may read beside the few headers that every page may."""

_MAX_AGE = "7200"
"""Seconds for which a browser may keep the answer to a preflight: chromium keeps none longer."""


def is_preflight(request: Request) -> bool:
    """Whether a browser asks beforehand what a page may send; the request has an Origin."""
    return request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers


def preflight(request: Request, methods: Iterable[str], context: ServiceContext) -> Response:
    """The answer to a preflight. Raises ApiError (403) for an origin that is not allowed.

    Every header may be sent: what a request may do depends on its access token alone.
    """
    if not _allowed(request.headers["Origin"], context):
        raise refuse("foreignOrigin", decided_by="allowed_origins", origin=request.headers["Origin"][:100])
    requested = request.headers.get("Access-Control-Request-Headers")
    headers = [("Access-Control-Allow-Methods", ", ".join(methods)), ("Access-Control-Max-Age", _MAX_AGE)]
    if requested:
        headers.append(("Access-Control-Allow-Headers", requested))
    return empty_response(204, headers)


def with_origin(response: Response, origin: str, context: ServiceContext) -> Response:
    """An answer with what a page of this origin may read of it."""
    allowed = _allowed(origin, context)
    headers = [] if allowed == ANY else [("Vary", "Origin")]
    if allowed:
        headers += [(ALLOWED, allowed), ("Access-Control-Expose-Headers", ", ".join(_EXPOSED))]
    return Response(response.status, response.headers.plus(*headers), response.body)


def _allowed(origin: str, context: ServiceContext) -> str:
    """What the answer says of an origin: it is allowed, all are (`*`), or "" for neither."""
    origins = allowed_origins(context)
    return ANY if ANY in origins else origin if origin in origins else ""


def allowed_origins(context: ServiceContext) -> tuple[str, ...]:
    """The origins whose pages may use the interface.

    Unless the policy says so these are all, or none where a seed makes the access tokens: anybody can work those out.
    """
    if context.policy.allowed_origins is not None:
        return context.policy.allowed_origins
    return (ANY,) if context.ids.seed is None else ()
