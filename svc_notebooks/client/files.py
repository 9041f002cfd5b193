"""The operations on files that are one JSON request each, or one for each page.

`fields` is the mask of a partial response; None leaves the choice to the service.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from ..core.errors.errors import ServiceFailed
from ..core.http.messages import JSONObject, segment
from ..core.resources.files import File, Permission
from .session import Session


def get_file(session: Session, file_id: str, *, fields: str | None = None) -> File:
    """Return a file's metadata. Raises NotFound."""
    return cast(File, session.call("GET", file_path(session, file_id), query={"fields": fields}))


def list_files(
    session: Session,
    *,
    q: str | None = None,
    order_by: str | None = None,
    page_size: int | None = None,
    fields: str | None = None,
    limit: int | None = None,
) -> Iterator[File]:
    """Return the files that match `q`, page after page as they are needed. `fields` are those of one file."""
    query = {
        "q": q,
        "orderBy": order_by,
        "pageSize": page_size,
        "fields": fields and f"nextPageToken,files({fields})",
    }
    return cast(Iterator[File], pages(session, session.names.path("files"), query, "files", limit=limit))


def copy_file(session: Session, file_id: str, metadata: File, *, query: Mapping[str, object] | None = None) -> File:
    """Copy a file and return the copy. Raises NotAllowed, NotFound.

    A request without a response is not sent again, because it may have made a copy.
    """
    return cast(File, session.call("POST", f"{file_path(session, file_id)}/copy", body=metadata, query=query))


def create_file(session: Session, metadata: File, *, query: Mapping[str, object] | None = None) -> File:
    """Create a file without content (A4). With an `id` from generate_ids the call can be repeated safely."""
    return cast(File, session.call("POST", session.names.path("files"), query=query, body=metadata))


def update_file(session: Session, file_id: str, metadata: File, *, query: Mapping[str, object] | None = None) -> File:
    """Change the fields of a file that are in `metadata` and return the file."""
    return cast(File, session.call("PATCH", file_path(session, file_id), query=query, body=metadata))


def delete_file(session: Session, file_id: str) -> None:
    """Delete a file permanently. Raises NotFound, also when it was deleted before."""
    session.call("DELETE", file_path(session, file_id))


def generate_ids(session: Session, count: int = 10) -> list[str]:
    """Return unused file ids, for creations that can be repeated safely (X-07)."""
    ids = session.call("GET", session.names.path("files", "generateIds"), query={"count": count}).get("ids")
    if not isinstance(ids, list):
        raise ServiceFailed("The service returned no list of ids.", location="ids")
    return [str(file_id) for file_id in ids]


def pages(
    session: Session,
    path: str,
    query: Mapping[str, object],
    key: str,
    *,
    limit: int | None = None,
) -> Iterator[JSONObject]:
    """Iterate over the items under `key` of every page, at most `limit` of them."""
    token: object = None
    left = limit
    while left is None or left > 0:
        page = session.call("GET", path, query={**query, "pageToken": token})
        items = _objects(page.get(key))
        yield from items if left is None else items[:left]
        left = None if left is None else left - len(items)
        before, token = token, page.get("nextPageToken")
        if not token:
            return
        if token == before:
            raise ServiceFailed("The service returned the same page token twice.", location="nextPageToken")


def _objects(items: object) -> list[JSONObject]:
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def file_path(session: Session, file_id: str) -> str:
    """Return the metadata path of a file. Raises TypeError and ValueError for an invalid id."""
    return session.names.path("files", segment(check_id(file_id)))


def check_id(identifier: str, argument: str = "file_id") -> str:
    """Return the id. Raises TypeError and ValueError that name the argument where it cannot be one."""
    if not isinstance(identifier, str):
        raise TypeError(f"{argument} is {type(identifier).__name__}; give the id as a str")
    if not identifier or identifier in (".", ".."):
        raise ValueError(f"{argument} is {identifier!r}; give an id that the service returned")
    return identifier


def share_file(session: Session, file_id: str, permission: Permission) -> Permission:
    """Create a permission on a file and return it."""
    path = f"{file_path(session, file_id)}/permissions"
    return cast(Permission, session.call("POST", path, query={"fields": "*"}, body=permission))


def file_permissions(session: Session, file_id: str) -> list[Permission]:
    """Return the permissions on a file."""
    answer = session.call("GET", f"{file_path(session, file_id)}/permissions", query={"fields": "permissions"})
    return cast(list[Permission], _objects(answer.get("permissions")))


def unshare_file(session: Session, file_id: str, permission_id: str) -> None:
    """Delete a permission."""
    session.call("DELETE", f"{file_path(session, file_id)}/permissions/{segment(permission_id)}")
