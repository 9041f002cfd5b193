"""Builds the requests that send the chunks of a resumable upload (A3)."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from ...core.http.messages import Request
from ...core.uploads.client_state_machine import Send
from ..session import Session
from .request import DEFAULT_CHUNK, UploadRequest
from .source_stream import SourceStream
from .sources import Progress


class ChunkRequest(NamedTuple):
    """The request of a chunk, the offsets of its first and last byte, and the upload size, or None if unknown.

    `last` is None for an empty chunk.
    """

    request: Request
    first: int
    last: int | None
    total: int | None


class ChunkRequestBuilder:
    """Builds the requests of the chunks of an upload.

    Over a socket, the next request is built while the service works on a chunk.
    """

    def __init__(self, session: Session, request: UploadRequest) -> None:
        self._session = session
        self._source = request.source
        self._in_chunks = request.chunk_size is not None
        self._prepares = request.source.size is not None and not session.in_process
        self._prepared: tuple[tuple[Send, str, Progress | None], ChunkRequest] | None = None

    def build(self, step: Send, session_uri: str, progress: Progress | None) -> ChunkRequest:
        """Return the request of a step, which is the prepared one if that was built for the same arguments.

        Raises OSError if a stream cannot be read.
        """
        prepared, self._prepared = self._prepared, None
        if prepared and prepared[0] == (step, session_uri, progress):
            return prepared[1]
        source, first, size, total = self._source, step.first, step.size or 0, step.total
        if source.size is None:  # one byte more is read, to detect the end of a stream
            size = step.size or DEFAULT_CHUNK
            available = len(source.read(first, size + 1))
            if available <= size:
                total = first + available
            size = min(available, size)
        pairs = [("Content-Length", str(size))]
        if first or size != total or (total and self._in_chunks):
            pairs.append(("Content-Range", str(step.content_range(size, total))))
        on_sent = partial(self._prepare, session_uri, progress, first + size, size) if self._prepares else None
        body = SourceStream(source, first, size, progress, on_sent=on_sent) if size else b""
        request = Request("PUT", session_uri, self._session.headers(*pairs), body)
        return ChunkRequest(request, first, first + size - 1 if size else None, total)

    def _prepare(self, session_uri: str, progress: Progress | None, first: int, size: int) -> None:
        """Build the request of the chunk at the offset `first`."""
        total = self._source.size
        if total is not None and first < total:
            step = Send(first, min(size, total - first), total)
            self._prepared = (step, session_uri, progress), self.build(step, session_uri, progress)
