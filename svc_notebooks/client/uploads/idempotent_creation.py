"""Gives a new file an id before it is created, so that a later call finds the file again instead of a second creation.

id                  for every file but native documents, from `generate_ids`; a second creation is answered with 409
private property    for native documents, for which the interface accepts no id (X-03); the property has the id
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, cast

from ...core.errors.errors import (
    AlreadyExists,
    BadRequest,
    NotAllowed,
    NotFound,
    SourceChanged,
    UnverifiedUploadWarning,
    warn_caller,
)
from ...core.files.query import quote
from ...core.resources.files import File
from ..files import CHECKSUMS, checksum, copy_file, get_file, list_files
from ..session import Session
from .sources import UploadSource
from .upload_request import UploadRequest, is_document

# -- compares a stored file with the source of its upload, which may have changed between two parts of the upload


def compare_content(session: Session, file: File, source: UploadSource) -> tuple[bool | None, str]:
    """Return whether a stored file has the content that a source has now, or None if this is not known, and why.

    The checksum is requested if `file` does not have it, and the source is read again.
    """
    try:
        stored = checksum(file)
        if stored is None and file.get("id"):
            stored = checksum(get_file(session, file["id"], fields=CHECKSUMS))
        digest = source.digest(stored[0]) if stored else None
    except SourceChanged as error:
        return False, error.message.rstrip(".")
    except (BadRequest, NotAllowed, NotFound, OSError, ValueError) as error:  # also a file object that was closed
        return None, str(error)
    if stored is None:
        return None, "the service returned no checksum (native documents have none)"
    if digest is None:
        return None, "the source is a stream, which cannot be read again"
    return digest == stored[1], f"its {stored[0]} is {stored[1][:12]}..., and that of the source is {digest[:12]}..."


def check_content(session: Session, request: UploadRequest, file: File) -> None:
    """Compare the stored file of an upload with the source as it is now.

    Raises SourceChanged if they differ. Shows an UnverifiedUploadWarning if they cannot be compared.
    """
    file_id = file.get("id") or request.file_id or request.generated_id or ""
    stored = f"{file.get('name') or request.name!r}" + (f" ({file_id})" if file_id else "")
    is_same, reason = compare_content(session, {**file, "id": file_id}, request.source)
    if is_same is None:
        text = f"the upload of {stored} was resumed, and its content was not compared: {reason}"
        warn_caller(text, UnverifiedUploadWarning)
    elif not is_same:
        delete = "" if request.file_id or not file_id else f", or delete({file_id!r}) and upload(source)"
        raise SourceChanged(
            f"The stored file {stored} differs from the source ({reason}), which has changed since or is another one.",
            advice=f"It may mix both: call update({file_id or 'id'!r}, source){delete}.",
        )


# The key in `appProperties` of a native document whose creation can be repeated.
PROPERTY = "svcNotebooksResume"


def with_generated_id(session: Session, request: UploadRequest, file_id: str) -> UploadRequest:
    """Return an upload that creates a file with this id, or a native document with this id in a private property.

    An upload of new content for an existing file, or of a file that has an id already, is returned unchanged.
    """
    if request.file_id or request.generated_id:
        return request
    converted = is_document(session, str(request.metadata.get("mimeType")))
    metadata = with_id_property(request.metadata, file_id) if converted else {**request.metadata, "id": file_id}
    upload_type = "multipart" if request.upload_type == "media" else request.upload_type
    return replace(request, metadata=metadata, upload_type=upload_type)


def with_id_property(metadata: Mapping[str, Any], file_id: str) -> dict[str, Any]:
    """Return the metadata of a native document with an id in a private property."""
    return {**metadata, "appProperties": {**(metadata.get("appProperties") or {}), PROPERTY: file_id}}


def find_or_upload(session: Session, request: UploadRequest, upload: Callable[[], File]) -> File:
    """Return the file that an earlier upload with the same generated id has created, or else call `upload`.

    Raises SourceChanged if the source has changed since the earlier upload.
    """
    fields = request.query.get("fields")
    mark = (cast(File, request.metadata).get("appProperties") or {}).get(PROPERTY)
    try:
        if not mark or not (file := _marked_file(session, mark, fields)):
            return upload()
    except AlreadyExists:
        if request.generated_id is None:
            raise
        file = get_file(session, request.generated_id, fields=fields)
    if request.source.can_change:
        check_content(session, request, file)
    return file


def _marked_file(session: Session, mark: str, fields: str | None) -> File | None:
    """Return the native document with this id in its private property, or None."""
    q = f"appProperties has {{ key={quote(PROPERTY)} and value={quote(mark)} }}"
    return next(list_files(session, q=q, fields=fields, limit=1), None)


def copy_with_generated_id(
    session: Session, source_id: str, file_id: str, metadata: File, query: Mapping[str, Any], *, repeated: bool
) -> File:
    """Copy a file, and give the copy this id. A native document gets the id in a private property.

    If the copy exists already, it is returned. `repeated` is True if an earlier call may have made it.
    """
    try:
        return copy_file(session, source_id, {**metadata, "id": file_id}, query=query)
    except AlreadyExists:
        return get_file(session, file_id, fields=query.get("fields"))
    except BadRequest as error:
        if error.location != "id":
            raise
    if repeated and (copy := _marked_file(session, file_id, query.get("fields"))):
        return copy
    return copy_file(session, source_id, cast(File, with_id_property(metadata, file_id)), query=query)
