"""Requests that say how long their body is, as every HTTP client does: for tests that call a service as a function."""

from collections.abc import Callable
from typing import Any

from svc_notebooks.core.http.messages import Headers, Request, Response
from svc_notebooks.server.service import Service


def framed(request: Request) -> Request:
    """The same request with a Content-Length, or chunked where the body is a stream."""
    if "Content-Length" in request.headers or "Transfer-Encoding" in request.headers:
        return request
    body = request.body
    length = ("Content-Length", str(len(body))) if isinstance(body, bytes) else ("Transfer-Encoding", "chunked")
    return Request(request.method, request.url, request.headers.plus(length), body)


def requester(service: Service, token: str | None = None) -> Callable[..., Response]:
    """Return `ask(method, url, body, Content_Range=...)`, which sends framed requests of a user to the service."""
    token = token or service.sign_in()

    def ask(method: str, url: str, body: Any = b"", **headers: str) -> Response:
        pairs = [(name.replace("_", "-"), value) for name, value in headers.items()]
        url = url if "://" in url else f"http://svc.test{url}"
        return service.handle(
            framed(Request(method, url, Headers([("Authorization", f"Bearer {token}"), *pairs]), body))
        )

    return ask
