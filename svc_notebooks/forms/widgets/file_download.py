"""A widget that sends a file to the browser in slices of 1 MiB, to save or show the file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from ...core.http.native_formats import PDF
from ...notebook.byte_sizes import MIB, size_text

_FOLDER = Path(__file__).parent
_SLICE = MIB


class DownloadWidget(anywidget.AnyWidget):
    """Sends files of any size to the browser, and shows PDF files on the page.

    `taken` is the number of the last file that the browser has received.

    >>> widget = DownloadWidget()
    >>> widget.save("a.txt", "text/plain", b"hello"), widget.taken
    ('sending to the browser', 0)
    >>> widget
    <DownloadWidget: 1 file sent to the browser>
    """

    _esm = (_FOLDER / "file_download.js").read_text(encoding="utf-8")
    _css = (_FOLDER / "file_download.css").read_text(encoding="utf-8")

    taken = traitlets.Int(0, help="the number of the last file that the browser has").tag(sync=True)

    def __init__(self, on_received: Callable[[], None] = lambda: None) -> None:
        super().__init__()
        self._last_number = 0
        self.observe(lambda _change: on_received(), "taken")

    def save(self, name: str, media_type: str, body: bytes) -> str:
        """Send a file to the browser and return a status text."""
        self._transfer("save", name, media_type, body)
        return "sending to the browser"

    def show(self, name: str, media_type: str, body: bytes) -> bool:
        """Show a PDF file on the page and return True. For any other media type, only return False."""
        if media_type == PDF:
            self._transfer("show", name, media_type, body)
        return media_type == PDF

    def clear(self) -> None:
        """Remove the file from the page."""
        self.send({"kind": "clear"})

    def _transfer(self, action: str, name: str, media_type: str, body: bytes) -> None:
        self._last_number += 1
        facts: dict[str, Any] = {"name": name, "mime": media_type, "size": len(body), "size_text": size_text(len(body))}
        self.send({"kind": action, "n": self._last_number, **facts})
        for start in range(0, len(body), _SLICE):
            self.send({"kind": "slice", "n": self._last_number}, [body[start : start + _SLICE]])

    def __repr__(self) -> str:
        files = f"{self._last_number or 'no'} file{'' if self._last_number == 1 else 's'}"
        return f"<DownloadWidget: {files} sent to the browser>"
