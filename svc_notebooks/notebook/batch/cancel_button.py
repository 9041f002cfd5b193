"""A button that interrupts the kernel. This module requires anywidget."""

from __future__ import annotations

from pathlib import Path

import anywidget
import traitlets


class CancelButton(anywidget.AnyWidget):
    """A button that interrupts the kernel, like the Stop button of JupyterLab, or `text` where that is not possible.

    >>> CancelButton(text="Interrupt the kernel to stop.")
    <CancelButton>
    """

    _esm = (Path(__file__).parent / "cancel_button.js").read_text(encoding="utf-8")
    text = traitlets.Unicode().tag(sync=True)

    def __repr__(self) -> str:
        return "<CancelButton>"
