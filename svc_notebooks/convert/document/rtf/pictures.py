"""Reads the pictures of an RTF file, with the size at which they are shown."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ...job import Job
from ..model import Node

_EXTENSIONS = {"pngblip": "png", "jpegblip": "jpg", "emfblip": "emf", "wmetafile": "wmf", "dibitmap": "dib"}
_NON_HEX = re.compile(rb"[^0-9A-Fa-f]+")
_TWIPS = 1440


@dataclass(slots=True)
class RtfPicture:
    """What is told of a picture, in turn."""

    digits: bytearray = field(default_factory=bytearray)
    data: bytearray = field(default_factory=bytearray)
    extension: str = ""
    goals: dict[str, int] = field(default_factory=dict)

    def apply_control_word(self, word: str, number: int | None) -> None:
        """A control word of it."""
        self.extension = _EXTENSIONS.get(word, self.extension)
        if word in ("picwgoal", "pichgoal", "picscalex", "picscaley"):
            self.goals[word] = number or 0

    def node(self, job: Job) -> Node:
        """The picture as an image, its bytes being in a file of the job's folder."""
        digits = _NON_HEX.sub(b"", self.digits)
        data = bytes(self.data) or bytes.fromhex(digits[: len(digits) // 2 * 2].decode("ascii"))
        folder = job.folder / "media"
        folder.mkdir(exist_ok=True)
        file = folder / f"{len(list(folder.iterdir()))}.{self.extension or 'bin'}"
        file.write_bytes(data)
        return {"t": "Image", "c": [["", [], self._size()], [], [file.name, ""]]}

    def _size(self) -> list[list[str]]:
        sizes = (
            ("width", self.goals.get("picwgoal", 0) * self.goals.get("picscalex", 100)),
            ("height", self.goals.get("pichgoal", 0) * self.goals.get("picscaley", 100)),
        )
        return [[name, f"{size / 100 / _TWIPS:.3f}in"] for name, size in sizes if size > 0]
