"""The number of calls between Service.handle and the handler, which must stay small."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType

import pytest

import svc_notebooks
from svc_notebooks.core.http.messages import Headers, Request
from svc_notebooks.server.service import Service, open_service

PACKAGE = str(Path(svc_notebooks.__file__).parent)
HANDLERS = str(Path(PACKAGE, "server", "files"))


class CallCounter:
    """Counts the calls of functions of the package that are not made inside a handler."""

    def __init__(self) -> None:
        self.calls = 0
        self.depth = 0

    def profile(self, frame: FrameType, event: str, argument: object) -> None:
        """Count one event of `sys.setprofile`."""
        name = frame.f_code.co_filename
        if not name.startswith(PACKAGE) or event not in ("call", "return"):
            return
        if name.startswith(HANDLERS):
            self.depth += 1 if event == "call" else -1
        elif event == "call" and not self.depth:
            self.calls += 1


@pytest.fixture
def service():
    with open_service(seed=0) as service:
        yield service


def test_a_chunk_reaches_its_handler_in_few_calls(service: Service) -> None:
    size, counter = 256 * 1024, CallCounter()
    headers = [("Authorization", f"Bearer {service.sign_in()}"), ("Content-Length", "0")]
    url = "http://svc.local/upload/storage/v3/files?uploadType=resumable"
    uri = service.handle(Request("POST", url, Headers(headers))).headers["Location"]

    def put(start: int) -> int:
        span = ("Content-Range", f"bytes {start}-{start + size - 1}/*")
        chunk = Headers([headers[0], ("Content-Length", str(size)), span])
        return service.handle(Request("PUT", uri, chunk, bytes(size))).status

    assert put(0) == 308  # the first one fills the caches
    sys.setprofile(counter.profile)
    try:
        status = put(size)
    finally:
        sys.setprofile(None)

    assert status == 308
    assert 20 < counter.calls <= 40
