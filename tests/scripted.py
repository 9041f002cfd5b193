"""A service of a hundred lines that does as it is told: faults come from a list, in order.

It is a function `Request -> Response`, as every service is, and keeps what it stores in a dict. The upload
session is core's own, so that it cannot be more forgiving than the interface.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, TypeAlias

from svc_notebooks.client.session import Session
from svc_notebooks.core.http.backoff import RetryRule
from svc_notebooks.core.http.messages import Disconnected, Headers, Request, Response, as_body
from svc_notebooks.core.http.multipart import MultipartDecoder, PartBegins, PartData, boundary_of
from svc_notebooks.core.http.ranges import ByteRange, ContentRange, format_stored
from svc_notebooks.core.uploads import server_state_machine
from svc_notebooks.core.uploads.transitions import UploadRule, UploadState

BASE = "https://api.example.org"
TOKEN = "the-secret-token"
Q = 262_144


@dataclass
class Time:
    """A clock that only sleeping moves."""

    at: datetime = datetime(2026, 1, 1, tzinfo=UTC)
    slept: list[float] = field(default_factory=list)

    def now(self) -> datetime:
        return self.at

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.at += timedelta(seconds=seconds)


Fault: TypeAlias = "Callable[[Shelf, Request], Response] | None"


def answer(status: int, body: bytes = b"", **headers: str) -> Fault:
    """Nothing is stored and this is answered; header names are written with underscores."""
    pairs = [(name.replace("_", "-"), value) for name, value in headers.items()]
    return lambda shelf, request: Response(status, Headers(pairs), body)


def reset(shelf: Shelf, request: Request) -> Response:
    """The connection is cut and nothing is stored."""
    raise Disconnected("reset")


def lost(shelf: Shelf, request: Request) -> Response:
    """It is done, and the answer does not arrive."""
    shelf.act(request)
    raise Disconnected("the answer was lost")


def after(size: int, then: Fault) -> Fault:
    """Keep so many bytes of the body, then do that."""

    def fault(shelf: Shelf, request: Request) -> Response:
        shelf.put(request, limit=size)
        assert then is not None
        return then(shelf, request)

    return fault


def answered_with(body: bytes) -> Fault:
    def fault(shelf: Shelf, request: Request) -> Response:
        return Response(shelf.act(request).status, Headers(), body)

    return fault


def envelope(status: int, reason: str, message: str = "said the service") -> bytes:
    errors = [{"domain": "global", "reason": reason, "message": message, "location": "x"}]
    return json.dumps({"error": {"code": status, "message": message, "errors": errors}}).encode()


@dataclass
class Shelf:
    """The service: files by id, upload sessions by URI, and the faults of each method."""

    faults: dict[str, list[Fault]] = field(default_factory=dict)
    rule: UploadRule = field(default_factory=lambda: UploadRule(quantum=1))
    location: str = BASE + "/upload/storage/v3/files?uploadType=resumable&upload_id={n}"
    files: dict[str, dict[str, Any]] = field(default_factory=dict)
    contents: dict[str, bytes] = field(default_factory=dict)
    sessions: dict[str, server_state_machine.UploadSession] = field(default_factory=dict)
    drafts: dict[str, tuple[dict[str, Any], bytearray]] = field(default_factory=dict)
    requests: list[tuple[str, str, Headers]] = field(default_factory=list)
    made: int = 0

    def __call__(self, request: Request) -> Response:
        self.requests.append((request.method, request.url, request.headers))
        waiting = self.faults.get(request.method) or [None]
        fault = waiting.pop(0)
        return self.act(request) if fault is None else fault(self, request)

    @property
    def exhausted(self) -> bool:
        """Whether every fault has happened."""
        return not any(self.faults.values())

    def header_values(self, name: str, method: str = "PUT") -> list[str | None]:
        return [headers.get(name) for m, _, headers in self.requests if m == method]

    # -- what it does

    def act(self, request: Request) -> Response:
        kind = request.query.get("uploadType")
        if request.url in self.sessions:
            return self.delete(request) if request.method == "DELETE" else self.put(request)
        if kind == "resumable" and "upload_id" not in request.query:
            return self.begin(request)
        if "upload_id" in request.query:
            return Response(404)
        if kind in ("media", "multipart"):
            return self.simple(request, kind)
        return self.metadata(request)

    def begin(self, request: Request) -> Response:
        metadata = json.loads(as_body(request.body).read() or b"{}")
        length = request.headers.get("X-Upload-Content-Length")
        uri = self.location.format(n=len(self.sessions) + 1)
        self.sessions[uri] = server_state_machine.UploadSession(total=int(length) if length else None)
        self.drafts[uri] = (metadata | self._old(request), bytearray())
        return Response(200, Headers([("Location", uri)]))

    def _old(self, request: Request) -> dict[str, Any]:
        return {"id": request.path.rpartition("/")[2]} if request.method == "PUT" else {}

    def put(self, request: Request, limit: int | None = None) -> Response:
        session, content = self.sessions[request.url], self.drafts[request.url][1]
        named = request.headers.get("Content-Range")
        parsed = ContentRange.parse(named) if named else None
        intake = server_state_machine.before_body(
            session, parsed, int(request.headers["Content-Length"]), self.rule, 0.0
        )
        if isinstance(intake, server_state_machine.SessionDecision):
            return self._verdict(request.url, intake)
        data = self._read(request, limit)[intake.skip :]
        data = data if intake.take is None else data[: intake.take]
        verdict = server_state_machine.after_body(
            session, intake, server_state_machine.ReceivedBody(len(data), broken=limit is not None), self.rule, 0.0
        )
        content += data
        del content[verdict.session.stored :]
        return self._verdict(request.url, verdict)

    def _read(self, request: Request, limit: int | None) -> bytes:
        body = as_body(request.body)
        blocks = iter(lambda: body.read(65_536), b"") if limit is None else [body.read(limit)]
        return b"".join(blocks)

    def _verdict(self, uri: str, verdict: server_state_machine.SessionDecision) -> Response:
        before, self.sessions[uri] = self.sessions[uri], verdict.session
        metadata, content = self.drafts[uri]
        if verdict.session.state is UploadState.COMPLETE:
            if before.state is not UploadState.COMPLETE:
                metadata |= {"id": self._keep(metadata, bytes(content))["id"]}
            return self._json(self.files[metadata["id"]])
        stored = format_stored(verdict.session.stored) if verdict.status == 308 else None
        return Response(verdict.status, Headers([("Range", stored)] if stored else []), verdict.text.encode())

    def delete(self, request: Request) -> Response:
        return self._verdict(request.url, server_state_machine.cancel(self.sessions[request.url], self.rule, 0.0))

    def simple(self, request: Request, kind: str) -> Response:
        body = self._read(request, None)
        if kind == "media":
            return self._json(self._keep(self._old(request), body))
        decoder = MultipartDecoder(boundary_of(request.headers["Content-Type"]))
        parts: list[bytes] = []
        for event in decoder.feed(body):
            if isinstance(event, PartBegins):
                parts.append(b"")
            elif isinstance(event, PartData):
                parts[-1] += event.data
        return self._create(json.loads(parts[0]) | self._old(request), parts[1], request.method)

    def metadata(self, request: Request) -> Response:
        if request.method == "POST":
            return self._create(json.loads(as_body(request.body).read()), b"", "POST")
        name = request.path.rpartition("/")[2]
        if name not in self.files:
            return Response(404, body=envelope(404, "notFound"))
        if request.query.get("alt") == "media":
            return self._content(request, self.contents[name])
        return self._json(self.files[name])

    def _create(self, metadata: dict[str, Any], content: bytes, method: str) -> Response:
        if method == "POST" and metadata.get("id") in self.files:
            return Response(409, body=envelope(409, "fileIdInUse"))
        return self._json(self._keep(metadata, content))

    def _keep(self, metadata: dict[str, Any], content: bytes) -> dict[str, Any]:
        self.made += 1
        file = {"id": f"file{self.made}", "name": "Untitled"} | metadata
        file |= {"size": str(len(content)), "headRevisionId": f"r{self.made}"}
        file["md5Checksum"] = hashlib.md5(content).hexdigest()
        self.files[file["id"]], self.contents[file["id"]] = file, content
        return file

    def store(self, content: bytes, **metadata: Any) -> str:
        """Put a file there; its id."""
        return self._keep(metadata, content)["id"]

    def _json(self, value: object) -> Response:
        body = json.dumps(value).encode()
        return Response(200, Headers([("Content-Type", "application/json"), ("Content-Length", str(len(body)))]), body)

    def _content(self, request: Request, content: bytes) -> Response:
        range_header = request.headers.get("Range")
        if range_header is None:
            return Response(200, Headers([("Content-Length", str(len(content)))]), _blocks(content))
        span = ByteRange.parse(range_header).resolve(len(content))
        if span is None or span.last is None:
            content_range = ("Content-Range", f"bytes */{len(content)}")
            return Response(416, Headers([content_range]), envelope(416, "requestedRangeNotSatisfiable"))
        content_range = ("Content-Range", str(ContentRange(span, len(content))))
        return Response(206, Headers([content_range]), _blocks(content[span.first : span.last + 1]))


def _blocks(content: bytes) -> Sequence[bytes]:
    return [content[at : at + 65_536] for at in range(0, len(content), 65_536)]


def session_for(handler: Callable[[Request], Response], time: Time | None = None, **options: Any) -> Session:
    """A session of the scripted service on a clock that nobody waits for."""
    time = time or Time()
    options = {"retry": RetryRule(), "random": Random(7), "token": TOKEN} | options
    return Session(BASE, handler=handler, clock=time, sleep=time.sleep, **options)


class Stream:
    """A file object that can only be read forwards."""

    def __init__(self, content: bytes, step: int = 1 << 20) -> None:
        self._view, self._at, self._step = memoryview(content), 0, step

    def read(self, size: int = -1, /) -> bytes:
        end = self._at + min(size if size >= 0 else len(self._view), self._step)
        piece = bytes(self._view[self._at : end])
        self._at += len(piece)
        return piece
