"""The unchecked arguments of an upload (UploadArguments) and the checked upload (UploadRequest)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b

from ...core.clock import format_time
from ...core.errors.errors import ContentMismatch
from ...core.http.messages import JSONObject, Request, segment
from ...core.http.multipart import MediaType
from ...core.http.native_formats import EXPORTS, IMPORTS, NATIVES, SCRIPT_TEXT
from ...core.resources.files import File
from ...core.suggestions import nearest_name
from ..about import capabilities_of, native_name
from ..session import JSON_TYPE, Session
from ..upload_journal import PendingUpload
from .sources import UploadSource

DEFAULT_CHUNK = 8 * 1024 * 1024
"""The default chunk size in bytes, which is 32 times the quantum of 256 KiB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadArguments:
    """The unchecked arguments of an upload.

    Attributes:
        name: The name of the file. None means the name of the source.
        mime_type: The media type of the source. None detects the type from the name or the first bytes.
        metadata: Further fields, with their names in the interface.
        file_id: The id of the file whose content is replaced. None creates a file.
        upload_type: "auto", "media", "multipart" or "resumable".
        chunk_size: The bytes in each request, a multiple of 262144, or -1 for a single request. A number makes the
            upload resumable. None uses the default size.
        size: The length of a stream in bytes. None means that the length is not known.
        query: Further query parameters, such as fields.
        convert_to: The native type to which the source is converted, which is a value in CONVERT_TO or a media type.
            None means no conversion.
        ocr_language: The language of text in pictures, as a BCP 47 tag, or several tags such as "de+en". None lets the
            service choose.
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
    """A checked upload of a source as a new file, or as the new content of the file `file_id`.

    `media_type` is the media type of the source. `upload_type` is "media", "multipart" or "resumable". If `chunk_size`
    is None, a resumable upload sends all bytes in one request. `restartable` is False if only the session URI is known,
    because a new session would need the metadata. `keeps_type` is True if nothing names the media type of new content,
    so that the file keeps its own.
    """

    source: UploadSource
    media_type: str
    metadata: JSONObject = field(default_factory=dict)
    file_id: str | None = None
    query: Mapping[str, str] = field(default_factory=dict)
    upload_type: str = "resumable"
    chunk_size: int | None = DEFAULT_CHUNK
    restartable: bool = True
    keeps_type: bool = False

    @property
    def name(self) -> str:
        """The display name, which is the name of the file, else the name of the source, else "bytes"."""
        return str(self.metadata.get("name") or self.source.name or "bytes")

    def method(self, session: Session) -> str:
        """Return the HTTP method, which is POST for a new file and usually PUT for an existing file (U-05)."""
        return "POST" if self.file_id is None else session.names.update_method

    @property
    def chosen_id(self) -> str | None:
        """The id that the caller chose for a new file, or None if the service chooses the id."""
        file_id = self.metadata.get("id") if self.file_id is None else None
        return file_id if isinstance(file_id, str) else None

    def url(self, session: Session, upload_type: str) -> str:
        """Return the upload URL with the parameter uploadType and the parameters in `query`."""
        segments = ["files"] if self.file_id is None else ["files", segment(self.file_id)]
        return session.url(session.names.upload_path(*segments), {"uploadType": upload_type, **self.query})

    def initiation(self, session: Session) -> Request:
        """Return the request that opens a resumable upload session (A3)."""
        body = json.dumps(self.metadata, ensure_ascii=False).encode() if self.metadata else b""
        pairs = [("X-Upload-Content-Type", self.media_type)]
        if self.source.size is not None:
            pairs.append(("X-Upload-Content-Length", str(self.source.size)))
        if body:
            pairs.append(("Content-Type", JSON_TYPE))
        pairs.append(("Content-Length", str(len(body))))
        return Request(self.method(session), self.url(session, "resumable"), session.headers(*pairs), body)

    def journal_key(self, session: Session) -> str | None:
        """Return the key of this upload in the journal, equal in every run, or None if the source is a file object."""
        mark = self.source.path or self.source.fingerprint()
        if mark is None:
            return None
        parts = [session.base_url, self.file_id, self.media_type, self.metadata, dict(self.query), mark]
        return blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=16).hexdigest()

    def journal_entry(self, session: Session, key: str, session_uri: str) -> PendingUpload:
        """Return the journal entry of this upload, with the URI of its open session."""
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


def check_stored_size(file: File, total: int | None) -> None:
    """Raise ContentMismatch if the answer to an upload of `total` bytes names another size."""
    if total is not None and file.get("size") not in (None, str(total)):
        raise ContentMismatch(
            f"The service stored {file['size']} bytes, but the upload has {total}.",
            advice="Do not use the stored file, and upload the content again.",
        )


# -- the type and the name of the native document to which an upload is converted (A5)


AUTO = "auto"
CONVERT_TO = (*NATIVES, AUTO)
"""The values of `convert_to`, in addition to the media types of native documents."""

_CODE = ("application/javascript", "application/x-javascript")
_EXTENSIONS = frozenset(
    {extension for row in IMPORTS for extension in row.extensions} | {row.extension for row in EXPORTS}
)


_OTHER_NAMES = {
    name: native
    for native, names in {
        "document": "doc docs docx gdoc google_doc text word",
        "drawing": "image picture svg",
        "presentation": "powerpoint ppt pptx slide slides",
        "spreadsheet": "csv excel sheet sheets table xls xlsx",
    }.items()
    for name in names.split()
}


def native_type(session: Session, convert_to: object, source_type: str) -> str:
    """Return the media type of the native document to which `convert_to` converts a source.

    Raises TypeError unless `convert_to` is a str, ValueError for an unknown type, or for "auto" without a match.
    """
    if not isinstance(convert_to, str):
        raise TypeError(f"convert_to must be one of {', '.join(CONVERT_TO)}, not {type(convert_to).__name__}")
    if convert_to == AUTO:
        return _matching_native_type(session, source_type)
    native = session.names.full_media_type(convert_to, "convert_to")
    if is_document(session, native):
        return native
    near = _OTHER_NAMES.get(convert_to.lower()) or nearest_name(convert_to, CONVERT_TO)
    hint = f"; did you mean {near!r}?" if near else ""
    raise ValueError(f"convert_to must be one of {', '.join(CONVERT_TO)}, not {convert_to!r}{hint}")


def is_document(session: Session, media_type: str) -> bool:
    """Return True for the media type of a native document, such as a spreadsheet, but not of a folder."""
    prefix = session.names.media_prefix
    return media_type.startswith(prefix) and media_type.removeprefix(prefix) in NATIVES


def _matching_native_type(session: Session, source_type: str) -> str:
    """Return the first native type to which a source can be converted. Raises ValueError without such a type."""
    essence = MediaType.parse(source_type).essence
    possible = capabilities_of(session).imports.get(essence, ())
    if not possible:
        raise ValueError(
            f"convert_to is 'auto', but {essence} cannot be converted here; import_formats() lists the types"
        )
    order = [session.names.native(native) for native in NATIVES]
    return min(possible, key=lambda native: order.index(native) if native in order else len(order))


def source_type(session: Session, native: str, detected: str) -> str:
    """Return the media type to send for a source of type `detected`. Script text has its own type (A5)."""
    is_code = detected.startswith("text/") or detected in _CODE
    if native_name(session.names, native) == "script" and is_code:
        return session.names.media_type(SCRIPT_TEXT)
    return detected


def document_name(name: str) -> str:
    """Return a file name without the extension of an import or export format. Other names are unchanged.

    >>> document_name("report.docx"), document_name("version 1.2"), document_name(".html")
    ('report', 'version 1.2', '.html')
    """
    stem, dot, extension = name.rpartition(".")
    return stem if dot and stem and extension.lower() in _EXTENSIONS else name
