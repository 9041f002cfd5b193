"""Sends a result of a form to the browser. With anywidget files of any size, without it small ones as a link."""

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
    """Sends files to the browser."""

    widget: Any

    def save(self, name: str, media_type: str, body: bytes) -> str:
        """Save the bytes in the browser, and return a status text. Raises ValueError if there are too many."""

    def show(self, name: str, media_type: str, body: bytes) -> bool:
        """Show the bytes in the browser. Return False if it cannot show this media type."""

    def clear(self) -> None:
        """Remove the file from the page."""


class AnywidgetDownload:
    """Sends files of any size, and shows PDFs on the page (anywidget)."""

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
    """Shows a link that contains the file, up to 2 MiB, where anywidget is missing."""

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
    """Return the BrowserDownload of this environment. `on_received` is called when the browser has received a file."""
    return AnywidgetDownload(on_received) if find_spec("anywidget") else LinkDownload(on_received)
