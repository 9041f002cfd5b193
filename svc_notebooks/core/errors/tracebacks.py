"""Shows an error of the package in a notebook, by IPython's private traceback functions.

A reader needs the line of their own code and the message. The calls inside this package are left out; `%xmode Verbose`
in a cell before shows them.
"""

from __future__ import annotations

from copy import copy
from types import TracebackType

_PACKAGE = __name__.partition(".")[0]


def render_error(error: BaseException) -> list[str]:
    """Return the lines of an error that IPython prints, which are the user's own calls and the message."""
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    if shell is None:
        return [f"{type(error).__name__}: {error}"]
    printer, calls = shell.InteractiveTB, error.__traceback__
    if printer.mode != "Verbose":
        error, calls = copy(error), _frames_before_package(calls)  # a copy has no cause
    lines: list[str] = printer.structured_traceback(type(error), error, calls)
    return lines


def _frames_before_package(calls: TracebackType | None) -> TracebackType | None:
    """Return the calls before the first one into this package."""
    if calls is None or str(calls.tb_frame.f_globals.get("__name__")).partition(".")[0] == _PACKAGE:
        return None
    return TracebackType(_frames_before_package(calls.tb_next), calls.tb_frame, calls.tb_lasti, calls.tb_lineno)
