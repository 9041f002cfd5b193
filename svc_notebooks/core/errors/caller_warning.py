"""Shows a warning at the line of the user that called this package."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

_PACKAGE = __name__.partition(".")[0]


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Show a warning at the first stack frame outside of this package, once per source line and message."""
    frame: FrameType | None = sys._getframe()
    level = 1  # the stack level of the first frame outside of this package
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        frame = frame.f_back  # None after the first frame of a thread
        level += 1
    warnings.warn(message, category, stacklevel=level)
