"""Lists the messages of receivers with their channels and attempts, and the changes of files (Events, A9)."""

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

    from ...client.session import Session
    from ...server.notifications.delivery_queue import DeliveryRow

_CHANGE_FIELDS = "time,removed,fileId,file(name,mimeType,trashed)"


def notifications(*, session: Session | None = None) -> DataFrame:
    """List the messages that this session's receivers have got, with their channels and the outcome of their delivery.

    Returns:
        One row each: received (datetime64[ms, UTC]), channel_id, watching (str), number (Int64), state, changed
        (str), verified (boolean), tries (Int64), answers (str: the status of each try), outcome (str: delivered,
        retry or failed; only for a sandbox, because only the service has it), waited (Float64, seconds from the first
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
    attempts_by_message: dict[Any, list[DeliveryRow]] = {}
    for attempt in lab.service.deliveries() if lab else []:
        attempts_by_message.setdefault((attempt["channel_id"], attempt["message_number"]), []).append(attempt)
    rows: list[Record] = []
    for receiver in receivers_of(session):
        for message in receiver.received():
            record = message_record(message)
            channel = channels.get(record["channel_id"])
            attempts = attempts_by_message.get((record["channel_id"], record["number"]), [])
            times = [datetime.fromisoformat(attempt["time"]) for attempt in attempts]
            rows.append(
                {
                    **record,
                    "watching": channel and (channel.file or "changes"),
                    "outcome": attempts[-1]["outcome"] if attempts else None,
                    "waited": (times[-1] - times[0]).total_seconds() if times else None,
                }
            )
    return frame(NOTIFICATIONS, sorted(rows, key=lambda row: row["received"]))


def changes(page_token: str | None = None, *, session: Session | None = None) -> DataFrame:
    """List the last change of each of this user's files that has changed, the oldest first.

    Args:
        page_token: The start, which is `attrs["page_token"]` of an earlier result, or "1" for the beginning. None
            continues from this session's last call. The first call, or `watch_changes`, sets the start and lists none.

    Returns:
        One row for each file: time (datetime64[ms, UTC]), file_id, name, mime_type (str), removed (boolean: deleted,
        or not shared any more), trashed (boolean). `attrs["page_token"]` is the start for the next call.

    Raises:
        BadRequest: The token is not one of the service.

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
    registry = registry_of(session)
    start = optional_text("page_token", page_token) or registry.page_token or start_page_token(session)
    rows: list[Record] = []
    for change in changes_since(session, start, _CHANGE_FIELDS):
        file = change.get("file") or {}
        rows.append(
            {
                "time": change.get("time"),
                "fileId": change.get("fileId"),
                "name": file.get("name"),
                "mimeType": file.get("mimeType"),
                "removed": change.get("removed"),
                "trashed": file.get("trashed"),
            }
        )
    changed = frame(CHANGES, rows)
    changed.attrs["page_token"] = registry.page_token
    return changed
