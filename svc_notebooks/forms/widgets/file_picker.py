"""Widgets for the selection of files, from the person's computer or from the file system of the kernel."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import ipywidgets as widgets

from .field import text_field
from .upload_buffer import ChosenFile

NO_FILE_RECEIVED = (
    "No file is selected. If the button above shows a number, the file did not reach Python, because the notebook"
    " server drops files over about 10 MB. Install anywidget, or upload the file to the notebook folder with"
    " JupyterLab's file browser and enter its path."
)


class FilePicker(Protocol):
    """A widget that receives files from the person's computer."""

    def read_files(self) -> list[ChosenFile]:
        """Return the selected files. Raises ValueError while a file is incomplete."""

    def names(self) -> list[str]:
        """Return the names of the selected files, including incomplete files."""

    def sources(self) -> list[Path | bytes]:
        """Return the `source` of each selected file, including incomplete files."""

    def loading(self) -> list[str]:
        """Return the names of the selected files that the kernel has not received completely."""

    def set_refusal(self, reason: str) -> None:
        """Refuse files and show the reason, or accept files if the reason is empty."""

    def watch(self, changed: Callable[[], None]) -> None:
        """Call `changed` whenever the selection changes."""

    def forget(self, uploaded: list[ChosenFile]) -> None:
        """Remove these files from the selection after their upload."""

    def empty_message(self) -> str:
        """Return the error message for an empty selection."""


class FileUploadPicker(widgets.FileUpload):  # type: ignore[misc]
    """Implements FilePicker without anywidget, for files of up to about 10 MB."""

    value: tuple[Any, ...]

    def __init__(self, label: str = "Choose files") -> None:
        tooltip = "Files on this computer, up to about 10 MB (more needs anywidget)"
        super().__init__(multiple=True, description=label, tooltip=tooltip)

    def read_files(self) -> list[ChosenFile]:
        return [ChosenFile(item["name"], bytes(item["content"]), item["type"] or None) for item in self.value]

    def names(self) -> list[str]:
        return [item["name"] for item in self.value]

    def sources(self) -> list[Path | bytes]:
        return [file.source for file in self.read_files()]

    def loading(self) -> list[str]:
        """Return an empty list, because the kernel receives all files at once."""
        return []

    def set_refusal(self, reason: str) -> None:
        self.disabled = bool(reason)

    def watch(self, changed: Callable[[], None]) -> None:
        self.observe(lambda _change: changed(), "value")

    def forget(self, uploaded: list[ChosenFile]) -> None:
        names = {(file.name, file.source) for file in uploaded}
        self.value = tuple(item for item in self.value if (item["name"], bytes(item["content"])) not in names)

    def empty_message(self) -> str:
        """Return a message that explains why a selected file may be missing."""
        return NO_FILE_RECEIVED


def default_picker(label: str = "Choose files", drop_zone: str = "") -> FilePicker:
    """Create a BrowserFiles widget if anywidget is installed, otherwise a FileUploadPicker.

    `drop_zone` is the CSS selector of an element around the widget on which a person can drop files, too.
    """
    if find_spec("anywidget") is None:
        return FileUploadPicker(label)
    from .file_upload import BrowserFiles

    return BrowserFiles(label, drop_zone)


class FileChoice(widgets.VBox):  # type: ignore[misc]
    """A file picker for the person's computer, and a text field for the path of one file in the notebook folder."""

    def __init__(self, make_picker: Callable[[], FilePicker] = default_picker) -> None:
        self.picker = make_picker()
        self._last_chosen: list[ChosenFile] = []
        self.path = text_field(
            "Notebook file",
            "The path of a file where Python runs",
            hint="a path, like data/survey.csv",
        )
        super().__init__([self.picker, self.path])

    def read_files(self) -> list[ChosenFile]:
        """Return the selected files. Raises ValueError for no file, an incomplete file or a missing path."""
        files = [*self.picker.read_files(), *self._kernel_file()]
        if not files:
            raise ValueError(self.picker.empty_message())
        self._last_chosen = files
        return files

    def single(self) -> ChosenFile:
        """Return the selected file. Raises ValueError unless exactly one file is selected."""
        files = self.read_files()
        if len(files) > 1:
            raise ValueError(
                f"{len(files)} files are selected, but only one can replace the content of a file. Remove the others."
            )
        return files[0]

    def names(self) -> list[str]:
        """Return the names of the files in the picker, and the text of the path field."""
        return [*self.picker.names(), *filter(None, [self.path.value.strip()])]

    def loading(self) -> list[str]:
        """Return the names of the selected files that the kernel has not received completely."""
        return self.picker.loading()

    def watch(self, changed: Callable[[], None]) -> None:
        self.picker.watch(changed)
        self.path.observe(lambda _change: changed(), "value")

    def forget(self) -> None:
        """Remove the files of the last `read_files` call, so that the next click uploads only new files."""
        self.picker.forget(self._last_chosen)
        if self.path.value.strip() in (str(chosen.source) for chosen in self._last_chosen):
            self.path.value = ""

    def _kernel_file(self) -> list[ChosenFile]:
        text = self.path.value.strip()
        if not text:
            return []
        path = Path(text).expanduser()
        if path.is_dir():
            raise ValueError(f"{text} is a folder. Enter the path of a file.")
        if not path.is_file():
            raise ValueError(f"{text}: no such file in the notebook folder, {Path.cwd()}.")
        return [ChosenFile(path.name, path, in_notebook_folder=True)]
