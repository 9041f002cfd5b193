"""An upload as its caller describes it (UploadArguments), and as it is checked and ready to be sent (UploadRequest)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b

from ...core.clock import format_time
from ...core.http.messages import JSONObject, Request, segment
from ..session import JSON_TYPE, Session
from ..upload_journal import PendingUpload
from .sources import UploadSource

DEFAULT_CHUNK = 8 * 1024 * 1024
"""The bytes of a chunk unless the caller chooses a size: 32 times the quantum."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadArguments:
    """The arguments of an upload, not checked yet.

    Attributes:
        name: The file's name; None takes that of the source.
        mime_type: The type of the bytes; None takes it from the name or the first bytes.
        metadata: Further fields, by their names in the interface.
        file_id: The file whose content is replaced; None creates a file.
        upload_type: One of UPLOAD_TYPES.
        chunk_size: Bytes, a multiple of 262144, or -1 for a single request; a size means a resumable upload.
        size: The length of a stream in bytes, where it is known.
        query: Further query parameters, such as fields.
        convert_to: The native document to make: one of CONVERT_TO, or its media type.
        ocr_language: The language of text in pictures.
    """

    name: str | None = None
    mime_type: str | None = None
    metadata: Mapping[str, object] | None = None
    file_id: str | None = None
    upload_type: str = "auto"
    chunk_size: int | None = None
    size: int | None = None
    query: Mapping[str, str] | None = None
    convert_to: str | None = None
    ocr_language: str | None = None


@dataclass(frozen=True, slots=True)
class UploadRequest:
    """A checked upload of a source to a new file, or with `file_id` to the content of an existing one.

    `media_type` is that of the bytes, `upload_type` is media, multipart or resumable, and a `chunk_size` of None means
    a single request. `restartable` is False where only the session URI is known: a session that is gone cannot be
    opened again without the metadata.
    """

    source: UploadSource
    media_type: str
    metadata: JSONObject = field(default_factory=dict)
    file_id: str | None = None
    query: Mapping[str, str] = field(default_factory=dict)
    upload_type: str = "resumable"
    chunk_size: int | None = DEFAULT_CHUNK
    restartable: bool = True

    @property
    def name(self) -> str:
        """The name to show, of the file or else of the source."""
        return str(self.metadata.get("name") or self.source.name or "bytes")

    @property
    def method(self) -> str:
        """POST creates, PUT updates (U-05)."""
        return "POST" if self.file_id is None else "PUT"

    @property
    def chosen_id(self) -> str | None:
        """The id that the caller chose for a new file (generate_ids), or None where the service chooses."""
        file_id = self.metadata.get("id") if self.file_id is None else None
        return file_id if isinstance(file_id, str) else None

    def url(self, session: Session, upload_type: str) -> str:
        """Return the upload URI with its upload type."""
        segments = ["files"] if self.file_id is None else ["files", segment(self.file_id)]
        return session.url(session.names.upload_path(*segments), {"uploadType": upload_type, **self.query})

    def initiation(self, session: Session) -> Request:
        """Make the request that opens an upload session (A3)."""
        body = json.dumps(self.metadata, ensure_ascii=False).encode() if self.metadata else b""
        pairs = [("X-Upload-Content-Type", self.media_type)]
        if self.source.size is not None:
            pairs.append(("X-Upload-Content-Length", str(self.source.size)))
        if body:
            pairs.append(("Content-Type", JSON_TYPE))
        pairs.append(("Content-Length", str(len(body))))
        return Request(self.method, self.url(session, "resumable"), session.headers(*pairs), body)

    def journal_key(self, session: Session) -> str | None:
        """Return the key that the same upload has in another run, or None where its source cannot be recognized."""
        mark = self.source.path or self.source.fingerprint()
        if mark is None:
            return None
        parts = [session.base_url, self.file_id, self.media_type, self.metadata, dict(self.query), mark]
        return blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=16).hexdigest()

    def journal_entry(self, session: Session, key: str, session_uri: str) -> PendingUpload:
        """Return what the journal keeps of this upload while its session is open."""
        return PendingUpload(
            key=key,
            session_uri=session_uri,
            base_url=session.base_url,
            source=self.source.path,
            fingerprint=self.source.fingerprint() or "",
            total=self.source.size,
            chunk_size=self.chunk_size,
            media_type=self.media_type,
            file_id=self.file_id,
            metadata=self.metadata,
            query=dict(self.query),
            started=format_time(session.clock.now()),
        )
