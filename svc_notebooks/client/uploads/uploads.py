"""Uploads a source in one request or in a resumable upload, and continues a resumable upload (A3-25)."""

from __future__ import annotations

from typing import Any

from ...core.errors.errors import SourceChanged
from ...core.resources.files import File
from ..session import Session
from ..transport.urls import is_web_address
from .resumable_upload import ClientUpload
from .sources import Progress, open_source
from .upload_request import UploadArguments, UploadRequest, check_chunk_size, prepare, send_once, with_stored_type


def upload(session: Session, source: object, *, progress: Progress | None = None, **arguments: Any) -> File:
    """Upload a source as a new file, or as the new content of the file `file_id`, and return the file's metadata.

    `source` is a path, bytes or a binary file object. `arguments` are the fields of `UploadArguments`. `progress` is
    called with (bytes sent, size or None). Repeat an interrupted call to resume a resumable upload.

    Raises TypeError or ValueError for an invalid argument before anything is sent, OSError if the source cannot be
    read, and SvcError if the upload fails.
    """
    return execute(session, prepare(session, source, UploadArguments(**arguments)), progress)


def start_upload(
    session: Session, source: object, *, progress: Progress | None = None, **arguments: Any
) -> ClientUpload:
    """Open a new resumable upload session and return the upload, without sending content. Arguments as in `upload`."""
    request = prepare(session, source, UploadArguments(upload_type="resumable", **arguments))
    return resumable(session, request, progress, is_new=True).begin()


def resume_upload(
    session: Session, session_uri: str, source: object, *, chunk_size: int | str | None = None
) -> ClientUpload:
    """Return an upload that continues an open session with `.run()` or `.resume()`.

    These methods open an expired session again if the journal has the metadata, or raise SessionExpired. Raises
    ValueError if `session_uri` is not a web address, SourceChanged if the source differs from the journal. They raise
    SourceChanged if the stored file has other content than the source.
    """
    if not is_web_address(session_uri):
        raise ValueError("session_uri must be a web address; give the attribute session_uri of the upload")
    entry = session.pending.by_uri(session_uri)
    opened = open_source(source)
    opened.keep_digests()
    chunk = check_chunk_size(chunk_size)
    if entry is None:
        request = UploadRequest(opened, opened.media_type, chunk_size=chunk, restartable=False)
        return ClientUpload(session, request, session_uri=session_uri)
    if opened.fingerprint() != entry.fingerprint:
        raise SourceChanged(f"{entry.name} has changed since its upload began on {entry.started}.")
    request = UploadRequest(opened, entry.media_type, entry.metadata, entry.file_id, entry.query, chunk_size=chunk)
    return ClientUpload(session, request, session_uri=session_uri, claim=session.pending.claim(entry.key))


def execute(session: Session, request: UploadRequest, progress: Progress | None = None) -> File:
    """Send a prepared upload and return the file's metadata."""
    if request.upload_type == "resumable":
        return resumable(session, request, progress).run()
    return send_once(session, request, progress)


def resumable(
    session: Session, request: UploadRequest, progress: Progress | None, *, is_new: bool = False
) -> ClientUpload:
    """Return the resumable upload for a request. Unless `is_new`, an unfinished session in the journal is continued."""
    request = with_stored_type(session, request)
    key = request.journal_key(session)
    claim = session.pending.claim(key) if key else None
    entry = claim.entry if claim and not is_new else None
    uri = entry.session_uri if entry and entry.fingerprint == request.source.fingerprint() else None
    return ClientUpload(session, request, session_uri=uri, progress=progress, claim=claim)
