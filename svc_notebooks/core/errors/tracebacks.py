"""Tracebacks of package errors for notebooks, formatted with IPython's private functions.

A traceback shows the user's own lines and the message. After `%xmode Verbose`, the traceback shows all calls.
"""

from __future__ import annotations

from copy import copy
from types import TracebackType

_PACKAGE = __name__.partition(".")[0]


def render_error(error: BaseException) -> list[str]:
    """Return the traceback lines of an error without the calls inside this package, except in the mode Verbose.

    Returns one line with class name and message if IPython is not running.
    """
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    if shell is None:
        return [f"{type(error).__name__}: {error}"]
    printer, calls = shell.InteractiveTB, error.__traceback__
    if printer.mode != "Verbose":
        error, calls = copy(error), _frames_before_package(calls)  # a copy of an exception has no cause
    lines: list[str] = printer.structured_traceback(type(error), error, calls)
    return lines


def _frames_before_package(calls: TracebackType | None) -> TracebackType | None:
    if calls is None or str(calls.tb_frame.f_globals.get("__name__")).partition(".")[0] == _PACKAGE:
        return None
    return TracebackType(_frames_before_package(calls.tb_next), calls.tb_frame, calls.tb_lasti, calls.tb_lineno)
