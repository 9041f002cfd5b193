"""Sends the result of a form to the browser, as a file of any size with anywidget, else as a link (up to 2 MiB)."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Protocol

import ipywidgets as widgets

from ...notebook.byte_sizes import MIB, size_text
from ...notebook.html import tag
from .preview import data_url

LARGEST_LINK = 2 * MIB
"""The maximum size in bytes of a file in a data URL. Some browsers limit links to this size."""


class BrowserDownload(Protocol):
    """A widget that sends files to the browser."""

    def save(self, name: str, media_type: str, body: bytes) -> str:
        """Send a file to the browser and return a status text. Raises ValueError if the file is too large."""

    def show(self, name: str, media_type: str, body: bytes) -> bool:
        """Show the bytes on the page. Return False if the widget cannot show this media type."""

    def clear(self) -> None:
        """Remove the file from the page."""


class LinkDownload(widgets.HTML):  # type: ignore[misc]
    """Implements BrowserDownload without anywidget, as a link that contains a file of up to 2 MiB."""

    value: str

    def __init__(self, on_received: Callable[[], None] = lambda: None) -> None:
        super().__init__()

    def save(self, name: str, media_type: str, body: bytes) -> str:
        if len(body) > LARGEST_LINK:
            raise ValueError(
                f"{name} has {size_text(len(body))}; without anywidget at most {size_text(LARGEST_LINK)} can be"
                " sent to the browser. Install anywidget, or save the file in the notebook folder."
            )
        link = tag("a", name, href=data_url(media_type, body), download=name, title=f"Save {name} on this computer")
        self.value = tag("p", "Click to save: ", link, f" ({size_text(len(body))})")
        return "click the link to save it"

    def show(self, name: str, media_type: str, body: bytes) -> bool:
        return False

    def clear(self) -> None:
        self.value = ""


def default_download(on_received: Callable[[], None]) -> BrowserDownload:
    """Create a DownloadWidget, or without anywidget a LinkDownload, which never calls `on_received`."""
    if find_spec("anywidget") is None:
        return LinkDownload(on_received)
    from .download_widget import DownloadWidget

    return DownloadWidget(on_received)
