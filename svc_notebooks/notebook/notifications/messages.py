"""Lists the messages of receivers with their channels and attempts, and the change log (Events, A9)."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from ..arguments import optional_text
from ..current_session import session_or_current
from ..frames.frames import Record, frame
from ..frames.schemas import CHANGES, NOTIFICATIONS
from ..sandbox.sandbox import sandbox_of
from .open_receiver import receivers_of
from .receiver import message_record

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.notifications.channels import Channel
    from ...client.session import Session

_CHANGE_FIELDS = "time,removed,fileId,file(name,mimeType,trashed)"


def notifications(*, session: Session | None = None) -> DataFrame:
    """Every message that this session's receivers have got, with its channel, and how its delivery went.

    Returns:
        One row each: received (datetime64[ms, UTC]), channel_id, watching (str), number (Int64), state, changed
        (str), verified (boolean), tries (Int64), answers (str: the status of each try), outcome (str: delivered,
        retry, failed; of a sandbox alone, since only the service knows), waited (Float64, seconds from the first
        try to the last), content_type (str), content_length (Int64, bytes).

    See docs/rules.md#n-notifications (N).

    >>> lab = svc.sandbox()
    >>> rx = svc.receiver(direct=True)
    >>> channel = svc.watch_changes(rx)
    >>> lab.deliver()
    >>> svc.notifications()[["state", "answers", "outcome"]].values.tolist()
    [['sync', '200', 'delivered']]
    """
    from ...client.notifications.channels import registry_of

    session = session_or_current(session)
    lab, channels = sandbox_of(session), registry_of(session).channels
    attempts_by_message = _attempts(lab.service.deliveries() if lab else [])
    records = [message_record(message) for rx in receivers_of(session) for message in rx.received()]
    rows = [_joined(record, channels, attempts_by_message) for record in records]
    return frame(NOTIFICATIONS, sorted(rows, key=lambda row: row["received"]))


def _attempts(rows: list[dict[str, Any]]) -> dict[tuple[str, int], list[dict[str, Any]]]:
    attempts: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for row in rows:
        attempts.setdefault((row["channel_id"], row["message_number"]), []).append(row)
    return attempts


def _joined(
    record: Record, channels: dict[str, Channel], attempts_by_message: dict[Any, list[dict[str, Any]]]
) -> dict[str, Any]:
    channel, attempts = (
        channels.get(record["channel_id"]),
        attempts_by_message.get((record["channel_id"], record["number"]), []),
    )
    watching = channel and (channel.file or "changes")
    times = [datetime.fromisoformat(row["time"]) for row in attempts]
    return {
        **record,
        "watching": watching,
        "outcome": attempts[-1]["outcome"] if attempts else None,
        "waited": (times[-1] - times[0]).total_seconds() if times else None,
    }


def changes(page_token: str | None = None, *, session: Session | None = None) -> DataFrame:
    """What has changed in this user's files: for each file its last change, the oldest first.

    Args:
        page_token: Where to begin: the `attrs["page_token"]` of an earlier result, or "1" for the beginning. None
            goes on where this session was: the first call marks the place and is empty (so does `watch_changes`).

    Returns:
        One row for each file: time (datetime64[ms, UTC]), file_id, name, mime_type (str), removed (boolean: deleted,
        or not shared any more), trashed (boolean). `attrs["page_token"]` is where the next one begins.

    Raises:
        BadRequest: The token was never given.

    See docs/rules.md#a9-watch-the-change-log (A9).

    >>> lab = svc.sandbox()
    >>> len(svc.changes())
    0
    >>> file = svc.upload(b"new", name="new.txt")
    >>> svc.changes()[["name", "removed"]].values.tolist()
    [['new.txt', False]]
    """
    from ...client.notifications.channels import changes_since, registry_of, start_page_token

    session = session_or_current(session)
    register = registry_of(session)
    start = optional_text("page_token", page_token) or register.page_token or start_page_token(session)
    changed = frame(CHANGES, [_change(entry) for entry in changes_since(session, start, _CHANGE_FIELDS)])
    changed.attrs["page_token"] = register.page_token
    return changed


def _change(entry: dict[str, Any]) -> Record:
    file = entry.get("file") or {}
    return {
        "time": entry.get("time"),
        "fileId": entry.get("fileId"),
        "name": file.get("name"),
        "mimeType": file.get("mimeType"),
        "removed": entry.get("removed"),
        "trashed": file.get("trashed"),
    }
