"""Uploads of the functions and of the forms, checked before anything is sent (A1 to A5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..arguments import media_types, names_for, sources
from ..frames.schemas import FILES
from .metadata import metadata_body

if TYPE_CHECKING:
    from ...client.session import Session
    from ...client.uploads.prepare import UploadRequest
    from ..arguments import Source, Sources

_SHOWN = {"fields": ",".join(FILES.keys)}


def new_files(
    session: Session,
    source: Sources,
    *,
    name: str | Sequence[str] | None = None,
    mime_type: str | None = None,
    file_id: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    **options: Any,
) -> list[UploadRequest]:
    """An upload for each source; arguments and errors are those of `upload`."""
    from ...client.uploads.prepare import prepare

    each = sources(source)
    if file_id is not None and len(each) != 1:
        raise ValueError(f"file_id is one id, and source has {len(each)} sources")
    chosen_id = {} if file_id is None else {"id": file_id}
    body = metadata_body({**(metadata or {}), **chosen_id}, creating=True)
    rows = zip(each, names_for(len(each), name), media_types(source, mime_type), strict=True)
    common: dict[str, Any] = {"metadata": body, "file_id": None, "size": None, "query": _SHOWN, **options}
    return [prepare(session, row, name=title, mime_type=kind, **common) for row, title, kind in rows]


def new_content(
    session: Session,
    ids: Sequence[str],
    source: Source,
    *,
    mime_type: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    **options: Any,
) -> list[UploadRequest]:
    """One content for each of these files; arguments and errors are those of `update`."""
    from ...client.uploads.prepare import prepare

    each = sources(source)
    if len(each) != 1:
        raise ValueError(f"source has {len(each)} sources; update takes one content for every file")
    (kind,) = media_types(source, mime_type)
    body = metadata_body(metadata, creating=False)
    common: dict[str, Any] = {"name": None, "metadata": body, "size": None, "query": _SHOWN, **options}
    return [prepare(session, each[0], file_id=file_id, mime_type=kind, **common) for file_id in ids]
