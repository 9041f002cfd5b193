"""Selection of files, from the person's computer or from the file system of the kernel.

The notebook server silently drops messages over 10 MiB, so the FileUpload of ipywidgets cannot receive larger files.
Therefore the browser (`file_upload.js`) sends slices of 1 MiB. Each received slice updates the trait `files`. The
browser repeats unacknowledged slices, and slices that are repeated or follow a gap are dropped here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anywidget
import ipywidgets as widgets
import traitlets

from ...core.http.media_types import PDF, by_name
from ...core.platform import new_temporary_folder, remove_with
from ...notebook.display import MIB, count_text, size_text
from . import ui

_FOLDER = Path(__file__).parent
_NO_FILE = "No file is selected. Choose or drop one, or enter the path of a file in the notebook folder."


@dataclass(slots=True)
class ChosenFile:
    """A file to upload. `source` is the path of the file.

    `in_notebook_folder` is True for a path that the person has entered, and False for a file from the browser.
    """

    name: str
    source: Path
    mime_type: str | None = None
    in_notebook_folder: bool = False

    def media_type(self, *, converted: bool) -> str | None:
        """Return the media type to send, or None if the type is unknown.

        The type that the browser has reported comes first. For a conversion, the file extension comes first, because
        browsers report the type of the installed office program for a CSV file.

        >>> ChosenFile("a.csv", Path(), "application/vnd.ms-excel").media_type(converted=True)
        'text/csv'
        """
        type_by_name = by_name(self.name)
        return (type_by_name or self.mime_type) if converted else (self.mime_type or type_by_name)


@dataclass(slots=True)
class IncomingFile(ChosenFile):
    """A file of `size` bytes that the browser is sending. `source` is a temporary file."""

    size: int = 0
    received: int = 0


class BrowserFiles(anywidget.AnyWidget):
    """Receives files of any size from the browser, with an area on which a person can drop files.

    The files are in a temporary folder, which is deleted at the end of the process or earlier. `files` contains the
    names and sizes that the browser shows.

    >>> box = BrowserFiles()
    >>> box.handle_message({"kind": "begin", "key": "a", "name": "n.txt", "size": 2, "mime": "text/plain"}, [])
    >>> box.handle_message({"kind": "slice", "key": "a", "offset": 0}, [b"hi"]); box.files[0]["received"]
    2
    >>> box.handle_message({"kind": "slice", "key": "a", "offset": 0}, [b"hi"]); box.read_files()[0].source.read_bytes()
    b'hi'
    """

    _esm = (_FOLDER / "file_upload.js").read_text(encoding="utf-8")
    _css = (_FOLDER / "file_upload.css").read_text(encoding="utf-8")

    files = traitlets.List(traitlets.Dict(), help="what the browser shows").tag(sync=True)
    problem = traitlets.Unicode("", help="what the browser reports, as a sentence").tag(sync=True)
    label = traitlets.Unicode("Choose files", help="the text of the button").tag(sync=True)
    drop_zone = traitlets.Unicode("", help="the CSS selector of an outer element that accepts files").tag(sync=True)
    refusal = traitlets.Unicode("", help="the reason for which files are refused, or empty").tag(sync=True)

    def __init__(self, label: str = "Choose files", drop_zone: str = "") -> None:
        super().__init__(label=label, drop_zone=drop_zone)
        self._incoming: dict[str, IncomingFile] = {}
        self._folder: Path | None = None
        self._count = 0
        self.on_msg(lambda _widget, content, buffers: self.handle_message(content, buffers))

    def handle_message(self, content: dict[str, Any], buffers: Sequence[Any]) -> None:
        """Handle a browser message, which begins a file, adds a slice to a file, or removes a file."""
        key = str(content.get("key"))
        match content.get("kind"):
            case "begin":
                name, mime_type, size = str(content["name"]), str(content["mime"]) or None, int(content["size"])
                self._incoming[key] = IncomingFile(name, self._new_path(), mime_type, size=size)
            case "slice":
                self._append(key, int(content["offset"]), bytes(buffers[0]))
            case "drop":
                self._remove(key)
        self._update_files()

    @property
    def incoming(self) -> list[IncomingFile]:
        """The selected files, including incomplete files."""
        return [*self._incoming.values()]

    def read_files(self) -> list[IncomingFile]:
        """Return the selected files. Raises ValueError while a file is incomplete."""
        if incomplete := self.loading():
            raise ValueError(
                f"{', '.join(incomplete)}: the transfer to the kernel is not complete."
                " Wait until the transfer ends, or remove the file."
            )
        return self.incoming

    def loading(self) -> list[str]:
        """Return the names of the files that the kernel has not received completely."""
        return [file.name for file in self.incoming if file.received < file.size]

    def watch(self, changed: Callable[[], object]) -> None:
        self.observe(lambda _change: changed(), "files")

    def forget(self, uploaded: Sequence[ChosenFile]) -> None:
        """Delete these files in the kernel and in the list of the browser."""
        for key, file in list(self._incoming.items()):
            if file in uploaded:
                self._remove(key)
        self._update_files()

    def _new_path(self) -> Path:
        """Create an empty file. The file name from the browser is never used as a path."""
        if self._folder is None:
            self._folder = new_temporary_folder("svc-notebooks-")
            remove_with(self, self._folder)
        self._count += 1
        path = self._folder / f"{self._count}"
        path.touch()
        return path

    def _append(self, key: str, offset: int, data: bytes) -> None:
        """Append bytes at the end of a file. Bytes with another offset or beyond the file size are dropped."""
        incoming = self._incoming.get(key)
        if incoming is None or offset != incoming.received or offset + len(data) > incoming.size:
            return
        with incoming.source.open("ab") as file:
            file.write(data)
        incoming.received += len(data)

    def _remove(self, key: str) -> None:
        if incoming := self._incoming.pop(key, None):
            incoming.source.unlink(missing_ok=True)

    def _update_files(self) -> None:
        self.files = [
            {"key": key, "name": file.name, "size": file.size, "received": file.received}
            for key, file in self._incoming.items()
        ]

    def __repr__(self) -> str:
        return f"<BrowserFiles: {count_text(len(self.files), 'file')} from the browser>"


class FileChoice(widgets.VBox):  # type: ignore[misc]
    """A file picker for the person's computer, and a text field for the path of one file in the notebook folder."""

    def __init__(self) -> None:
        self.picker = BrowserFiles()
        self._last_chosen: list[ChosenFile] = []
        self.path = ui.text_field(
            "Notebook file", "The path of a file where Python runs", hint="a path, like data/survey.csv"
        )
        super().__init__([self.picker, self.path])

    def read_files(self) -> list[ChosenFile]:
        """Return the selected files. Raises ValueError for no file, an incomplete file or a missing path."""
        files: list[ChosenFile] = [*self.picker.read_files(), *self._kernel_file()]
        if not files:
            raise ValueError(_NO_FILE)
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
        return [*(file.name for file in self.picker.incoming), *filter(None, [self.path.value.strip()])]

    def watch(self, changed: Callable[[], object]) -> None:
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


# -- files to the browser


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
        return f"<DownloadWidget: {count_text(self._last_number, 'file')} sent to the browser>"
