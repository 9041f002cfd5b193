"""Copies files on the service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..arguments import file_ids, optional_text
from ..batch import apply_to_rows
from ..current_session import SessionLike, session_or_current
from .metadata import files_schema_with, metadata_body, with_parent

if TYPE_CHECKING:
    from pandas import DataFrame

    from ..arguments import File


def copy(
    file: File,
    name: str | None = None,
    *,
    parent: File | None = None,
    ocr_language: str | None = None,
    session: SessionLike = None,
    **metadata: Any,
) -> DataFrame:
    """Copy files on the service. The caller owns the copies, and the permissions of the originals are not copied.

    Args:
        file: An id, a link, a row, a DataFrame, or a list of these.
        name: The name of the copy. None means "Copy of" and the name of the original.
        parent: The folder of the copy, as an id, a row or a DataFrame of one row. None means the folder of the
            original. If the caller may not write to that folder, None means the caller's root folder.
        ocr_language: The language of text in pictures, as for `upload`, if the copy becomes a native document.
        **metadata: Further fields of the copy. The `mime_type` of a native document, like
            "application/vnd.svc-apps.document", converts the copy to such a document.

    Returns:
        One row for each copy, with the columns of `files()` and each other field that was set.

    Raises:
        TypeError, ValueError: An argument is not valid; nothing was sent.
        NotAllowed: The file is a folder, or readers may not copy the file (A6-05) and this user is a reader.
        NotFound: The file does not exist, or this user may not see it.

    See docs/rules.md#a6-05a (A6-05).

    >>> lab = svc.sandbox()
    >>> plan = svc.upload(b"plan", name="plan.txt")
    >>> svc.copy(plan)[["name", "size"]].values.tolist()
    [['Copy of plan.txt', 4]]
    """
    from ...client.files import copy_file

    session = session_or_current(session)
    if name is not None:
        metadata["name"] = name
    body = metadata_body(with_parent(metadata, parent), creating=True, names=session.names)
    schema = files_schema_with(body)
    query = {**schema.query, "ocrLanguage": optional_text("ocr_language", ocr_language)}
    return apply_to_rows(schema, file_ids(file), lambda file_id: copy_file(session, file_id, body, query=query))
