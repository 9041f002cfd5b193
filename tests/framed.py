"""Requests that say how long their body is, as every HTTP client does: for tests that call a service as a function."""

from __future__ import annotations

from svc_notebooks.core.http.messages import Request


def framed(request: Request) -> Request:
    """The same request with a Content-Length, or chunked where the body is a stream."""
    if "Content-Length" in request.headers or "Transfer-Encoding" in request.headers:
        return request
    body = request.body
    length = ("Content-Length", str(len(body))) if isinstance(body, bytes) else ("Transfer-Encoding", "chunked")
    return Request(request.method, request.url, request.headers.plus(length), body)
