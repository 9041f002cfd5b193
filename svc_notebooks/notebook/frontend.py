"""Detects the front end in which the package runs, which is a notebook, a terminal or none."""

from __future__ import annotations

import sys
from typing import Literal, TypeAlias

FrontEnd: TypeAlias = Literal["notebook", "terminal", "none"]


def detect_frontend() -> FrontEnd:
    """Return "notebook", "terminal" or "none", without importing IPython, which a notebook has already imported."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if getattr(shell, "kernel", None) is not None:
        return "notebook"
    return "terminal" if sys.stderr is not None and sys.stderr.isatty() else "none"
