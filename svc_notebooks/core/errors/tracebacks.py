"""How a notebook shows an error of ours: the one file that knows IPython's way to print a traceback.

Who reads it looks for the line of their own that went wrong and for the sentence that says why. What lies between, the
calls inside this package and those below it, is ours to look at: `%xmode Verbose` before the cell shows all of it.
"""

from __future__ import annotations

from copy import copy
from types import TracebackType
from typing import Any

_PACKAGE = __name__.partition(".")[0]


def render_error(error: BaseException) -> list[str]:
    """The lines that IPython prints of an error, the reader's own calls and the sentence."""
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    if shell is None:
        return [f"{type(error).__name__}: {error}"]
    printer = shell.InteractiveTB
    if printer.mode == "Verbose":
        return _lines(printer, error, error.__traceback__)
    return _lines(printer, copy(error), _frames_before_package(error.__traceback__))  # a copy has no cause


def _lines(printer: Any, error: BaseException, calls: TracebackType | None) -> list[str]:
    lines: list[str] = printer.structured_traceback(type(error), error, calls)
    return lines


def _frames_before_package(calls: TracebackType | None) -> TracebackType | None:
    """The calls before the first one into this package."""
    if calls is None or _is_in_package(calls):
        return None
    return TracebackType(_frames_before_package(calls.tb_next), calls.tb_frame, calls.tb_lasti, calls.tb_lineno)


def _is_in_package(call: TracebackType) -> bool:
    return str(call.tb_frame.f_globals.get("__name__")).partition(".")[0] == _PACKAGE
