"""Warns a user who downloads a file that was flagged as malware or spam (A6-04c)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from .caller_warning import warn_caller
from .errors import AbusiveFileWarning

_confirmed = ContextVar("abuse_warning_suppressed", default=False)


@contextmanager
def suppress_abuse_warning() -> Iterator[None]:
    """Suppress the abuse warning inside the block, because a form has asked the user for confirmation (A6-04a)."""
    token = _confirmed.set(True)
    try:
        yield
    finally:
        _confirmed.reset(token)


def warn_of_abuse(name: str, file_id: str) -> None:
    """Show an AbusiveFileWarning at the first stack frame outside of this package, once per source line and file."""
    if not _confirmed.get():
        message = (
            f"{name} ({file_id}) was flagged as malware or spam and is downloaded because of acknowledge_abuse=True."
        )
        warn_caller(message, AbusiveFileWarning)
