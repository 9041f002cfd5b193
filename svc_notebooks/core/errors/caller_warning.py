"""Shows a warning at the line of the user that called this package."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import TypeAlias

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


_PACKAGE = __name__.partition(".")[0]

CallerWarnings: TypeAlias = "list[tuple[str, type[Warning]]]"
"""The arguments of calls of `warn_caller`."""

_collected: ContextVar[CallerWarnings | None] = ContextVar("collected", default=None)


@contextmanager
def collected_warnings() -> Iterator[CallerWarnings]:
    """Collect the warnings of the block in a list. A thread or process that the user did not start cannot show them."""
    collected: CallerWarnings = []
    token = _collected.set(collected)
    try:
        yield collected
    finally:
        _collected.reset(token)


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Show a warning at the first stack frame outside of this package, once per source line and message."""
    if (collected := _collected.get()) is not None:
        return collected.append((message, category))
    frame: FrameType | None = sys._getframe()
    level = 1  # the stack level of the first frame outside of this package
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in (_PACKAGE, "contextlib"):
        frame = frame.f_back  # None after the first frame of a thread
        level += 1
    warnings.warn(message, category, stacklevel=level)
