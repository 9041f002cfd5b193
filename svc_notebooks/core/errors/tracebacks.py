"""Tracebacks of package errors for notebooks, formatted with IPython's private functions.

A traceback shows the user's own lines and the message. After `%xmode Verbose`, the traceback shows all calls.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType, TracebackType
from typing import Any

_PACKAGE = __name__.partition(".")[0]
_PYTHON = tuple(os.path.normcase(sysconfig.get_path(name)) + os.sep for name in ("stdlib", "platstdlib"))
_INSTALLED = tuple(f"{os.sep}{folder}{os.sep}" for folder in ("site-packages", "dist-packages"))


@dataclass(frozen=True)
class TracebackRenderer:
    """The `_render_traceback_` of an error whose class does not have this method. IPython calls it."""

    error: BaseException

    def __call__(self) -> list[str]:
        return render_error(self.error)


def shorten_traceback(error: BaseException) -> None:
    """Let a notebook show only the user's own lines of an error. Without IPython, the error does not change."""
    if _shell() is not None and not hasattr(error, "_render_traceback_"):
        error._render_traceback_ = TracebackRenderer(error)  # type: ignore[attr-defined]


def render_error(error: BaseException) -> list[str]:
    """Return the traceback lines of an error with only the user's own lines, or in the mode Verbose with all lines.

    Returns one line with class name and message if IPython is not running.
    """
    shell = _shell()
    if shell is None:
        return [f"{type(error).__name__}: {error}"]
    printer, calls = shell.InteractiveTB, error.__traceback__
    lines: list[str]
    if printer.mode == "Verbose":
        lines = printer.structured_traceback(type(error), error, calls)
    else:
        with _without_causes(error):
            lines = printer.structured_traceback(type(error), error, _own_frames(calls), tb_offset=0)
    return lines


@contextmanager
def _without_causes(error: BaseException) -> Iterator[None]:
    """Remove the exceptions that led to an error inside the block. A user's class of errors may refuse to be copied."""
    causes = error.__cause__, error.__context__, error.__suppress_context__
    error.__cause__ = error.__context__ = None
    try:
        yield
    finally:
        error.__cause__, error.__context__, error.__suppress_context__ = causes


def _shell() -> Any:
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None


def _own_frames(calls: TracebackType | None) -> TracebackType | None:
    """Return the traceback without the frames of this package, of other installed packages and of Python."""
    if calls is None:
        return None
    inner = _own_frames(calls.tb_next)
    return TracebackType(inner, calls.tb_frame, calls.tb_lasti, calls.tb_lineno) if _is_own(calls.tb_frame) else inner


def _is_own(frame: FrameType) -> bool:
    file = os.path.normcase(frame.f_code.co_filename)
    is_library = file.startswith((*_PYTHON, "<frozen")) or any(folder in file for folder in _INSTALLED)
    is_compiled = file.endswith(".pyx")  # a relative path in pandas
    return str(frame.f_globals.get("__name__")).partition(".")[0] != _PACKAGE and not (is_library or is_compiled)
