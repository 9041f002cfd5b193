"""Detects the front end in which the package runs, which is a notebook, a terminal or none."""

from __future__ import annotations

import sys
from typing import Any, Literal

_IPYTHON_PROMPT = "In : "  # the value of sys.ps1 that IPython sets, and leaves when it ends


def detect_frontend() -> Literal["notebook", "terminal", "none"]:
    """Return "notebook", "terminal" or "none", without importing IPython, which a notebook has already imported."""
    if getattr(_shell(), "kernel", None) is not None:
        return "notebook"
    return "terminal" if sys.stderr is not None and sys.stderr.isatty() else "none"


def is_unattended() -> bool:
    """Return True in a kernel whose cells are run by a program that answers no questions, such as nbclient."""
    kernel = getattr(_shell(), "kernel", None)
    return kernel is not None and not getattr(kernel, "_allow_stdin", True)


def at_prompt() -> bool:
    """Return True at the prompt of Python or IPython, which shows the `repr` of a value."""
    return _shell() is not None or getattr(sys, "ps1", _IPYTHON_PROMPT) != _IPYTHON_PROMPT


def use_columns_of_kernel() -> None:
    """Let pandas show as many columns as in a kernel. Loaded before the kernel, it has the default of a terminal."""
    import pandas

    pandas.set_option("display.max_columns", 20)


def _shell() -> Any:
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None
