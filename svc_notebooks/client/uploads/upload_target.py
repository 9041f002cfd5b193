"""What an upload makes or replaces, and the requests that say so."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b

from ...core.http.messages import Headers, JSONObject, Request, segment
from ..session import JSON_TYPE, Session


@dataclass(frozen=True, slots=True)
class UploadTarget:
    """A new file, or with `file_id` the next content of one; `media_type` is that of the bytes sent."""

    media_type: str
    metadata: JSONObject = field(default_factory=dict)
    file_id: str | None = None
    query: Mapping[str, str] = field(default_factory=dict)
    whole: bool = True
    """Whether this is all that the session was begun with: what is not known cannot be begun anew."""

    @property
    def method(self) -> str:
        """POST creates, PUT updates (U-05)."""
        return "POST" if self.file_id is None else "PUT"

    @property
    def chosen_id(self) -> str | None:
        """The id that the person chose for a new file (generate_ids)."""
        file_id = self.metadata.get("id") if self.file_id is None else None
        return file_id if isinstance(file_id, str) else None

    def url(self, session: Session, upload_type: str) -> str:
        """The media URI with its upload type."""
        segments = ["files"] if self.file_id is None else ["files", segment(self.file_id)]
        path = session.names.upload_path(*segments)
        return session.url(path, {"uploadType": upload_type, **self.query})

    def begin(self, session: Session, total: int | None) -> Request:
        """The request that opens an upload session (A3)."""
        body = json.dumps(self.metadata, ensure_ascii=False).encode() if self.metadata else b""
        pairs = [("X-Upload-Content-Type", self.media_type)]
        if total is not None:
            pairs.append(("X-Upload-Content-Length", str(total)))
        if body:
            pairs.append(("Content-Type", JSON_TYPE))
        pairs.append(("Content-Length", str(len(body))))
        return Request(self.method, self.url(session, "resumable"), session.headers(*pairs), body)

    def media(self, session: Session, size: int | None) -> tuple[str, Headers]:
        """URL and headers of a simple upload (A1)."""
        return self.url(session, "media"), session.headers(("Content-Type", self.media_type), *length_headers(size))

    def key(self, base_url: str, source: str) -> str:
        """Names this upload in the journal: the same source to the same place with the same words."""
        parts = [base_url, self.file_id, self.media_type, self.metadata, dict(self.query), source]
        text = json.dumps(parts, sort_keys=True)
        return blake2b(text.encode(), digest_size=16).hexdigest()


def length_headers(size: int | None) -> list[tuple[str, str]]:
    """The header that says where a body ends: its length, or the chunked coding where that is not known (A1-03)."""
    return [("Transfer-Encoding", "chunked")] if size is None else [("Content-Length", str(size))]
