"""Where a form's files come from: the person's computer, or the disk beside the kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import ipywidgets as widgets

from ...core.http.mime import by_name
from .field import entry

NOTHING_CAME = (
    "No file is chosen. If the button above shows a number, the file did not reach Python: over about 10 MB"
    " the notebook server drops it without a word. Install anywidget, or put the file beside the kernel"
    " with JupyterLab's file browser and give its path."
)
NOTHING_CHOSEN = "No file is chosen: choose or drop one, or give the path of a file beside the kernel."


@dataclass(frozen=True, slots=True)
class Chosen:
    """One file to upload: `source` is a path or its bytes."""

    name: str
    source: Path | bytes
    mime_type: str | None = None

    def media_type(self, *, converted: bool) -> str | None:
        """The type to send it under. Browsers call a CSV what the computer's last office program said.

        >>> Chosen("a.csv", b"", "application/vnd.ms-excel").media_type(converted=True)
        'text/csv'
        """
        by_its_name = by_name(self.name)
        return (by_its_name or self.mime_type) if converted else (self.mime_type or by_its_name)


class Picker(Protocol):
    """What takes files from the person's computer."""

    widget: Any

    def chosen(self) -> list[Chosen]:
        """The files that are here. Raises ValueError while some are still on their way."""

    def names(self) -> list[str]:
        """What the files are called, those on their way too."""

    def watch(self, changed: Callable[[], None]) -> None:
        """Call this whenever other files are chosen."""

    def forget(self, uploaded: list[Chosen]) -> None:
        """Take these off the list."""

    def nothing(self) -> str:
        """What to say when nothing is chosen."""


class SlicePicker:
    """Files of any size, in slices (anywidget)."""

    def __init__(self) -> None:
        from .file_upload import BrowserFiles

        self.widget = BrowserFiles()

    def chosen(self) -> list[Chosen]:
        arrivals = self.widget.inbox.arrivals
        coming = [one.name for one in arrivals if not one.complete]
        if coming:
            raise ValueError(
                f"{', '.join(coming)}: not all of it has reached the kernel yet. Wait until it is ready, or remove it."
            )
        return [Chosen(one.name, one.path, one.mime_type or None) for one in arrivals]

    def names(self) -> list[str]:
        return [one.name for one in self.widget.inbox.arrivals]

    def watch(self, changed: Callable[[], None]) -> None:
        self.widget.observe(lambda _change: changed(), "files")

    def forget(self, uploaded: list[Chosen]) -> None:
        self.widget.forget([one.source for one in uploaded if isinstance(one.source, Path)])

    def nothing(self) -> str:
        return NOTHING_CHOSEN


class SmallPicker:
    """ipywidgets' own upload, for where anywidget is missing: up to about 10 MB."""

    def __init__(self) -> None:
        self.widget = widgets.FileUpload(
            multiple=True,
            description="Choose files",
            tooltip="Files of this computer, up to about 10 MB (more needs anywidget)",
        )

    def chosen(self) -> list[Chosen]:
        return [Chosen(item["name"], bytes(item["content"]), item["type"] or None) for item in self.widget.value]

    def names(self) -> list[str]:
        return [item["name"] for item in self.widget.value]

    def watch(self, changed: Callable[[], None]) -> None:
        self.widget.observe(lambda _change: changed(), "value")

    def forget(self, uploaded: list[Chosen]) -> None:
        self.widget.value = ()

    def nothing(self) -> str:
        return NOTHING_CAME


def best_picker() -> Picker:
    """The picker that this environment can have."""
    return SlicePicker() if find_spec("anywidget") else SmallPicker()


class FileChoice(widgets.VBox):  # type: ignore[misc]
    """Files of the person's computer, and one beside the kernel."""

    def __init__(self, make_picker: Callable[[], Picker] = best_picker) -> None:
        self.picker = make_picker()
        self._given: list[Chosen] = []
        self.path = entry(
            "File beside the kernel",
            "The path of a file that the kernel can read itself",
            hint="a path, like data/survey.csv",
        )
        super().__init__([self.picker.widget, self.path])

    def chosen(self) -> list[Chosen]:
        """Every file that is chosen. Raises ValueError when there is none, or not all of it here."""
        found = [*self.picker.chosen(), *self._beside()]
        if not found:
            raise ValueError(self.picker.nothing())
        self._given = found
        return found

    def single(self) -> Chosen:
        """The one file that is chosen. Raises ValueError for none, and for several."""
        found = self.chosen()
        if len(found) > 1:
            raise ValueError(f"{len(found)} files are chosen, and a file has the content of one: remove the others.")
        return found[0]

    def names(self) -> list[str]:
        """What a cell would call them."""
        return [*self.picker.names(), *filter(None, [self.path.value.strip()])]

    def watch(self, changed: Callable[[], None]) -> None:
        """Call this whenever other files are chosen."""
        self.picker.watch(changed)
        self.path.observe(lambda _change: changed(), "value")

    def forget(self) -> None:
        """Take off the list what `chosen` gave last: it is not uploaded again by the next press."""
        self.picker.forget(self._given)
        if self.path.value.strip() in (str(one.source) for one in self._given):
            self.path.value = ""

    def _beside(self) -> list[Chosen]:
        text = self.path.value.strip()
        if not text:
            return []
        path = Path(text).expanduser()
        if path.is_dir():
            raise ValueError(f"{text} is a folder: give the path of a file in it.")
        if not path.is_file():
            raise ValueError(f"{text}: there is no such file beside the kernel (it runs in {Path.cwd()})")
        return [Chosen(path.name, path)]
