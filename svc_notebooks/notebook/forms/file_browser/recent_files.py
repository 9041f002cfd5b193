"""Lists files for the forms, last modified first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .details import LIST_FIELDS

if TYPE_CHECKING:
    from ....client.session import Session
    from ....core.http.messages import JSONObject
    from ....core.resources.files import File
    from .search import FileQuery

MAX_FILES = 200
"""A list that is longer is not read to its end; the functions take any file."""


def latest_files(session: Session, *facts: str, q: str = "") -> list[File]:
    """Return files outside of the trash with their id, name, modifiedTime and these fields."""
    from ....client.files import list_files

    fields = ",".join(("id", "name", "modifiedTime", *facts))
    query = " and ".join(filter(None, [q, "trashed = false"]))
    return list(list_files(session, q=query, order_by="modifiedTime desc", fields=fields, limit=MAX_FILES))


def page_of_files(session: Session, query: FileQuery, token: str | None, size: int) -> JSONObject:
    """Return one page of the files of a query."""
    query_parameters = {"q": query.q, "orderBy": query.order_by, "pageSize": size, "pageToken": token}
    return session.call(
        "GET", session.names.path("files"), query={**query_parameters, "fields": f"nextPageToken,files({LIST_FIELDS})"}
    )


def file_line(facts: Mapping[str, Any], type_name: str = "") -> str:
    """Return a file as one line of a list.

    >>> file_line({"name": "plan.txt", "modifiedTime": "2026-01-05T09:00:00.000Z"})
    'plan.txt (2026-01-05 09:00 UTC)'
    """
    changed = str(facts.get("modifiedTime") or "")[:16].replace("T", " ")
    return f"{facts.get('name')} ({type_name + ', ' if type_name else ''}{changed} UTC)"
