"""Uploads, lists, changes and deletes files, as DataFrames.

A file argument takes an id, a row, a whole DataFrame or a list of ids (D-02). Wrong arguments raise TypeError or
ValueError before anything is sent. A call for several rows tries every row, also after one failed, and the error at
the end has the other rows as its `result`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..arguments import file_ids, optional_text, whole
from ..batch import apply_to_rows
from ..current_session import session_or_current
from ..frames.frames import frame
from ..frames.schemas import DELETED, FILES, IDS, file_schema
from .metadata import metadata_body
from .progress import Progress, check_progress
from .upload_requests import new_content, new_files, run_with_progress

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.session import Session
    from ...client.uploads.request import UploadRequest
    from ...core.resources.files import File as FileResource
    from ..arguments import File, Source, Sources

_FIELDS_QUERY = {"fields": ",".join(FILES.keys)}
_LARGEST_PAGE = 1000


def upload(
    source: Sources,
    *,
    name: str | Sequence[str] | None = None,
    mime_type: str | None = None,
    convert_to: str | None = None,
    ocr_language: str | None = None,
    file_id: str | None = None,
    upload_type: str = "auto",
    chunk_size: int | None = None,
    metadata: Mapping[str, Any] | None = None,
    progress: Progress = None,
    session: Session | None = None,
) -> DataFrame:
    """Upload one file or several, and return their metadata.

    Args:
        source: A path, bytes, a file opened with mode "rb", a DataFrame (sent as CSV), or a list of those.
        name: The file's name; a list of names for a list of sources. None is the file name of a path,
            for anything else 'Untitled'.
        mime_type: The media type of the source; None takes it from the name or from the first bytes.
        convert_to: The native document to convert it to: "document", "spreadsheet", "presentation", "drawing",
            "script", one of their media types, or "auto" for the one that its type fits best; `import_formats()`
            lists them. Without a `name` the document has that of the source, without its extension. None keeps
            the content as it is.
        ocr_language: The language of text in pictures and scans that become a document, as BCP 47 writes it
            ("de", "zh-Hant"); None leaves it to the service.
        file_id: An id from `generate_ids()`, with which a repeated call makes no second file.
        upload_type: "media" (content only, no name), "multipart" (content and metadata in one request),
            "resumable", or "auto": 5 MB or less go as media or multipart, more as resumable (A1-05).
        chunk_size: Bytes for each request of a resumable upload, a multiple of 262144; -1 sends all in
            one request; None chooses.
        metadata: Further fields, like `{"starred": True, "properties": {"lab": "7"}}`.
        progress: None shows a bar for 8 MiB and more; True and False always and never; or a function of
            (bytes done, bytes in all).

    Returns:
        One row for each source: id, name, mime_type (str), size (Int64, bytes), created_time,
        modified_time (datetime64[ms, UTC]), trashed, starred (boolean), parents (object, list of ids),
        web_view_link (str).

    Raises:
        TypeError, ValueError: An argument is not valid; nothing was sent.
        AlreadyExists: The `file_id` is taken.
        BadRequest: The content cannot be converted to `convert_to`; or a converted file has a `file_id`, which
            is not possible (X-03).
        Interrupted: The connection was broken too long; the same call with the same source continues.

    See docs/rules.md#a1-simple-upload (A1 to A3) and docs/rules.md#a5-import (A5).

    >>> lab = svc.sandbox()
    >>> svc.upload(b"a,b", name="table.csv")[["name", "mime_type", "size"]].values.tolist()
    [['table.csv', 'text/csv', 3]]
    >>> svc.upload(b"a,b", name="table", mime_type="text/csv", convert_to="spreadsheet")["mime_type"].tolist()
    ['application/vnd.svc-apps.spreadsheet']
    """
    from ...client.uploads.request import UploadArguments

    check_progress(progress)
    session = session_or_current(session)
    arguments = UploadArguments(
        mime_type=mime_type,
        upload_type=upload_type,
        chunk_size=chunk_size,
        convert_to=convert_to,
        ocr_language=ocr_language,
    )
    requests = new_files(session, source, arguments, name=name, file_id=file_id, metadata=metadata)
    return _run_uploads(session, requests, progress)


def _run_uploads(session: Session, requests: Iterable[UploadRequest], progress: Progress) -> DataFrame:
    return apply_to_rows(FILES, requests, lambda request: run_with_progress(session, request, progress))


def update(
    file: File,
    source: Source | None = None,
    *,
    mime_type: str | None = None,
    ocr_language: str | None = None,
    upload_type: str = "auto",
    chunk_size: int | None = None,
    progress: Progress = None,
    session: Session | None = None,
    **metadata: Any,
) -> DataFrame:
    """Change the metadata of files, their content, or both.

    Args:
        file: An id, a row, a DataFrame or a list of ids.
        source: The new content, as for `upload`; None keeps the content. For a native document it is converted
            and replaces everything in the document.
        mime_type: The media type to set; with a source, that of the source.
        ocr_language: As for `upload`.
        upload_type, chunk_size, progress: As for `upload`.
        **metadata: Fields to set, like `name="b.csv"`, `starred=True`, `properties={"lab": "7"}`; the others
            keep their values.

    Returns:
        One row for each file, with the columns of `files()`.

    Raises:
        TypeError, ValueError: An argument is not valid; nothing was sent.
        NotFound: There is no such file, or this user may not see it.
        BadRequest: The source cannot be converted to the type of the file.

    See docs/rules.md#u-05b (U-05b) and docs/rules.md#a1-simple-upload (A1 to A5).

    >>> lab = svc.sandbox()
    >>> file = svc.upload(b"draft", name="draft.txt")
    >>> svc.update(file, b"final", name="final.txt")[["name", "size"]].values.tolist()
    [['final.txt', 5]]
    """
    from ...client.uploads.request import UploadArguments

    check_progress(progress)
    session = session_or_current(session)
    ids = file_ids(file)
    if source is not None:
        arguments = UploadArguments(
            mime_type=mime_type, ocr_language=ocr_language, upload_type=upload_type, chunk_size=chunk_size
        )
        requests = new_content(session, ids, source, arguments, metadata)
        return _run_uploads(session, requests, progress)
    body = metadata_body(metadata, creating=False)
    if ocr_language is not None:
        raise ValueError("ocr_language is for new content: give source too")
    if mime_type is not None:
        body |= metadata_body({"mime_type": mime_type}, creating=False)
    if not body:
        raise ValueError("nothing to change: give source, or fields like name=... or starred=True")
    return _update_files(session, ids, body)


def _update_files(session: Session, ids: list[str], body: FileResource) -> DataFrame:
    from ...client.files import update_file

    return apply_to_rows(FILES, ids, lambda file_id: update_file(session, file_id, body, query=_FIELDS_QUERY))


def create_file(*, session: Session | None = None, **metadata: Any) -> DataFrame:
    """Create a file without content, such as a folder, a shortcut, or an empty file.

    Args:
        **metadata: Its fields, like `name="Data"`, `mime_type="application/vnd.svc-apps.folder"`,
            `parents=[folder_id]`, `id=` one of `generate_ids()`.

    Returns:
        One row, with the columns of `files()`.

    Raises:
        TypeError, ValueError: A field does not exist, or its value is not valid.
        AlreadyExists: The id is taken.

    See docs/rules.md#a4-metadata (A4).

    >>> lab = svc.sandbox()
    >>> folder = svc.create_file(name="Data", mime_type="application/vnd.svc-apps.folder")
    >>> folder["mime_type"].tolist()
    ['application/vnd.svc-apps.folder']
    """
    from ...client import files as calls

    session = session_or_current(session)
    body = metadata_body(metadata, creating=True)
    return frame(FILES, [calls.create_file(session, body, query=_FIELDS_QUERY)])


def generate_ids(count: int = 10, *, session: Session | None = None) -> DataFrame:
    """Generate ids for new files. An upload with one of them can be repeated safely.

    Args:
        count: How many, 1 to 1000.

    Returns:
        One row for each: id (str).

    See docs/rules.md#l-generated-ids (L) and docs/rules.md#x-errors (X-02, X-03).

    >>> lab = svc.sandbox()
    >>> len(svc.generate_ids(3))
    3
    """
    from ...client import files as calls

    whole("count", count, 1, 1000)
    return frame(IDS, [{"id": file_id} for file_id in calls.generate_ids(session_or_current(session), count)])


def file(
    id: File,
    *,
    fields: str | Iterable[str] | None = None,
    session: Session | None = None,
) -> DataFrame:
    """Return the metadata of a file, or of each of several.

    Args:
        id: An id, a row, a DataFrame or a list of ids.
        fields: The columns, as names with commas or a list of them, "*" for all; None gives the columns of
            `files()`. Checksums are computed when they are first requested.

    Returns:
        One row for each file.

    Raises:
        NotFound: There is no such file, or this user may not see it.

    >>> lab = svc.sandbox()
    >>> made = svc.upload(b"hello", name="hello.txt")
    >>> svc.file(made, fields="name,md5_checksum").values.tolist()
    [['hello.txt', '5d41402abc4b2a76b9719d911017c592']]
    """
    from ...client.files import get_file

    session = session_or_current(session)
    schema, mask = file_schema(fields), _mask(fields)
    return apply_to_rows(schema, file_ids(id, "id"), lambda file_id: get_file(session, file_id, fields=mask))


def _mask(fields: str | Iterable[str] | None) -> str:
    return "*" if fields == "*" else ",".join(file_schema(fields).keys)


def files(
    query: str | None = None,
    *,
    order_by: str | None = None,
    limit: int | None = None,
    fields: str | Iterable[str] | None = None,
    session: Session | None = None,
) -> DataFrame:
    """List all files that match a query, from as many pages as there are.

    Args:
        query: In the interface's query language, like "name contains 'survey' and trashed = false"; None matches
            all, also those in the trash.
        order_by: Keys with commas, each with an optional desc, like "folder,modifiedTime desc".
        limit: The most rows; None for all.
        fields: The columns, as names with commas or a list of them, "*" for all.

    Returns:
        One row for each file: id, name, mime_type (str), size (Int64, bytes, missing for folders),
        created_time, modified_time (datetime64[ms, UTC]), trashed, starred (boolean), parents (object,
        list of ids), web_view_link (str).

    Raises:
        TypeError, ValueError: An argument is not valid; nothing was sent.
        BadRequest: The service does not understand the query or the order.

    >>> lab = svc.sandbox()
    >>> made = svc.upload([b"1", b"22"], name=["one.txt", "two.txt"])
    >>> svc.files("name contains 'tw'", order_by="name")["name"].tolist()
    ['two.txt']
    """
    from ...client.files import list_files

    optional_text("query", query)
    optional_text("order_by", order_by)
    if limit is not None:
        whole("limit", limit, 0)
    schema, mask = file_schema(fields), _mask(fields)
    matches = list_files(
        session_or_current(session),
        q=query,
        order_by=order_by,
        page_size=min(limit or _LARGEST_PAGE, _LARGEST_PAGE),
        fields=mask,
        limit=limit,
    )
    return frame(schema, list(matches))


def trash(file: File, *, session: Session | None = None) -> DataFrame:
    """Move files to the trash and return them, with the columns of `files()`.

    >>> lab = svc.sandbox()
    >>> svc.trash(svc.upload(b"old"))["trashed"].tolist()
    [True]
    """
    return _update_files(session_or_current(session), file_ids(file), {"trashed": True})


def untrash(file: File, *, session: Session | None = None) -> DataFrame:
    """Restore files from the trash and return them, with the columns of `files()`.

    >>> lab = svc.sandbox()
    >>> svc.untrash(svc.trash(svc.upload(b"old")))["trashed"].tolist()
    [False]
    """
    return _update_files(session_or_current(session), file_ids(file), {"trashed": False})


def delete(file: File, *, session: Session | None = None) -> DataFrame:
    """Delete files permanently, without the trash.

    Returns:
        One row for each: id (str), deleted (boolean).

    Raises:
        NotFound: There is no such file, or this user may not see it.
        NotAllowed: Only the owner may delete a file.

    >>> lab = svc.sandbox()
    >>> svc.delete(svc.upload(b"old"))["deleted"].tolist()
    [True]
    """
    from ...client.files import delete_file

    session = session_or_current(session)

    def delete_row(file_id: str) -> dict[str, object]:
        delete_file(session, file_id)
        return {"id": file_id, "deleted": True}

    return apply_to_rows(DELETED, file_ids(file), delete_row)
