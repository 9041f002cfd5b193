"""Invisible widgets that run JavaScript in the page of a form.

This module requires anywidget. Without anywidget, Tab, Space and Enter work in forms, but arrow keys do not, and a form
recognizes a restarted kernel, but not a kernel that has died.
"""

from __future__ import annotations

from pathlib import Path

import anywidget

_FOLDER = Path(__file__).parent


class FormKeys(anywidget.AnyWidget):
    """An invisible widget that prevents JupyterLab from handling the keys that a person presses in a form.

    After a message from the kernel, the browser focuses the first field with a problem (class `svc-bad`).

    >>> FormKeys()
    <FormKeys>
    """

    _esm = (_FOLDER / "keyboard.js").read_text(encoding="utf-8")

    def __repr__(self) -> str:
        return "<FormKeys>"


class KernelStatus(anywidget.AnyWidget):
    """An invisible widget that shows the message `no_kernel` of a form while the form is not connected to its kernel.

    >>> KernelStatus()
    <KernelStatus>
    """

    _esm = (_FOLDER / "kernel_status.js").read_text(encoding="utf-8")

    def __repr__(self) -> str:
        return "<KernelStatus>"
