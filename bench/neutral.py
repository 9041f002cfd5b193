"""A client for both services, which sends prepared bytes over a socket, so that a row measures hardly anything else."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from urllib.parse import quote, urlsplit

from bench.processes import TOKEN, Served

_BLOCK = 65_536
_HEAD_END = b"\r\n\r\n"
_STATUS = re.compile(rb"HTTP/1\.(\d) (\d{3})")
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_LOCATION = re.compile(rb"\r\nlocation: *([^\r]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ServiceDialect:
    """How a service wants to be asked; {name} stands for a new name each time, {id} for what it answered."""

    upload: str
    delete: str
    headers: Mapping[str, str] = field(default_factory=dict)


OURS = ServiceDialect(
    "/upload/storage/v3/files?uploadType={type}", "/storage/v3/files/{id}", {"Authorization": f"Bearer {TOKEN}"}
)
EMULATOR = ServiceDialect("/upload/storage/v1/b/bench/o?uploadType={type}&name={name}", "/storage/v1/b/bench/o/{id}")


class NeutralClient:
    """Creates files by simple and by resumable uploads."""

    def __init__(self, served: Served, dialect: ServiceDialect) -> None:
        self._netloc = served.netloc
        host, port = served.netloc.split(":")
        self._address = host, int(port)
        self._socket: socket.socket | None = None
        self._dialect = dialect
        self._names = (f"file-{n}" for n in count())

    def creation(self, content: bytes) -> bytes:
        """Prepare a simple upload: all bytes of the request."""
        return self._head("POST", self._upload("media"), len(content)) + content

    def create_in_chunks(self, content: memoryview, chunk: int) -> str:
        """A resumable upload; what the service calls the file."""
        head, _ = self.send(self._head("POST", self._upload("resumable"), 0))
        location = _LOCATION.search(head)
        assert location
        parts = urlsplit(location[1].decode())
        answer = b""
        for first in range(0, len(content), chunk):
            piece = content[first : first + chunk]
            span = f"bytes {first}-{first + len(piece) - 1}/{len(content)}"
            put = self._head("PUT", f"{parts.path}?{parts.query}", len(piece), {"Content-Range": span})
            _, answer = self.send(put, piece)
        return self._file_id(answer)

    def delete(self, file_id: str) -> None:
        """Make room."""
        self.send(self._head("DELETE", self._dialect.delete.format(id=quote(file_id, safe="")), 0))

    def send(self, request: bytes, body: memoryview | None = None) -> tuple[bytes, bytes]:
        """Send the bytes of a request, and return the head and the content of the response.

        Connects first if there is no connection, as after each response of the emulator (HTTP/1.0). Raises RuntimeError
        for a status from 400 on.
        """
        if self._socket is None:
            self._socket = socket.create_connection(self._address)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.sendall(request)
        if body:
            self._socket.sendall(body)
        head, content, stays = _response(self._socket)
        if not stays:
            self._socket.close()
            self._socket = None
        return head, content

    def _head(self, method: str, target: str, length: int, extra: Mapping[str, str] | None = None) -> bytes:
        headers = {"Host": self._netloc, **self._dialect.headers, "Content-Length": str(length), **(extra or {})}
        lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
        return "\r\n".join(lines).encode() + _HEAD_END

    def _upload(self, upload_type: str) -> str:
        return self._dialect.upload.format(type=upload_type, name=next(self._names))

    def _file_id(self, answer: bytes) -> str:
        file: Any = json.loads(answer)
        return str(file["name"] if self._dialect is EMULATOR else file["id"])


def _response(sock: socket.socket) -> tuple[bytes, bytes, bool]:
    """Read a response, and return its head, its content and whether the connection stays open."""
    data = b""
    while _HEAD_END not in data:
        data += _more(sock)
    head, _, content = data.partition(_HEAD_END)
    status, length = _STATUS.match(head), _LENGTH.search(head)
    if not status or int(status[2]) >= 400 or not (length or status[2] == b"204"):
        raise RuntimeError(f"{data!r}")
    size = int(length[1]) if length else 0
    while len(content) < size:
        content += _more(sock)
    return head, content, status[1] == b"1" and b"\r\nConnection: close" not in head


def _more(sock: socket.socket) -> bytes:
    if not (block := sock.recv(_BLOCK)):
        raise RuntimeError("the connection was closed before the end of a response")
    return block
