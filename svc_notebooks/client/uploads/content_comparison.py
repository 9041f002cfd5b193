"""Compares a stored file with the source of its upload, which may have changed between two parts of the upload."""

from __future__ import annotations

from typing import NamedTuple

from ...core.errors.caller_warning import warn_caller
from ...core.errors.errors import (
    BadRequest,
    ContentMismatch,
    NotAllowed,
    NotFound,
    SourceChanged,
    UnverifiedUploadWarning,
)
from ...core.resources.files import File
from ..files import CHECKSUMS, checksum, get_file
from ..session import Session
from .request import UploadRequest
from .sources import UploadSource


class Comparison(NamedTuple):
    """Whether a stored file has the content of a source, or None if this is not known, and why not."""

    is_same: bool | None
    reason: str = ""


def compare_content(session: Session, file: File, source: UploadSource) -> Comparison:
    """Compare the checksum of a stored file with the digest of a source as it is now. The source is read again.

    The checksum is requested if `file` does not have it.
    """
    stored, file_id = checksum(file), str(file.get("id") or "")
    try:
        if stored is None and file_id:
            stored = checksum(get_file(session, file_id, fields=CHECKSUMS))
    except (BadRequest, NotAllowed, NotFound) as error:
        return Comparison(None, f"its checksum cannot be read ({error})")
    if stored is None:
        return Comparison(None, "the service returned no checksum (native documents have none)")
    algorithm, value = stored
    try:
        digest = source.digest(algorithm)
    except SourceChanged as error:
        return Comparison(False, error.message.rstrip("."))
    except (OSError, ValueError) as error:  # ValueError for a file object that was closed
        return Comparison(None, f"the source cannot be read again ({error})")
    if digest is None:
        return Comparison(None, "the source is a stream, which cannot be read again")
    reason = f"its {algorithm} checksum is {value[:12]}..., and that of the source is {digest[:12]}..."
    return Comparison(digest == value, reason)


def check_stored_file(
    session: Session, request: UploadRequest, file: File, total: int | None = None, *, resumed: bool
) -> str | None:
    """Compare a stored file with its upload: the size, and the content too if the upload was resumed.

    Returns why the content could not be compared, or None. Raises SourceChanged if the content differs, and
    ContentMismatch if the size is not `total`.
    """
    size, unverified = file.get("size"), None
    if resumed:
        file_id = str(file.get("id") or request.file_id or request.chosen_id or "")
        stored = f"{str(file.get('name') or request.name)!r} ({file_id})"
        is_same, reason = compare_content(session, {**file, "id": file_id}, request.source)
        if is_same is False:
            raise SourceChanged(
                f"The stored file {stored} is not what the source is now: {reason}. The source has changed since a part"
                " of it was sent, or is another source.",
                advice="The stored file can have parts of both, and was not deleted. To send all of the source, call"
                f" update({file_id!r}, source), or delete({file_id!r}) and upload(source).",
            )
        if is_same is None:
            unverified = f"the upload of {stored} was resumed, and its content was not compared: {reason}"
    if None not in (total, size) and str(size) != str(total):
        raise ContentMismatch(
            f"The service stored {size} bytes, but the upload has {total}.",
            advice="Do not use the stored file, and upload the content again.",
        )
    return unverified


def warn_unverified(reason: str) -> None:
    """Show an UnverifiedUploadWarning at the line of the user that called this package."""
    warn_caller(reason, UnverifiedUploadWarning)
