"""Lists the messages of receivers with their channels and delivery attempts, and the changes of files (Events, A9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...client.notifications.channels import changes_since, registry_of, start_page_token
from ..arguments import optional_text
from ..current_session import SessionLike, session_or_current
from ..frames.frames import frame
from ..frames.schemas import CHANGES
from ..sandbox.sandbox import sandbox_of
from .open_receiver import notification_rows, receivers_of
from .receiver import Receiver

if TYPE_CHECKING:
    from pandas import DataFrame

_DELIVERY_SECONDS = 1.0
_CHANGE_FIELDS = "time,removed,fileId,file(name,mimeType,trashed)"


def notifications(receiver: Receiver | None = None, *, session: SessionLike = None) -> DataFrame:
    """List the messages that this session's receivers have received, in the order of arrival.

    In a sandbox, first wait until the messages that are due have been delivered, for at most a second.

    Args:
        receiver: Only the messages of this receiver. None lists those of all.

    Returns:
        One row for each message: received (datetime64[ms, UTC], the time of the first arrival), channel_id, watching
        (str, a file id or "changes"), number (Int64, the message number), state, changed (str), verified (boolean:
        True if the message had the token of its channel), tries (Int64, the number of arrivals), answers (str: the
        status of each response), outcome (str: delivered, retry, failed or cancelled), waited (Float64, seconds from
        the first to the last delivery attempt), content_type (str), content_length (Int64, bytes). outcome and waited
        are missing outside a sandbox, because other services do not report their attempts.

    See docs/rules.md#n-notifications (N).

    >>> lab = svc.sandbox()
    >>> rx = svc.receiver(direct=True)
    >>> channel = svc.watch_changes(rx)
    >>> svc.notifications()[["state", "answers", "outcome"]].values.tolist()
    [['sync', '200', 'delivered']]
    """
    session = session_or_current(session)
    if lab := sandbox_of(session):
        lab.service.deliver(_DELIVERY_SECONDS)
    if receiver is not None and not isinstance(receiver, Receiver):
        raise TypeError(f"receiver must be a receiver, as of receiver(), not {type(receiver).__name__}")
    receivers = receivers_of(session) if receiver is None else [receiver]
    return notification_rows(session, (message for each in receivers for message in each.received()))


def changes(page_token: str | None = None, *, session: SessionLike = None) -> DataFrame:
    """List this user's files that have changed since a position in the change log, with the last change of each file.

    The oldest change comes first.

    Args:
        page_token: The position from which to list changes, as `attrs["page_token"]` of an earlier result. "1" means
            the beginning of the change log. None continues after this session's last call. If there was no such call,
            None continues after the first `watch_changes`, or returns an empty frame and sets the position to now.

    Returns:
        One row for each changed file: time (datetime64[ms, UTC]), file_id, name, mime_type (str), removed (boolean:
        True if the file was deleted or is not shared with this user any more), trashed (boolean).
        `attrs["page_token"]` of the frame is the position for the next call.

    Raises:
        BadRequest: The service did not issue this page token.

    See docs/rules.md#a9-watch-the-change-log (A9).

    >>> lab = svc.sandbox()
    >>> len(svc.changes())
    0
    >>> file = svc.upload(b"new", name="new.txt")
    >>> svc.changes()[["name", "removed"]].values.tolist()
    [['new.txt', False]]
    """
    session = session_or_current(session)
    registry = registry_of(session)
    start = optional_text("page_token", page_token) or registry.page_token or start_page_token(session)
    listed = changes_since(session, start, _CHANGE_FIELDS)
    changed = frame(CHANGES, [{**(change.get("file") or {}), **change} for change in listed])
    changed.attrs["page_token"] = registry.page_token
    return changed
