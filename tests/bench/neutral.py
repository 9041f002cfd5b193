"""An http.client based client for both services, with a kept-alive connection."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from urllib.parse import quote, urlsplit

from tests.bench.processes import TOKEN, Served


@dataclass(frozen=True, slots=True)
class ServiceDialect:
    """How a service wants to be asked; {name} stands for a new name each time, {id} for what it answered."""

    upload: str
    delete: str
    headers: Mapping[str, str] = field(default_factory=dict)


OURS = ServiceDialect(
    "/upload/storage/v3/files?uploadType={type}",
    "/storage/v3/files/{id}",
    {"Authorization": f"Bearer {TOKEN}"},
)
EMULATOR = ServiceDialect("/upload/storage/v1/b/bench/o?uploadType={type}&name={name}", "/storage/v1/b/bench/o/{id}")


class NeutralClient:
    """Creates files by simple and by resumable uploads."""

    def __init__(self, served: Served, dialect: ServiceDialect) -> None:
        self._connection = http.client.HTTPConnection(served.netloc)
        self._dialect = dialect
        self._names = (f"file-{n}" for n in count())

    def create(self, content: bytes) -> str:
        """A simple upload; what the service calls the file."""
        return self._file_id(self._send("POST", self._upload("media"), content)[1])

    def create_in_chunks(self, content: memoryview, chunk: int) -> str:
        """A resumable upload; what the service calls the file."""
        headers, _ = self._send("POST", self._upload("resumable"), b"")
        parts = urlsplit(headers["Location"])
        answer = b""
        for first in range(0, len(content), chunk):
            piece = content[first : first + chunk]
            span = f"bytes {first}-{first + len(piece) - 1}/{len(content)}"
            _, answer = self._send("PUT", f"{parts.path}?{parts.query}", piece, {"Content-Range": span})
        return self._file_id(answer)

    def delete(self, file_id: str) -> None:
        """Make room."""
        self._send("DELETE", self._dialect.delete.format(id=quote(file_id, safe="")), b"")

    def _upload(self, upload_type: str) -> str:
        return self._dialect.upload.format(type=upload_type, name=next(self._names))

    def _file_id(self, answer: bytes) -> str:
        file = json.loads(answer)
        return str(file["name"] if self._dialect is EMULATOR else file["id"])

    def _send(
        self, method: str, target: str, body: bytes | memoryview, extra: Mapping[str, str] | None = None
    ) -> tuple[http.client.HTTPMessage, bytes]:
        headers = {**self._dialect.headers, "Content-Length": str(len(body)), **(extra or {})}
        self._connection.request(method, target, body, headers)
        answer = self._connection.getresponse()
        content = answer.read()
        if answer.status >= 400:
            raise RuntimeError(f"{method} {target}: {answer.status} {content!r}")
        return answer.headers, content
