"""The operations on files that are one JSON call each, or pages of them.

`fields` selects the fields of an answer, as the interface's partial responses do; without it the service
chooses. Files are dicts as they are on the wire.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..core.errors.errors import ServiceFailed
from ..core.http.messages import JSONObject, segment
from .session import Session


def get_file(session: Session, file_id: str, *, fields: str | None = None) -> JSONObject:
    """A file's metadata. Raises NotFound."""
    return session.call("GET", file_path(session, file_id), query={"fields": fields})


def list_files(
    session: Session,
    *,
    q: str | None = None,
    order_by: str | None = None,
    page_size: int | None = None,
    fields: str | None = None,
    limit: int | None = None,
) -> Iterator[JSONObject]:
    """The files that match `q`, page after page as they are needed; `fields` are those of one file."""
    query = {
        "q": q,
        "orderBy": order_by,
        "pageSize": page_size,
        "fields": fields and f"nextPageToken,files({fields})",
    }
    return pages(session, session.names.path("files"), query, "files", limit=limit)


def copy_file(
    session: Session, file_id: str, metadata: JSONObject, *, query: Mapping[str, object] | None = None
) -> JSONObject:
    """A copy of a file. Raises NotAllowed, NotFound; not sent again where nobody knows whether it was made."""
    return session.call("POST", f"{file_path(session, file_id)}/copy", body=metadata, query=query)


def create_file(session: Session, metadata: JSONObject, *, query: Mapping[str, object] | None = None) -> JSONObject:
    """Make a file without content (A4); with an `id` from generate_ids it may be repeated safely."""
    return session.call("POST", session.names.path("files"), query=query, body=metadata)


def update_file(
    session: Session,
    file_id: str,
    metadata: JSONObject,
    *,
    query: Mapping[str, object] | None = None,
) -> JSONObject:
    """Change some of a file's metadata; what is not named stays."""
    return session.call("PATCH", file_path(session, file_id), query=query, body=metadata)


def delete_file(session: Session, file_id: str) -> None:
    """Remove a file for good. Raises NotFound, also when it was removed before."""
    session.call("DELETE", file_path(session, file_id))


def generate_ids(session: Session, count: int = 10) -> list[str]:
    """File ids that nobody uses, for creations that may be repeated (X-07)."""
    answer = session.call("GET", session.names.path("files", "generateIds"), query={"count": count})
    ids = answer.get("ids")
    if not isinstance(ids, list):
        raise ServiceFailed("The service answered no list of ids.", location="ids")
    return [str(file_id) for file_id in ids]


def pages(
    session: Session,
    path: str,
    query: Mapping[str, object],
    key: str,
    *,
    limit: int | None = None,
) -> Iterator[JSONObject]:
    """The items under `key` of every page, following nextPageToken; at most `limit` of them."""
    token: object = None
    left = limit
    while left is None or left > 0:
        page = session.call("GET", path, query={**query, "pageToken": token})
        items = page.get(key)
        entries = [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
        yield from entries if left is None else entries[:left]
        left = None if left is None else left - len(entries)
        before, token = token, page.get("nextPageToken")
        if not token:
            return
        if token == before:
            raise ServiceFailed("The service answered the same page token twice.", location="nextPageToken")


def file_path(session: Session, file_id: str) -> str:
    """The metadata path of a file. Raises TypeError and ValueError for what is no id."""
    return session.names.path("files", segment(checked_id(file_id)))


def checked_id(identifier: str, argument: str = "file_id") -> str:
    """The id, if it can be one. Raises TypeError and ValueError that name the argument."""
    if not isinstance(identifier, str):
        raise TypeError(f"{argument} is {type(identifier).__name__}; give the id as a str")
    if not identifier or identifier in (".", ".."):
        raise ValueError(f"{argument} is {identifier!r}; give the id that the service answered")
    return identifier


def share_file(session: Session, file_id: str, permission: JSONObject) -> JSONObject:
    """Give somebody a role on a file; the permission."""
    return session.call("POST", _permissions(session, file_id), query={"fields": "*"}, body=permission)


def file_permissions(session: Session, file_id: str) -> list[JSONObject]:
    """Who has which role on a file."""
    answer = session.call("GET", _permissions(session, file_id), query={"fields": "permissions"})
    permissions = answer.get("permissions")
    return (
        [permission for permission in permissions if isinstance(permission, dict)]
        if isinstance(permissions, list)
        else []
    )


def unshare_file(session: Session, file_id: str, permission_id: str) -> None:
    """Take a permission away."""
    session.call("DELETE", f"{_permissions(session, file_id)}/{segment(permission_id)}")


def _permissions(session: Session, file_id: str) -> str:
    return f"{file_path(session, file_id)}/permissions"
