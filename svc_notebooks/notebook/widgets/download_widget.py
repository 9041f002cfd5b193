"""The widget that saves or shows bytes in the browser, sent in slices of 1 MiB. Needs anywidget."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywidget
import traitlets

from ..byte_sizes import MIB, size_text

_FOLDER = Path(__file__).parent
_SLICE = MIB


class DownloadWidget(anywidget.AnyWidget):
    """What was handed over last; `taken` is its number once the browser has it.

    >>> result = DownloadWidget()
    >>> result.save("a.txt", "text/plain", b"hello"), result.taken
    (1, 0)
    """

    _esm = (_FOLDER / "file_download.js").read_text(encoding="utf-8")
    _css = (_FOLDER / "file_download.css").read_text(encoding="utf-8")

    taken = traitlets.Int(0, help="the number of the last result that the browser has").tag(sync=True)

    def __init__(self) -> None:
        super().__init__()
        self._last_number = 0

    def save(self, name: str, media_type: str, body: bytes) -> int:
        """Let the browser save these bytes as a file; the number that `taken` will have."""
        return self._transfer("save", name, media_type, body)

    def show(self, name: str, media_type: str, body: bytes) -> int:
        """Let the browser show these bytes."""
        return self._transfer("show", name, media_type, body)

    def clear(self) -> None:
        """Take away what is there."""
        self.send({"kind": "clear"})

    def _transfer(self, action: str, name: str, media_type: str, body: bytes) -> int:
        self._last_number += 1
        facts: dict[str, Any] = {"name": name, "mime": media_type, "size": len(body), "size_text": size_text(len(body))}
        self.send({"kind": action, "n": self._last_number, **facts})
        for start in range(0, len(body), _SLICE):
            self.send({"kind": "slice", "n": self._last_number}, [body[start : start + _SLICE]])
        return self._last_number

    def __repr__(self) -> str:
        return f"<BrowserResult: {self._last_number} handed over>"
