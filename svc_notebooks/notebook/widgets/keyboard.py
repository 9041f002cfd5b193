"""Prevents JupyterLab shortcuts from handling the keys that a person presses in a form. Requires anywidget.

Without anywidget, Tab, Space and Enter work in forms, but arrow keys do not.
"""

from __future__ import annotations

from pathlib import Path

import anywidget


class FormKeys(anywidget.AnyWidget):
    """An invisible widget that prevents JupyterLab from handling the keys that a person presses in a form.

    After a message from the kernel, the browser focuses the first field with a problem (class `svc-bad`).

    >>> FormKeys()
    <FormKeys>
    """

    _esm = (Path(__file__).parent / "keyboard.js").read_text(encoding="utf-8")

    def __repr__(self) -> str:
        return "<FormKeys>"
