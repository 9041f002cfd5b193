"""Sending prepared uploads, each under its progress bar."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.wire import JSONObject
from .progress import Progress, reporting

if TYPE_CHECKING:
    from ..client.session import Session
    from ..client.uploads import Order


def label_of(order: Order) -> str:
    """What the progress bar of an upload says."""
    return f"Upload {order.target.metadata.get('name') or order.source.name or 'bytes'}"


def carried_out(session: Session, order: Order, progress: Progress) -> JSONObject:
    """Do what was prepared; the file's metadata."""
    from ..client.uploads import carry_out

    with reporting(progress, label_of(order), order.source.size) as report:
        return carry_out(session, order, report)
