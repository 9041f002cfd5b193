"""Finds the origin at which the client reaches this service, for the links in responses (edge case 4)."""

from __future__ import annotations

import re

from ...core.errors.catalogue import refuse
from ...core.http.messages import Headers, Request
from .service_context import ServiceContext

_HOST = re.compile(r"(?:[A-Za-z0-9._~%-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?")
_PAIR = re.compile(r'(proto|host)\s*=\s*("[^"]*"|[^;,\s]+)', re.IGNORECASE)
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}


def external_origin(request: Request, context: ServiceContext) -> str:
    """Scheme and authority as the client wrote them. Raises ApiError (400) for a Host that is none."""
    if context.base_url:
        return context.base_url.rstrip("/")
    scheme, _, host = request.origin.partition("://")
    host = request.headers.get("Host") or host
    if context.policy.trust_forwarded:
        scheme, host = _forwarded(request.headers, scheme, host)
    return f"{scheme}://{_authority(scheme, host)}"


def _forwarded(headers: Headers, scheme: str, host: str) -> tuple[str, str]:
    """The nearest client's words: the first element of each header counts."""
    parameters = {key.lower(): value.strip('"') for key, value in _PAIR.findall(_first(headers.get("Forwarded")))}
    scheme = parameters.get("proto") or _first(headers.get("X-Forwarded-Proto")) or scheme
    host = parameters.get("host") or _first(headers.get("X-Forwarded-Host")) or host
    return (scheme.lower() if scheme.lower() in _DEFAULT_PORTS else "http"), host


def _first(value: str | None) -> str:
    return (value or "").split(",")[0].strip()


def _authority(scheme: str, host: str) -> str:
    if not _HOST.fullmatch(host):
        raise refuse("invalidHeader", name="Host", message="expected a host name with an optional port.")
    return host.removesuffix(_DEFAULT_PORTS.get(scheme, ":80"))
