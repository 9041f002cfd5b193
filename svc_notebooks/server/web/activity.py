"""Collects the latest requests, messages and files of a service for the live page (live_page.py).

The page requests them repeatedly. So a response has only the requests that are new, and the list of messages or of
files only if it has changed.
"""

from __future__ import annotations

import json
from typing import TypeAlias
from zlib import crc32

from ...core.clock import format_time, from_millis
from ...core.http.messages import Query
from ..calendars.invitations import outbox
from ..dispatch.journal import Journal
from ..dispatch.service_context import ServiceContext
from ..files.resource import view_path
from ..files.tables import FileRow
from ..notifications.delivery_queue import DeliveryQueue
from .class_activity import ClassView

Row: TypeAlias = dict[str, object]
"""A row or an object of the response, as plain data."""

MAX_ROWS = 200
"""The maximum number of rows of each list. The page shows the latest rows."""


def activity(
    context: ServiceContext,
    journal: Journal,
    deliveries: DeliveryQueue,
    query: Query,
    class_view: ClassView | None = None,
) -> Row:
    """Return the latest requests and messages, oldest first, and the latest files, last modified first.

    The query parameters describe the rows that the page has: `journal` is the id of the journal and `since` the number
    of a request, `messages`, `files` and `students` are the versions of these lists. The rows of a list that the page
    already has are None. Only the service of a class has students.
    """
    has_class = class_view is not None and class_view.is_open
    students: list[Row] = [{**row} for row in class_view.students()] if class_view and has_class else []
    since = _number(query.get("since")) if query.get("journal") == journal.id else 0
    return {
        "now": format_time(context.clock.now()),
        "journal": journal.id,
        "limit": MAX_ROWS,
        "requests": journal.rows(max(since, journal.last - MAX_ROWS)),
        "messages": _changed_list(_messages(context, deliveries), query.get("messages")),
        "files": _changed_list(_files(context), query.get("files")),
        "students": _changed_list(students, query.get("students")) if has_class else None,
    }


def _number(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 16 else 0


def _changed_list(rows: list[Row], version_of_page: str | None) -> Row:
    version = f"{crc32(json.dumps(rows).encode()):08x}"
    return {"version": version, "rows": None if version == version_of_page else rows}


def _messages(context: ServiceContext, deliveries: DeliveryQueue) -> list[Row]:
    """Return the attempts to deliver notifications and the e-mails about events, in the order of their times."""
    rows: list[Row] = [{"kind": "notification", **row} for row in deliveries.deliveries(MAX_ROWS)]
    rows += [{"kind": "e-mail", **mail} for mail in outbox(context, MAX_ROWS)]
    return sorted(rows, key=lambda row: str(row["time"]))[-MAX_ROWS:]


def _files(context: ServiceContext) -> list[Row]:
    folders: dict[str | None, str] = {}
    rows = context.store.files.latest(MAX_ROWS)
    for parent in {row.parent for row in rows}:
        folder = context.store.files.get(parent) if parent else None
        folders[parent] = folder.name if folder else ""
    return [_file(context, row, folders[row.parent]) for row in rows]


def _file(context: ServiceContext, row: FileRow, folder: str) -> Row:
    return {
        "id": row.id,
        "name": row.name,
        "mimeType": row.mime_type,
        "size": row.size,
        "owner": row.owner,
        "folder": folder,
        "created": format_time(from_millis(row.created)),
        "modified": format_time(from_millis(row.modified)),
        "trashed": bool(row.trashed),
        "abusive": bool(row.abusive),
        "version": row.version,
        "link": context.policy.path_prefix + view_path(context, row),
    }
