"""A widget that receives files of any size from the browser in slices of 1 MiB (requires anywidget).

The notebook server silently drops messages over 10 MiB, so the FileUpload of ipywidgets cannot receive larger files.
Each received slice updates the trait `files`. The browser (`file_upload.js`) repeats unacknowledged slices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from .upload_buffer import ChosenFile, UploadBuffer

_FOLDER = Path(__file__).parent


class BrowserFiles(anywidget.AnyWidget):
    """Implements FilePicker for files of any size, with an area on which a person can drop files.

    `buffer.files` contains the files in the kernel. `files` contains the names and sizes that the browser shows.

    >>> box = BrowserFiles()
    >>> box.handle_message({"kind": "begin", "key": "a", "name": "n.txt", "size": 2, "mime": "text/plain"}, [])
    >>> box.handle_message({"kind": "slice", "key": "a", "offset": 0}, [b"hi"]); box.files[0]["received"]
    2
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
        self.buffer = UploadBuffer()
        self.on_msg(lambda _widget, content, buffers: self.handle_message(content, buffers))

    def handle_message(self, content: dict[str, Any], buffers: Sequence[Any]) -> None:
        """Handle a browser message, which begins a file, adds a slice to a file, or removes a file."""
        key = str(content.get("key"))
        match content.get("kind"):
            case "begin":
                name, mime_type = str(content["name"]), str(content["mime"])
                self.buffer.begin(key, name, int(content["size"]), mime_type)
            case "slice":
                self.buffer.append(key, int(content["offset"]), bytes(buffers[0]))
            case "drop":
                self.buffer.remove(key)
        self._update_files()

    def read_files(self) -> list[ChosenFile]:
        if incomplete := self.loading():
            raise ValueError(
                f"{', '.join(incomplete)}: the transfer to the kernel is not complete."
                " Wait until the transfer ends, or remove the file."
            )
        return [ChosenFile(file.name, file.path, file.mime_type or None) for file in self.buffer.files]

    def names(self) -> list[str]:
        return [file.name for file in self.buffer.files]

    def sources(self) -> list[Path | bytes]:
        return [file.path for file in self.buffer.files]

    def loading(self) -> list[str]:
        """Return the names of the files that the kernel has not received completely."""
        return [file.name for file in self.buffer.files if not file.complete]

    def set_refusal(self, reason: str) -> None:
        self.refusal = reason

    def watch(self, changed: Callable[[], None]) -> None:
        self.observe(lambda _change: changed(), "files")

    def forget(self, uploaded: list[ChosenFile]) -> None:
        """Delete these files in the kernel and in the list of the browser."""
        paths = [chosen.source for chosen in uploaded]
        for file in self.buffer.files:
            if file.path in paths:
                self.buffer.remove(file.key)
        self._update_files()

    def empty_message(self) -> str:
        return "No file is selected. Choose or drop one, or enter the path of a file in the notebook folder."

    def _update_files(self) -> None:
        self.files = [
            {"key": file.key, "name": file.name, "size": file.size, "received": file.received}
            for file in self.buffer.files
        ]

    def __repr__(self) -> str:
        return f"<BrowserFiles: {len(self.files)} file{'' if len(self.files) == 1 else 's'} from the browser>"
