"""Warns a user who downloads a file that was flagged as malware or spam (A6-04c)."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from .errors import AbusiveFileWarning

_PACKAGE = __name__.partition(".")[0]
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
        message = f"{name} ({file_id}) was flagged as malware or spam; acknowledge_abuse=True downloads it."
        level = 1  # the stack level of the first frame outside of this package
        while sys._getframe(level).f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
            level += 1
        warnings.warn(message, AbusiveFileWarning, stacklevel=level + 1)
