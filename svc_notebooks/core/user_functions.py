"""Checks functions that users pass as arguments, and shows their errors. An error does not change the work."""

from __future__ import annotations

import inspect
import sys
import traceback
from collections.abc import Callable

from .errors.public_calls import own_frames


def takes(function: Callable[..., object], count: int) -> bool:
    """Return True if a function can be called with `count` arguments by position, or if it does not show its arguments.

    >>> takes(lambda: None, 0), takes(lambda: None, 1), takes(print, 2)
    (True, False, True)
    """
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        return False
    except ValueError:  # a function that is written in C may have no signature
        return True
    return True


def check_function(argument: str, function: Callable[..., object], parameters: tuple[str, ...]) -> None:
    """Raise TypeError if a function cannot be called with these parameters. `argument` is for the error message.

    >>> check_function("progress", lambda done: None, ("done", "total"))
    Traceback (most recent call last):
    TypeError: progress must be a function of (done, total), but <lambda> is a function of (done)
    """
    if not takes(function, len(parameters)):
        name = getattr(function, "__name__", type(function).__name__)
        expected = f"of ({', '.join(parameters)})" if parameters else "without arguments"
        actual = ", ".join(inspect.signature(function).parameters)
        raise TypeError(f"{argument} must be a function {expected}, but {name} is a function of ({actual})")


def show_error(where: str, error: Exception) -> None:
    """Print an error of a user's function with the user's own lines to standard error, in a notebook below the cell."""
    lines = traceback.format_exception(type(error), error, own_frames(error.__traceback__))
    if sys.stderr is not None:
        print(f"{where}\n{''.join(lines)}", end="", file=sys.stderr, flush=True)
