"""The live page, which shows the files, messages and requests of a service when they arrive."""

from __future__ import annotations

import json
from base64 import b64encode
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import TypeAlias
from zlib import crc32

from ...core.clock import format_time, from_millis
from ...core.fault_plan import PRESETS
from ...core.http.messages import Query, Response
from ..calendars.event_messages import outbox
from ..dispatch.journal import Journal
from ..dispatch.service_context import ServiceContext
from ..files.resource import view_path
from ..files.tables import FileRow
from ..notifications.delivery_queue import DeliveryQueue
from .class_activity import ClassView
from .html import page_response

Row: TypeAlias = dict[str, object]
"""A row or an object of the response, as plain data."""

MAX_ROWS = 200
"""The maximum number of rows of each list. The page shows the latest rows."""


def activity(
    context: ServiceContext, journal: Journal, deliveries: DeliveryQueue, query: Query, class_view: ClassView
) -> Row:
    """Return the latest requests and messages, oldest first, and the latest files, last modified first.

    The query parameters describe the rows that the page has: `journal` is the id of the journal and `since` the number
    of a request, `messages`, `files` and `students` are the versions of these lists. The rows of a list that the page
    already has are None. Only the service of a class has students.
    """
    students = [{**row} for row in class_view.students()] if class_view.is_open else None
    since = _number(query.get("since")) if query.get("journal") == journal.id else 0
    return {
        "now": format_time(context.clock.now()),
        "journal": journal.id,
        "limit": MAX_ROWS,
        "requests": journal.rows(max(since, journal.last - MAX_ROWS)),
        "messages": _changed_list(_messages(context, deliveries), query.get("messages")),
        "files": _changed_list(
            [_file(context, *row) for row in context.store.files.latest(MAX_ROWS)], query.get("files")
        ),
        "students": None if students is None else _changed_list(students, query.get("students")),
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


_FOLDER = Path(__file__).parent


@cache
def live_page() -> Response:
    """Return the response with the live page, which is the same for everyone."""
    style, script = (f"\n{_read(name)}" for name in ("live_page.css", "live_page.js"))
    presets = "".join(f"<option>{escape(preset.name)}</option>" for preset in PRESETS)
    page = _read("live_page.html").replace("{presets}", presets).replace("{style}", style).replace("{script}", script)
    content = page.encode()
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'"
    )
    extra = [("Cross-Origin-Resource-Policy", "same-origin"), ("Referrer-Policy", "no-referrer")]
    return page_response(content, policy, *extra)


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
