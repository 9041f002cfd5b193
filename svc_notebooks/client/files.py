"""JSON operations on files and permissions (A4). `fields`, such as "id,name", selects the response fields."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain
from pathlib import Path
from typing import cast

from ..core.errors.errors import ServiceFailed
from ..core.files.query import quote
from ..core.http.messages import JSONObject, segment
from ..core.platform import capabilities
from ..core.resources.files import File, Permission
from .json_response import check_fields, check_resource
from .session import Session

CHECKSUMS = "sha256Checksum,md5Checksum"
"""The fields of the checksums in a field mask. The service computes them when they are first requested."""

ROOT = "root"
"""The id that stands for the user's top folder."""

_LARGEST_PAGE = 1000


def get_file(session: Session, file_id: str, *, fields: str | None = None) -> File:
    """Return a file's metadata. Raises NotFound if the file does not exist or is not visible to this user."""
    answer = session.call("GET", file_path(session, file_id), query={"fields": fields})
    return cast(File, check_resource(answer, fields))


def list_files(
    session: Session,
    *,
    q: str | None = None,
    order_by: str | None = None,
    page_size: int | None = None,
    fields: str | None = None,
    limit: int | None = None,
) -> Iterator[File]:
    """Return an iterator over at most `limit` files that match the query `q`. Pages are requested lazily."""
    listed = list_file_pages(session, q=q, order_by=order_by, page_size=page_size, fields=fields, limit=limit)
    return chain.from_iterable(listed)


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
    query = {"q": q, "orderBy": order_by, "pageSize": page_size, "fields": fields and f"nextPageToken,files({fields})"}
    path = session.names.path("files")
    return cast(Generator[list[File], None, None], page_lists(session, path, query, "files", limit=limit, ahead=ahead))


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
    return has_content(get_file(session, file_id, fields=f"size,{CHECKSUMS}"), path, size=size)


def has_content(file: File, path: Path, *, size: int) -> bool | None:
    """Return True if the size and the checksum in `file` are those of a file on disk, which has `size` bytes.

    Returns None if `file` has no checksum, or another size.
    """
    stored = checksum(file)
    if stored is None or file.get("size") != str(size):
        return None
    with path.open("rb") as content:
        return hashlib.file_digest(content, stored[0]).hexdigest() == stored[1]


def copy_file(session: Session, file_id: str, metadata: File, *, query: Mapping[str, object] | None = None) -> File:
    """Copy a file and return the copy's metadata. Raises NotAllowed, NotFound. Not repeated without a response."""
    return _changed_file(session, "POST", f"{file_path(session, file_id)}/copy", metadata, query)


def create_file(session: Session, metadata: File, *, query: Mapping[str, object] | None = None) -> File:
    """Create a file without content and return its metadata (A4). Repeatable with an `id` from `generate_ids`."""
    return _changed_file(session, "POST", session.names.path("files"), metadata, query)


def update_file(session: Session, file_id: str, metadata: File, *, query: Mapping[str, object] | None = None) -> File:
    """Set the fields in `metadata` on a file, and return the file's metadata."""
    return _changed_file(session, "PATCH", file_path(session, file_id), metadata, query)


def _changed_file(session: Session, method: str, path: str, metadata: File, query: Mapping[str, object] | None) -> File:
    answer = session.call(method, path, query=query, body=metadata)
    return cast(File, check_resource(answer, (query or {}).get("fields")))


def delete_file(session: Session, file_id: str) -> None:
    """Delete a file permanently. Raises NotFound if the file does not exist."""
    if answer := session.call("DELETE", file_path(session, file_id)):
        check_fields(answer, ("id", "kind"))


def generate_ids(session: Session, count: int = 10) -> list[str]:
    """Return `count` unused file ids, which make the creation of files repeatable (X-07)."""
    ids = session.call("GET", session.names.path("files", "generateIds"), query={"count": count}).get("ids")
    if not isinstance(ids, list):
        raise ServiceFailed("The service returned no list in the field ids.", location="ids")
    return [str(file_id) for file_id in ids]


def pages(
    session: Session, path: str, query: Mapping[str, object], key: str, *, limit: int | None = None
) -> Iterator[JSONObject]:
    """Yield at most `limit` objects from the list `key` of lazily requested pages.

    Raises ServiceFailed if a page token repeats.
    """
    return chain.from_iterable(page_lists(session, path, query, key, limit=limit))


def page_lists(
    session: Session,
    path: str,
    query: Mapping[str, object],
    key: str,
    *,
    limit: int | None = None,
    ahead: bool = False,
) -> Generator[list[JSONObject], None, None]:
    """Yield the lists `key` of lazily requested pages, with at most `limit` objects in all.

    If `ahead` is True, a thread requests the next page while the caller uses a page, unless the service is in this
    process. Raises ServiceFailed if a page token repeats.
    """

    def request(token: object) -> JSONObject:
        page = session.call("GET", path, query={**query, "pageToken": token})
        return check_fields(page, (key, "kind", "nextPageToken"))

    ahead = ahead and capabilities().threads and not session.in_process
    executor = ThreadPoolExecutor(1) if ahead else None  # starts its thread for the second page
    next_page: Callable[[], JSONObject] = partial(request, None)
    token, left = None, limit
    try:
        while left is None or left > 0:
            page = next_page()
            items = _objects(page.get(key))
            before, token = token, page.get("nextPageToken")
            if token and token != before and (left is None or left > len(items)):
                next_page = executor.submit(request, token).result if executor else partial(request, token)
            yield items if left is None else items[:left]
            left = None if left is None else left - len(items)
            if not token:
                return
            if token == before:
                raise ServiceFailed("The service returned the same page token twice.", location="nextPageToken")
    finally:
        if executor:
            executor.shutdown(wait=False, cancel_futures=True)


def _objects(items: object) -> list[JSONObject]:
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


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
    """Create a permission on a file and return the created permission."""
    path = f"{file_path(session, file_id)}/permissions"
    return cast(Permission, check_resource(session.call("POST", path, query={"fields": "*"}, body=permission)))


def file_permissions(session: Session, file_id: str) -> list[Permission]:
    """Return the list of the permissions on a file."""
    answer = session.call("GET", f"{file_path(session, file_id)}/permissions", query={"fields": "permissions"})
    check_resource(answer, "permissions")
    return cast(list[Permission], _objects(answer.get("permissions")))


def unshare_file(session: Session, file_id: str, permission_id: str) -> None:
    """Delete a permission from a file."""
    session.call("DELETE", f"{file_path(session, file_id)}/permissions/{segment(permission_id)}")
