"""Evaluates the headers that state a condition for a request, or that few requests have (RFC 9110, 10.1.1 and 13.1)."""

from __future__ import annotations

import re
from hashlib import blake2b

from ...core.api.operations import SESSION, Operation
from ...core.errors.catalogue import refuse
from ...core.http.messages import Headers, Response
from .responses import empty_response

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


def check_conditions(headers: Headers, etag: str | None, *, changes: bool = True) -> None:
    """Raise ApiError (412) if a condition forbids a request for a resource with this etag.

    If-None-Match forbids only changes.
    """
    if "If-Match" in headers and not lists_etag(headers, "If-Match", etag):
        raise refuse("conditionNotMet", name="If-Match")
    if changes and "If-None-Match" in headers and lists_etag(headers, "If-None-Match", etag):
        raise refuse("conditionNotMet", name="If-None-Match")


def check_headers(headers: Headers, method: str, operation: Operation) -> None:
    """Check the headers of a request.

    Raises ApiError (400) for a Content-Range outside of an upload session, because a part would replace the whole,
    (412) for a condition on the etag of a file, which has none, and (417) for an unknown expectation.
    """
    expectations = ",".join(headers.all("Expect")).lower().split(",")
    if any(text.strip() not in ("", "100-continue") for text in expectations):
        raise refuse("expectation")
    if method in ("POST", "PUT", "PATCH") and "Content-Range" in headers and operation is not SESSION:
        raise refuse("invalidHeader", name="Content-Range", message="only resumable uploads can be sent in parts.")
    if method != "POST" and not operation.calendar:
        check_conditions(headers, None, changes=method not in ("GET", "HEAD"))


def with_etag(response: Response, headers: Headers) -> Response:
    """Return a response with an ETag that is computed from its body, or 304 if the request has this etag."""
    etag = f'"{blake2b(response.content(), digest_size=15).hexdigest()}"'
    if "If-None-Match" in headers and lists_etag(headers, "If-None-Match", etag):
        return empty_response(304, [("ETag", etag)])
    return Response(response.status, response.headers.plus(("ETag", etag)), response.body)
