"""Keeps JupyterLab's shortcuts from taking the keys that are pressed in a form.

Without anywidget, Tab, Space and Enter work in forms, and arrow keys do not.
"""

from __future__ import annotations

from pathlib import Path

import anywidget


class FormKeys(anywidget.AnyWidget):
    """An invisible widget. While it exists, the elements of forms keep their keys.

    Any message moves the focus to the first field with a problem (`svc-bad`).

    >>> FormKeys()
    <FormKeys>
    """

    _esm = (Path(__file__).parent / "keyboard.js").read_text(encoding="utf-8")

    def __repr__(self) -> str:
        return "<FormKeys>"
