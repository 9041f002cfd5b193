"""Files of any size from the browser to the kernel, by picker or by drop, in slices of 1 MiB.

ipywidgets' FileUpload sends a file in one message, and the notebook server drops a message over
10 MiB without a word to anybody. Slices pass, the trait that they change acknowledges them, and the
browser half (`file_upload.js`) sends again what was not acknowledged. Needs anywidget.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from .upload_buffer import UploadBuffer

_HERE = Path(__file__).parent


class BrowserFiles(anywidget.AnyWidget):
    """A box to drop files on; `inbox.arrivals` are those that came, `files` what the browser shows.

    >>> box = BrowserFiles()
    >>> box.hear({"kind": "begin", "key": "a", "name": "n.txt", "size": 2, "mime": "text/plain"}, [])
    >>> box.hear({"kind": "slice", "key": "a", "offset": 0}, [b"hi"]); box.files[0]["received"]
    2
    """

    _esm = (_HERE / "file_upload.js").read_text(encoding="utf-8")
    _css = (_HERE / "file_upload.css").read_text(encoding="utf-8")

    files = traitlets.List(traitlets.Dict(), help="what the browser shows").tag(sync=True)
    problem = traitlets.Unicode("", help="what the browser reports, as a sentence").tag(sync=True)

    def __init__(self) -> None:
        super().__init__()
        self.inbox = UploadBuffer()
        self.on_msg(lambda _widget, content, buffers: self.hear(content, buffers))

    def hear(self, content: dict[str, Any], buffers: Sequence[Any]) -> None:
        """Take in one message of the browser."""
        key = str(content.get("key"))
        match content.get("kind"):
            case "begin":
                name, mime_type = str(content["name"]), str(content["mime"])
                self.inbox.begin(key, name, int(content["size"]), mime_type)
            case "slice":
                self.inbox.take(key, int(content["offset"]), bytes(buffers[0]))
            case "drop":
                self.inbox.drop(key)
        self._tell()

    def forget(self, paths: Collection[Path]) -> None:
        """Take the files that lie there off the list, here and in the browser."""
        for one in self.inbox.arrivals:
            if one.path in paths:
                self.inbox.drop(one.key)
        self._tell()

    def _tell(self) -> None:
        self.files = [
            {"key": one.key, "name": one.name, "size": one.size, "received": one.received}
            for one in self.inbox.arrivals
        ]

    def __repr__(self) -> str:
        return f"<BrowserFiles: {len(self.files)} files>"
