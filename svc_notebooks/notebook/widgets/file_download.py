"""Sends a result of a form to the browser: files of any size with anywidget, small ones as a link without it."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, Protocol

import ipywidgets as widgets

from ...core.http.native_formats import PDF
from ..byte_sizes import MIB, size_text
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


class AnywidgetDownload:
    """Files of any size, and PDFs on the page (anywidget)."""

    def __init__(self, arrived: Callable[[], None]) -> None:
        from .download_widget import DownloadWidget

        self.widget = DownloadWidget()
        self.widget.observe(lambda _change: arrived(), "taken")

    def save(self, name: str, media_type: str, body: bytes) -> str:
        self.widget.save(name, media_type, body)
        return "sending to the browser"

    def show(self, name: str, media_type: str, body: bytes) -> bool:
        if media_type != PDF:
            return False
        self.widget.show(name, media_type, body)
        return True

    def clear(self) -> None:
        self.widget.clear()


class LinkDownload:
    """A link that holds the whole file: up to 2 MiB, for where anywidget is missing."""

    def __init__(self, arrived: Callable[[], None]) -> None:
        self.widget = widgets.HTML()

    def save(self, name: str, media_type: str, body: bytes) -> str:
        if len(body) > LARGEST_LINK:
            raise ValueError(
                f"{name} has {size_text(len(body))}; without anywidget at most {size_text(LARGEST_LINK)} can be"
                " sent to the browser. Install anywidget, or save the file in the notebook folder."
            )
        link = tag("a", name, href=data_url(media_type, body), download=name, title=f"Save {name} on this computer")
        self.widget.value = tag("p", "Click to save: ", link, f" ({size_text(len(body))})")
        return "click the link to save it"

    def show(self, name: str, media_type: str, body: bytes) -> bool:
        return False

    def clear(self) -> None:
        self.widget.value = ""


def default_download(on_received: Callable[[], None]) -> BrowserDownload:
    """What this environment can have; `arrived` is called when the browser has taken a result."""
    return AnywidgetDownload(on_received) if find_spec("anywidget") else LinkDownload(on_received)
