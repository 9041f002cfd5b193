"""Lists files for the forms, last modified first."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from .details import LIST_FIELDS, minute_text

if TYPE_CHECKING:
    from ....client.session import Session
    from ....core.resources.files import File, FileList
    from .search import FileQuery

MAX_FILES = 200
"""The maximum number of files in a selection list. The functions of the package accept any file."""


def latest_files(session: Session, *facts: str, q: str = "") -> list[File]:
    """Return at most 200 files with id, name, modifiedTime and `facts`, last modified first, without trashed files."""
    from ....client.files import list_files

    fields = ",".join(("id", "name", "modifiedTime", *facts))
    query = " and ".join(filter(None, [q, "trashed = false"]))
    return list(list_files(session, q=query, order_by="modifiedTime desc", fields=fields, limit=MAX_FILES))


def page_of_files(session: Session, query: FileQuery, token: str | None, size: int) -> FileList:
    """Request one page of the files that match a query. `token` is the page token, or None for the first page."""
    query_parameters = {"q": query.q, "orderBy": query.order_by, "pageSize": size, "pageToken": token}
    query_parameters["fields"] = f"nextPageToken,files({LIST_FIELDS})"
    return cast("FileList", session.call("GET", session.names.path("files"), query=query_parameters))


def file_line(facts: File, type_name: str = "") -> str:
    """Return the name, the type name and the modification time of a file as one line of text.

    >>> file_line({"name": "plan.txt", "modifiedTime": "2026-01-05T09:00:00.000Z"})
    'plan.txt (2026-01-05 09:00 UTC)'
    """
    return f"{facts.get('name')} ({type_name + ', ' if type_name else ''}{minute_text(facts.get('modifiedTime'))} UTC)"
