"""Compares a stored file with the source of its upload, which may have changed between two parts of the upload."""

from __future__ import annotations

from ...core.errors.caller_warning import warn_caller
from ...core.errors.errors import BadRequest, NotAllowed, NotFound, SourceChanged, UnverifiedUploadWarning
from ...core.resources.files import File
from ..files import CHECKSUMS, checksum, get_file
from ..session import Session
from .request import UploadRequest
from .sources import UploadSource


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
    file_id = file.get("id") or request.file_id or request.chosen_id or ""
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
