"""Bytes from the kernel to the browser: to be saved by it, or, as a PDF, shown by it. Needs anywidget.

They go as messages of 1 MiB, which a saved notebook does not keep; the trait `taken` tells that they arrived.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywidget
import traitlets

from .sizes import MIB, size_text

_HERE = Path(__file__).parent
_SLICE = MIB


class BrowserResult(anywidget.AnyWidget):
    """What was handed over last; `taken` is its number once the browser has it.

    >>> result = BrowserResult()
    >>> result.save("a.txt", "text/plain", b"hello"), result.taken
    (1, 0)
    """

    _esm = (_HERE / "browser_result.js").read_text(encoding="utf-8")
    _css = (_HERE / "browser_result.css").read_text(encoding="utf-8")

    taken = traitlets.Int(0, help="the number of the last result that the browser has").tag(sync=True)

    def __init__(self) -> None:
        super().__init__()
        self._given = 0

    def save(self, name: str, media_type: str, body: bytes) -> int:
        """Let the browser save these bytes as a file; the number that `taken` will have."""
        return self._give("save", name, media_type, body)

    def show(self, name: str, media_type: str, body: bytes) -> int:
        """Let the browser show these bytes."""
        return self._give("show", name, media_type, body)

    def clear(self) -> None:
        """Take away what is there."""
        self.send({"kind": "clear"})

    def _give(self, kind: str, name: str, media_type: str, body: bytes) -> int:
        self._given += 1
        facts: dict[str, Any] = {"name": name, "mime": media_type, "size": len(body), "size_text": size_text(len(body))}
        self.send({"kind": kind, "n": self._given, **facts})
        for start in range(0, len(body), _SLICE):
            self.send({"kind": "slice", "n": self._given}, [body[start : start + _SLICE]])
        return self._given

    def __repr__(self) -> str:
        return f"<BrowserResult: {self._given} handed over>"
