"""Evaluates the headers that state a condition for a request, or that few requests have (RFC 9110, 10.1.1 and 13.1)."""

from __future__ import annotations

import re

from ...core.api.operations import Operation
from ...core.errors.catalogue import refuse
from ...core.http.messages import Headers

CHECKED_HEADERS = frozenset({"content-range", "expect", "if-match", "if-none-match"})
"""The headers of `check_headers` in lower case."""

_ETAG = re.compile(r'(W/)?("[^"]*")')


def lists_etag(headers: Headers, name: str, etag: str | None) -> bool:
    """Return True if If-Match or If-None-Match is `*` or has the etag of a resource, which is None without an etag.

    An etag with the mark W/ counts in If-None-Match only.

    >>> lists_etag(Headers([("If-Match", '"1", W/"2"')]), "If-Match", '"2"')
    False
    """
    text = ",".join(headers.all(name))
    return text.strip() == "*" or etag in [tag for mark, tag in _ETAG.findall(text) if not mark or name != "If-Match"]


def check_conditions(headers: Headers, etag: str | None) -> None:
    """Raise ApiError (412) if a condition forbids the change of a resource with this etag."""
    for name, must_match in (("If-Match", True), ("If-None-Match", False)):
        if name in headers and lists_etag(headers, name, etag) != must_match:
            raise refuse("conditionNotMet", name=name)


def check_headers(headers: Headers, method: str, operation: Operation) -> None:
    """Check the headers of a request outside of an upload session.

    Raises ApiError (400) for a Content-Range, because a part would replace the whole, (412) for a condition on the etag
    of a file, which has none, and (417) for an unknown expectation.
    """
    expectations = ",".join(headers.all("Expect")).lower().split(",")
    if any(text.strip() not in ("", "100-continue") for text in expectations):
        raise refuse("expectation")
    if method in ("POST", "PUT", "PATCH") and "Content-Range" in headers:
        raise refuse("invalidHeader", name="Content-Range", message="only resumable uploads can be sent in parts.")
    if method in ("PUT", "PATCH", "DELETE") and not operation.calendar:
        check_conditions(headers, None)
