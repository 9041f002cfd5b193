"""Copies files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..arguments import file_ids
from ..batch import apply_to_rows
from ..current_session import session_or_current
from ..frames.schemas import FILES
from .metadata import metadata_body

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.session import Session
    from ..arguments import File


def copy(
    file: File,
    name: str | None = None,
    *,
    parent: File | None = None,
    ocr_language: str | None = None,
    session: Session | None = None,
    **metadata: Any,
) -> DataFrame:
    """Copy files. The copies are the caller's own, and nobody else sees them yet.

    Args:
        file: An id, a row, a DataFrame or a list of ids.
        name: Of the copy; None is "Copy of" and the name of the original.
        parent: The folder of the copy, as an id, a row or a frame of one row; None is that of the original where the
            caller may write there, else the caller's root.
        ocr_language: As for `upload`, where the copy becomes a native document.
        **metadata: Further fields; with `mime_type="application/vnd.svc-apps.document"` and the like the copy becomes
            a native document.

    Returns:
        One row for each copy, with the columns of `files()`.

    Raises:
        TypeError, ValueError: An argument is not valid; nothing was sent.
        NotAllowed: The file must not be copied by its readers (A6-05), or it is a folder.
        NotFound: There is no such file, or this user may not see it.

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
    if parent is not None:
        parents = metadata["parents"] = file_ids(parent)
        if len(parents) != 1:
            raise ValueError(f"parent has {len(parents)} folders; a file has one")
    body = metadata_body(metadata, creating=True)
    query = {"fields": ",".join(FILES.keys), "ocrLanguage": ocr_language}
    return apply_to_rows(FILES, file_ids(file), lambda file_id: copy_file(session, file_id, body, query=query))
