"""Where a form hands a result to the person's browser: any size with anywidget, small ones as a link without it."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import anywidget
import ipywidgets as widgets
import traitlets

from ...core.http.native_formats import PDF
from ..sizes import MIB, size_text
from .html import tag
from .preview import data_url

LARGEST_LINK = 2 * MIB
"""Browsers take a link of this many bytes; some take no more."""


class BrowserDownload(Protocol):
    """What gives bytes to the browser."""

    widget: Any

    def save(self, name: str, media_type: str, body: bytes) -> str:
        """Let the browser save them, and say how that goes on. Raises ValueError where they are too many."""

    def show(self, name: str, media_type: str, body: bytes) -> bool:
        """Let the browser show them; False if it cannot show this type."""

    def clear(self) -> None:
        """Take away what is there."""


class InSlices:
    """Files of any size, and PDFs on the page (anywidget)."""

    def __init__(self, arrived: Callable[[], None]) -> None:
        from .file_download import DownloadWidget

        self.widget = DownloadWidget()
        self.widget.observe(lambda _change: arrived(), "taken")

    def save(self, name: str, media_type: str, body: bytes) -> str:
        self.widget.save(name, media_type, body)
        return "on its way to the browser"

    def show(self, name: str, media_type: str, body: bytes) -> bool:
        if media_type != PDF:
            return False
        self.widget.show(name, media_type, body)
        return True

    def clear(self) -> None:
        self.widget.clear()


class AsLink:
    """A link that holds the whole file: up to 2 MiB, for where anywidget is missing."""

    def __init__(self, arrived: Callable[[], None]) -> None:
        self.widget = widgets.HTML()

    def save(self, name: str, media_type: str, body: bytes) -> str:
        if len(body) > LARGEST_LINK:
            raise ValueError(
                f"{name} has {size_text(len(body))}; without anywidget at most {size_text(LARGEST_LINK)} go through"
                " the browser. Install anywidget, or save it beside the kernel."
            )
        link = tag("a", name, href=data_url(media_type, body), download=name, title=f"Save {name} on this computer")
        self.widget.value = tag("p", "Press to save: ", link, f" ({size_text(len(body))})")
        return "press the link to save it"

    def show(self, name: str, media_type: str, body: bytes) -> bool:
        return False

    def clear(self) -> None:
        self.widget.value = ""


def best_hand_over(arrived: Callable[[], None]) -> BrowserDownload:
    """What this environment can have; `arrived` is called when the browser has taken a result."""
    return InSlices(arrived) if find_spec("anywidget") else AsLink(arrived)


_HERE = Path(__file__).parent
_SLICE = MIB


class DownloadWidget(anywidget.AnyWidget):
    """What was handed over last; `taken` is its number once the browser has it.

    >>> result = DownloadWidget()
    >>> result.save("a.txt", "text/plain", b"hello"), result.taken
    (1, 0)
    """

    _esm = (_HERE / "file_download.js").read_text(encoding="utf-8")
    _css = (_HERE / "file_download.css").read_text(encoding="utf-8")

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
