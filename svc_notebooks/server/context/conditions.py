"""Evaluates the conditions of a request on the etag of its resource (RFC 9110, 13.1)."""

from __future__ import annotations

import re

from ...core.errors.catalogue import refuse
from ...core.http.messages import Headers

_ETAG = re.compile(r'(W/)?("[^"]*")')
_REASONS = {
    "If-Match": "the resource has another etag, because it was changed in the meantime, or it has none.",
    "If-None-Match": "the resource exists, and the header is * or has its etag.",
}


def lists_etag(headers: Headers, name: str, etag: str | None, *, weak: bool) -> bool:
    """Return True if the header `name` is `*` or has the etag of a resource, which is None for a resource without one.

    An etag with the mark W/ counts only if `weak` is true.

    >>> lists_etag(Headers([("If-Match", '"1", W/"2"')]), "If-Match", '"2"', weak=False)
    False
    """
    text = ",".join(headers.all(name))
    return text.strip() == "*" or etag in [tag for mark, tag in _ETAG.findall(text) if weak or not mark]


def check_conditions(headers: Headers, etag: str | None) -> None:
    """Raise ApiError (412) if a condition forbids the change of a resource with this etag."""
    for name in ("If-Match", "If-None-Match"):
        is_weak = name == "If-None-Match"
        if name in headers and lists_etag(headers, name, etag, weak=is_weak) == is_weak:
            raise refuse("conditionNotMet", name=name, message=_REASONS[name])
