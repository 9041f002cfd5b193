"""Adds a message to the KeyboardInterrupt of a transfer: how much is stored, and how to resume the transfer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..byte_sizes import share_text

if TYPE_CHECKING:
    from ...client.uploads.resumable_upload import ClientUpload


@contextmanager
def explaining_interrupt(explain: Callable[[], str]) -> Iterator[None]:
    """Set the message of a KeyboardInterrupt in the block to the result of `explain`."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        interrupt.args = (explain(),)
        raise


def stored_text(upload: ClientUpload) -> str:
    return f"{share_text(upload.stored, upload.total)} are stored"
