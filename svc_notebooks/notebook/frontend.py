"""Detects the front end: a notebook, a terminal or none."""

from __future__ import annotations

import sys
from typing import Literal, TypeAlias

FrontEnd: TypeAlias = Literal["notebook", "terminal", "none"]


def detect_frontend() -> FrontEnd:
    """Where output goes. Nothing is imported to find out: a notebook has IPython loaded already."""
    if _kernel() is not None:
        return "notebook"
    return "terminal" if sys.stderr is not None and sys.stderr.isatty() else "none"


def _kernel() -> object | None:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return getattr(shell, "kernel", None)
