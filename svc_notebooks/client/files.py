"""JSON operations on files, permissions and the about resource with its import and export formats (A4, A5-05, A7-04).

`fields`, such as "id,name", selects the response fields.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from mimetypes import MimeTypes
from pathlib import Path
from typing import Any, cast
from weakref import WeakKeyDictionary

from ..core.brand_names import Names
from ..core.errors.errors import ServiceFailed
from ..core.files.query import quote
from ..core.http.media_types import EXPORTS, IMPORTS, NATIVES, ExportFormat, ImportFormat
from ..core.http.messages import JSON, JSONObject, segment
from ..core.platform import capabilities
from ..core.resources.files import About, File, FileList, GeneratedIds, Permission, PermissionList
from .json_response import foreign_answer, read_fields, read_page, read_resource
from .session import Parameters, Session
from .transport.bounds import PageTokens

# The fields of the checksums in a field mask. The service computes them when they are first requested.
CHECKSUMS = "sha256Checksum,md5Checksum"

# The id that stands for the user's top folder.
ROOT = "root"

_LARGEST_PAGE = 1000


def get_file(session: Session, file_id: str, *, fields: str | None = None) -> File:
    """Return a file's metadata. Raises NotFound if the file does not exist or is not visible to this user."""
    fields = fields and _with_id(fields)
    answer = session.fetch("GET", file_path(session, file_id), query={"fields": fields})
    return read_resource(answer, File, session.base_url, fields, identifier=_own_id(file_id))


def _with_id(fields: str) -> str:
    """Return a mask with at least the fields that make a JSON object a file."""
    return fields if {"id", "*"} & {*fields.split(",")} else f"kind,id,{fields}"


def _own_id(file_id: str) -> str | None:
    return None if file_id == ROOT else file_id


def list_files(session: Session, **criteria: Any) -> Iterator[File]:
    """Return an iterator over the files on the pages of `list_file_pages`, which are requested lazily."""
    return chain.from_iterable(list_file_pages(session, **criteria))


def list_file_pages(
    session: Session,
    *,
    q: str | None = None,
    order_by: str | None = None,
    page_size: int | None = None,
    fields: str | None = None,
    limit: int | None = None,
    ahead: bool = False,
) -> Generator[list[File], None, None]:
    """Return an iterator over the pages of at most `limit` files that match the query `q`.

    If `ahead` is True, a thread requests the next page while the caller uses a page.
    """
    mask = fields and f"nextPageToken,files({_with_id(fields)})"
    query = {"q": q, "orderBy": order_by, "pageSize": page_size, "fields": mask}
    path = session.names.path("files")
    pages = page_lists(session, path, query, "files", FileList, limit=limit, ahead=ahead)
    return cast(Generator[list[File], None, None], pages)


def list_children(session: Session, folder_id: str, *, fields: str, trashed: bool = False) -> list[File]:
    """Return the files and folders in a folder, oldest first, so that the order is the same in every call.

    `fields` must contain id and createdTime. `trashed` is True for a folder in the trash. Otherwise the files in the
    trash are left out.
    """
    q = f"{quote(check_id(folder_id))} in parents" + ("" if trashed else " and trashed = false")
    members = list_files(session, q=q, page_size=_LARGEST_PAGE, fields=fields)
    return sorted(members, key=lambda file: (str(file.get("createdTime")), str(file.get("id"))))


def checksum(file: File) -> tuple[str, str] | None:
    """Return the algorithm ("sha256" or "md5") and the checksum of the content in lower case, or None."""
    values = {"sha256": file.get("sha256Checksum"), "md5": file.get("md5Checksum")}
    present = ((algorithm, text.lower()) for algorithm, text in values.items() if isinstance(text, str) and text)
    return next(present, None)


def has_content_of(session: Session, file_id: str, path: Path, *, size: int) -> bool | None:
    """Return True if a stored file has the content of a file on disk, which has `size` bytes.

    Returns None if the service has no checksum, or content of another size.
    """
    file = get_file(session, file_id, fields=f"size,{CHECKSUMS}")
    stored = checksum(file)
    if stored is None or file.get("size") != str(size):
        return None
    with path.open("rb") as content:
        return hashlib.file_digest(content, stored[0]).hexdigest() == stored[1]


def copy_file(session: Session, file_id: str, metadata: File, *, query: Parameters | None = None) -> File:
    """Copy a file and return the copy's metadata. Raises NotAllowed, NotFound. Not repeated without a response."""
    copy = _changed_file(session, "POST", f"{file_path(session, file_id)}/copy", metadata, query, metadata.get("id"))
    if copy.get("id") == file_id:
        raise foreign_answer(session.base_url, "the copy has the id of the original", file_id)
    return copy


def create_file(session: Session, metadata: File, *, query: Parameters | None = None) -> File:
    """Create a file without content and return its metadata (A4). Repeatable with an `id` from `generate_ids`."""
    return _changed_file(session, "POST", session.names.path("files"), metadata, query, metadata.get("id"))


def update_file(session: Session, file_id: str, metadata: File, *, query: Parameters | None = None) -> File:
    """Set the fields in `metadata` on a file, and return the file's metadata."""
    return _changed_file(session, "PATCH", file_path(session, file_id), metadata, query, _own_id(file_id))


def _changed_file(
    session: Session, method: str, path: str, metadata: File, query: Parameters | None, identifier: str | None
) -> File:
    answer = session.fetch(method, path, query=query, body=metadata)
    return read_resource(answer, File, session.base_url, (query or {}).get("fields"), identifier=identifier)


def delete_file(session: Session, file_id: str) -> None:
    """Delete a file permanently. Raises NotFound if the file does not exist."""
    session.execute("DELETE", file_path(session, file_id))


def empty_trash(session: Session) -> None:
    """Delete all files of this user that are in the trash."""
    session.fetch("DELETE", session.names.path("files/trash"))


def generate_ids(session: Session, count: int = 10) -> list[str]:
    """Return `count` unused file ids, which make the creation of files repeatable (X-07)."""
    answer = session.fetch("GET", session.names.path("files", "generateIds"), query={"count": count})
    ids = read_fields(answer, GeneratedIds, session.base_url, "ids")["ids"]
    if len({*filter(None, ids)}) != count:
        raise ServiceFailed(f"The service returned {len(ids)} ids that are not {count} different ones.", location="ids")
    return ids


def pages(
    session: Session, path: str, query: Parameters, key: str, resource: type, *, limit: int | None = None
) -> Iterator[JSONObject]:
    """Return an iterator over at most `limit` objects in the lists of `page_lists`."""
    return chain.from_iterable(page_lists(session, path, query, key, resource, limit=limit))


def page_lists(
    session: Session, path: str, query: Parameters, key: str, resource: type, *, limit: int | None, ahead: bool = False
) -> Generator[list[JSONObject], None, None]:
    """Yield the lists `key` of lazily requested pages, with at most `limit` objects in all.

    `resource` is the TypedDict of a page. If `ahead` is True, a thread requests the next page while the caller uses a
    page, unless the service is in this process. Raises ServiceFailed if a page token repeats, and for too many pages.
    """

    ahead = ahead and not session.in_process and capabilities().threads
    executor = ThreadPoolExecutor(1) if ahead else None  # starts its thread for the second page
    next_page: Callable[[], JSONObject] = partial(session.fetch, "GET", path, query=query)
    tokens, left = None, limit
    try:
        while left is None or left > 0:
            page = next_page()
            items = read_page(page, resource, session.base_url, key, query.get("fields"))
            token, problem = page.get("nextPageToken"), ""
            if token:
                tokens = tokens or PageTokens()
                problem = tokens.problem(token, items)
            if token and not problem and (left is None or left > len(items)):
                next_page = partial(session.fetch, "GET", path, query={**query, "pageToken": token})
                next_page = executor.submit(next_page).result if executor else next_page
            yield items if left is None else items[:left]
            left = None if left is None else left - len(items)
            if not token:
                return
            if problem:
                raise ServiceFailed(problem, location="nextPageToken")
    finally:
        if executor:
            executor.shutdown(wait=False, cancel_futures=True)


def file_path(session: Session, file_id: str) -> str:
    """Return the URL path of a file's metadata. Raises TypeError or ValueError for an invalid id."""
    return session.names.path("files", segment(check_id(file_id)))


def check_id(identifier: str, argument: str = "file_id") -> str:
    """Return the id unchanged. Raises TypeError or ValueError, which names `argument`, for an invalid id."""
    if not isinstance(identifier, str):
        raise TypeError(f"{argument} must be an id of type str, not {type(identifier).__name__}")
    if not identifier or identifier in (".", ".."):
        raise ValueError(f"{argument} is {identifier!r}; give an id that the service returned")
    return identifier


def share_file(session: Session, file_id: str, permission: Permission) -> Permission:
    """Give a grantee a role on a file and return the permission. A repeated request changes nothing."""
    path = f"{file_path(session, file_id)}/permissions"
    answer = session.fetch("POST", path, query={"fields": "*"}, body=permission, repeatable=True)
    return read_resource(answer, Permission, session.base_url)


def file_permissions(session: Session, file_id: str) -> list[Permission]:
    """Return the list of the permissions on a file."""
    answer = session.fetch("GET", f"{file_path(session, file_id)}/permissions", query={"fields": "permissions"})
    return cast(list[Permission], read_page(answer, PermissionList, session.base_url, "permissions"))


def unshare_file(session: Session, file_id: str, permission_id: str) -> None:
    """Delete a permission from a file."""
    session.execute("DELETE", f"{file_path(session, file_id)}/permissions/{segment(permission_id)}")


# -- the about resource, with a service's import and export formats


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The import formats (source media type to native types), export formats and maximum import sizes in bytes."""

    imports: Mapping[str, tuple[str, ...]]
    exports: Mapping[str, tuple[ExportFormat, ...]]
    max_sizes: Mapping[str, int]


def get_about(session: Session, fields: str) -> About:
    """Return the about resource with the fields in the mask `fields`, such as "user,storageQuota"."""
    answer = session.fetch("GET", session.names.path("about"), query={"fields": fields})
    return read_resource(answer, About, session.base_url, fields)


_known: WeakKeyDictionary[Session, Capabilities] = WeakKeyDictionary()


def capabilities_of(session: Session) -> Capabilities:
    """Return a service's import and export formats, cached per session. Raises ServiceFailed if not listed."""
    if session not in _known:
        about: Any = get_about(session, "importFormats,exportFormats,maxImportSizes")
        exports = _read_lists("exportFormats", about.get("exportFormats"))
        sizes = about.get("maxImportSizes")
        _known[session] = Capabilities(
            imports=_read_lists("importFormats", _by_source(about.get("importFormats"))),
            exports={
                native_type: tuple(_export_format(session.names, native_type, media_type) for media_type in media_types)
                for native_type, media_types in exports.items()
            },
            # Ignore a size that is not a number.
            max_sizes={
                native_type: int(str(size))
                for native_type, size in (sizes.items() if isinstance(sizes, dict) else ())
                if str(size).isdecimal() and len(str(size)) <= 18
            },
        )
    return _known[session]


def _by_source(formats: JSON) -> JSON:
    """Convert a list of import formats to a dict from source to target types, or to None if an entry is incomplete.

    Returns other JSON, such as a dict, unchanged.

    >>> _by_source([{"source": "text/csv", "targets": ["x/sheet"]}, {"source": "text/csv", "targets": "x/doc"}])
    {'text/csv': ['x/sheet', 'x/doc']}
    """
    if not isinstance(formats, list):
        return formats
    targets: dict[str, JSON] = {}
    for row in formats:
        if not (isinstance(row, dict) and "source" in row and "targets" in row):
            return None
        source = str(row["source"])
        targets[source] = [*_as_list(targets.get(source, [])), *_as_list(row["targets"])]
    return targets


def _read_lists(field: str, lists: JSON) -> dict[str, tuple[str, ...]]:
    if not isinstance(lists, dict):
        raise ServiceFailed(f"The service returned no object in the field {field}.", location=field)
    return {key: tuple(map(str, _as_list(values))) for key, values in lists.items()}


def _as_list(values: JSON) -> Iterable[JSON]:
    return values if isinstance(values, list) else [values]


def native_name(names: Names, native_type: str) -> str:
    """Return the short name of a native type, as in core/http/media_types.py.

    >>> native_name(Names(), "application/vnd.svc-apps.document")
    'document'
    """
    return native_type.removeprefix(names.media_prefix)


def export_formats(session: Session, native_type: str) -> list[ExportFormat]:
    """Return the service's export formats for a native type, or an empty list for an unknown type."""
    return list(capabilities_of(session).exports.get(native_type, ()))


def _export_format(names: Names, native_type: str, media_type: str) -> ExportFormat:
    native = native_name(names, native_type)
    for row in EXPORTS:
        if row.native == native and names.media_type(row.media_type) == media_type:
            return replace(row, media_type=media_type)
    # Formats outside of the interface get the extension from Python's own table, equal on every machine.
    extension = MimeTypes(filenames=()).guess_extension(media_type) or ".bin"
    return ExportFormat(native, media_type, extension.removeprefix("."), media_type)


def import_formats(session: Session) -> list[tuple[str, str, ImportFormat | None]]:
    """Return a service's import formats as tuples (native type, media type, table row), sorted by native type.

    The table row is None if `IMPORTS` does not list the format. A format is listed once, with the service's first media
    type.
    """
    names = session.names
    formats: dict[tuple[str, str], tuple[str, str, ImportFormat | None]] = {}
    for media_type, native_types in capabilities_of(session).imports.items():
        for native_type in native_types:
            rows = (row for row in IMPORTS if row.native == native_name(names, native_type))
            row = next((row for row in rows if media_type in map(names.media_type, row.media_types)), None)
            formats.setdefault((native_type, row.title if row else media_type), (native_type, media_type, row))
    order = {names.native(native): position for position, native in enumerate(NATIVES)}
    return sorted(formats.values(), key=lambda entry: order.get(entry[0], len(order)))
