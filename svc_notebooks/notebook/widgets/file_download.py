"""Sends a result of a form to the browser. With anywidget files of any size, without it small ones as a link."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Protocol

import ipywidgets as widgets

from ..byte_sizes import MIB, size_text
from .html import tag
from .preview import data_url

LARGEST_LINK = 2 * MIB
"""The largest file in bytes for a data URL; some browsers limit links to this size."""


class BrowserDownload(Protocol):
    """A widget that sends files to the browser."""

    def save(self, name: str, media_type: str, body: bytes) -> str:
        """Save the bytes in the browser, and return a status text. Raises ValueError if there are too many."""

    def show(self, name: str, media_type: str, body: bytes) -> bool:
        """Show the bytes in the browser. Return False if it cannot show this media type."""

    def clear(self) -> None:
        """Remove the file from the page."""


class LinkDownload(widgets.HTML):  # type: ignore[misc]
    """A link that contains the file, up to 2 MiB, where anywidget is missing."""

    value: str

    def __init__(self, on_received: Callable[[], None] = lambda: None) -> None:
        super().__init__()

    def save(self, name: str, media_type: str, body: bytes) -> str:
        """Show the link, and return a status text. Raises ValueError for too many bytes."""
        if len(body) > LARGEST_LINK:
            raise ValueError(
                f"{name} has {size_text(len(body))}; without anywidget at most {size_text(LARGEST_LINK)} can be"
                " sent to the browser. Install anywidget, or save the file in the notebook folder."
            )
        link = tag("a", name, href=data_url(media_type, body), download=name, title=f"Save {name} on this computer")
        self.value = tag("p", "Click to save: ", link, f" ({size_text(len(body))})")
        return "click the link to save it"

    def show(self, name: str, media_type: str, body: bytes) -> bool:
        """Return False, because a link shows nothing on the page."""
        return False

    def clear(self) -> None:
        """Remove the link."""
        self.value = ""


def default_download(on_received: Callable[[], None]) -> BrowserDownload:
    """Return the BrowserDownload of this environment. `on_received` is called when the browser has received a file."""
    if find_spec("anywidget") is None:
        return LinkDownload(on_received)
    from .download_widget import DownloadWidget

    return DownloadWidget(on_received)
