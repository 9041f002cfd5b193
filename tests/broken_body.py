"""A request body whose client disconnects, for tests that call a service as a function."""

from __future__ import annotations

from svc_notebooks.core.http.messages import Disconnected


class BrokenBody:
    """A body that ends with a lost connection after the bytes of `content`."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    def read(self, size: int = -1, /) -> bytes:
        if not self.content:
            raise Disconnected
        block, self.content = self.content[:size], self.content[size:]
        return block
