"""Chooses the format in which a DataFrame is uploaded, and writes it (see `upload` and `update`)."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ...client.files import get_file
from ...core.errors.errors import SvcError
from ...core.http.multipart import MediaType
from ...core.http.native_formats import CSV, XLSX
from ..arguments import is_frame
from ..tables.formats import (
    BY_NAME,
    GZIP,
    GZIP_EXTENSION,
    TableFormat,
    check_extension,
    format_of_file,
    format_of_name,
    format_of_type,
)
from ..tables.write_table import write_table

if TYPE_CHECKING:
    from ...client.session import Session

_CSV = BY_NAME["csv"]


def content_of(
    source: Any, name: str | None, mime_type: str | None, *, converted: bool = False
) -> tuple[Any, str | None]:
    """Return the content of an upload source and its media type, None to detect the type.

    A DataFrame becomes the bytes of a file in the format that `mime_type` or the extension of `name` means, else CSV.
    A DataFrame that the service converts becomes a workbook, whose cells have types. `name` then names the spreadsheet.
    Raises ImportError or ValueError if the DataFrame cannot be written in this format, and TypeError for a Series.
    """
    if not is_frame(source):
        pandas = sys.modules.get("pandas")
        if pandas is not None and isinstance(source, pandas.Series):
            raise TypeError(
                "source must not be a Series: give source.to_frame() to upload a table, or list(source) if it has paths"
            )
        return source, mime_type
    by_type = format_of_type(mime_type) if isinstance(mime_type, str) else None
    by_name = BY_NAME["xlsx"] if converted else format_of_name(name or "")
    if not mime_type and not by_name:
        check_extension(name or "")
    table_format = by_type or by_name or _CSV
    is_gzip = bool(by_name) and not converted and str(name).lower().endswith(GZIP_EXTENSION)
    compressed = mime_type in (None, GZIP) and is_gzip
    media_type = mime_type or (GZIP if compressed else table_format.media_type(None if converted else name))
    return write_table(source, table_format, compressed=compressed), media_type


def new_contents(
    session: Session, ids: Iterable[str], source: Any, name: str | None, mime_type: str | None
) -> Iterator[tuple[str, Any, str | None]]:
    """Return an iterator over the ids of stored files, each with its new content and media type as in `content_of`.

    A DataFrame gets the format of the stored file, if neither `mime_type` nor the new name means another.
    """
    if not is_frame(source) or mime_type or format_of_name(name or ""):
        content, media_type = content_of(source, name, mime_type)
        yield from ((file_id, content, media_type) for file_id in ids)
        return
    written: dict[tuple[str, str], bytes] = {}
    for file_id in ids:
        table_format, media_type = _stored_format(session, file_id)
        key = (table_format.name, media_type)
        if key not in written:
            written[key] = write_table(source, table_format, compressed=media_type == GZIP)
        yield file_id, written[key], media_type


def _stored_format(session: Session, file_id: str) -> tuple[TableFormat, str]:
    """Return the format and the media type of new content for a stored file, which are CSV if the file is no table."""
    try:
        facts = get_file(session, file_id, fields="name,mimeType")
    except SvcError:  # the upload has the same error, in the row of its file
        return _CSV, CSV
    name, stored_type = str(facts.get("name")), MediaType.parse(str(facts.get("mimeType"))).essence
    if stored_type == session.names.native("spreadsheet"):
        return BY_NAME["xlsx"], XLSX
    table_format = format_of_file(stored_type, name)
    if table_format is None:
        check_extension(name)
        return _CSV, CSV
    if stored_type == GZIP or format_of_type(stored_type) is table_format:
        return table_format, stored_type
    return table_format, GZIP if name.lower().endswith(GZIP_EXTENSION) else table_format.media_type(name)
