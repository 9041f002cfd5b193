"""Finds the address under which the client reaches this service, for the links in responses (edge case 4).

A proxy may serve this service below a path, the `path_prefix` of the policy. Links always have this prefix. Requests
may have it or not, because some proxies remove the prefix and others do not.
"""

from __future__ import annotations

import re
from dataclasses import replace
from urllib.parse import urlsplit

from ...core.errors.catalogue import refuse
from ...core.http.messages import Request
from ...core.http.origins import is_in_networks
from .service_context import ServiceContext

_HOST = re.compile(r"(?:[A-Za-z0-9._~%-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?")
_PAIR = re.compile(r'(proto|host)\s*=\s*("[^"]*"|[^;,\s]+)', re.IGNORECASE)
_FORWARDED = frozenset({"forwarded", "x-forwarded-proto", "x-forwarded-host"})
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}


def external_base_url(request: Request, context: ServiceContext) -> str:
    """Return the base URL at which clients reach the service. Raises ApiError (400) for an invalid Host."""
    if context.base_url:
        return context.base_url.rstrip("/")
    return external_origin(request, context) + context.policy.path_prefix


def external_origin(request: Request, context: ServiceContext) -> str:
    """Return the origin at which clients reach the service. Raises ApiError (400) for an invalid Host."""
    if context.base_url:
        scheme, host, *_ = urlsplit(context.base_url)
        return f"{scheme}://{host}"
    scheme, _, host = request.origin.partition("://")
    headers = request.headers.by_name()
    host = request.headers.get("Host") or host
    from_proxy = context.policy.trust_forwarded or is_in_networks(request.client, context.policy.proxies)
    if from_proxy and not _FORWARDED.isdisjoint(headers):
        # The proxy next to the client wrote the first element of each header.
        forwarded, proto, forwarded_host = (
            (request.headers.get(name) or "").split(",")[0].strip()
            for name in ("Forwarded", "X-Forwarded-Proto", "X-Forwarded-Host")
        )
        parameters = {key.lower(): value.strip('"') for key, value in _PAIR.findall(forwarded)}
        scheme = (parameters.get("proto") or proto or scheme).lower()
        scheme = scheme if scheme in _DEFAULT_PORTS else "http"
        host = parameters.get("host") or forwarded_host or host
    if not _HOST.fullmatch(host):
        raise refuse("invalidHeader", name="Host", message="expected a host name with an optional port.")
    return f"{scheme}://{host.removesuffix(_DEFAULT_PORTS.get(scheme, ':80'))}"


def without_prefix(request: Request, prefix: str) -> Request:
    """Return a request whose URL has no path prefix. Return the same request if its URL does not have the prefix.

    >>> without_prefix(Request("GET", "http://hub.example/services/svc/token?a=1"), "/services/svc").url
    'http://hub.example/token?a=1'
    """
    parts = urlsplit(request.url)
    if not prefix or not f"{parts.path}/".startswith(f"{prefix}/"):
        return request
    return replace(request, url=parts._replace(path=parts.path[len(prefix) :] or "/").geturl())
