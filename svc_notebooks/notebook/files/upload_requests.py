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

_FIELDS_QUERY = {"fields": ",".join(FILES.keys)}


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

    contents = sources(source)
    if file_id is not None and len(contents) != 1:
        raise ValueError(f"file_id is one id, and source has {len(contents)} sources")
    chosen_id = {} if file_id is None else {"id": file_id}
    body = metadata_body({**(metadata or {}), **chosen_id}, creating=True)
    rows = zip(contents, names_for(len(contents), name), media_types(source, mime_type), strict=True)
    common: dict[str, Any] = {"metadata": body, "file_id": None, "size": None, "query": _FIELDS_QUERY, **options}
    return [
        prepare(session, content, name=title, mime_type=media_type, **common) for content, title, media_type in rows
    ]


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

    contents = sources(source)
    if len(contents) != 1:
        raise ValueError(f"source has {len(contents)} sources; update takes one content for every file")
    (media_type,) = media_types(source, mime_type)
    body = metadata_body(metadata, creating=False)
    common: dict[str, Any] = {"name": None, "metadata": body, "size": None, "query": _FIELDS_QUERY, **options}
    return [prepare(session, contents[0], file_id=file_id, mime_type=media_type, **common) for file_id in ids]
