"""Refuses headers that few requests have, and that the service cannot obey (RFC 9110, 10.1.1, 13.1 and 14.4)."""

from __future__ import annotations

from ...core.api.operations import Operation
from ...core.errors.catalogue import refuse
from ...core.http.messages import Headers
from ..context.conditions import check_conditions

CHECKED = frozenset({"content-range", "expect", "if-match", "if-none-match"})
"""The headers that are checked, in lower case. Content-Range is a header of upload sessions, which are not checked."""


def check_headers(headers: Headers, method: str, operation: Operation) -> None:
    """Check the headers of a request outside of an upload session.

    Raises ApiError (400) for a Content-Range, because a part would replace the whole, (412) for a condition on the etag
    of a resource that has none, and (417) for an unknown expectation.
    """
    expectations = ",".join(headers.all("Expect")).lower().split(",")
    if any(text.strip() not in ("", "100-continue") for text in expectations):
        raise refuse("expectation")
    if method in ("POST", "PUT", "PATCH") and "Content-Range" in headers:
        raise refuse("invalidHeader", name="Content-Range", message="only resumable uploads can be sent in parts.")
    if method in ("PUT", "PATCH", "DELETE") and not operation.calendar:
        check_conditions(headers, None)
