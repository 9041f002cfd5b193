"""Two controls of the dialogs, for the type and id of a new file (A4-01) and for a byte range (A6-02)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import ipywidgets as widgets

from ....core.http.native_formats import NATIVES
from ...widgets.field import LABEL, Field, describe, on_change, small_button, text_field
from ...widgets.more_options import MoreOptions

if TYPE_CHECKING:
    from ....core.resources.files import File

FOLDER, FILE = "folder", "file"
_TYPES = (
    ("Folder", FOLDER),
    ("Empty file", FILE),
    *((f"Native {word}", word) for word in NATIVES),
)
_ID_HINT = "Empty: the service generates one. Not for native documents."
_NATIVE = "A native document cannot have an id of your own. Remove the id, or create a folder or an empty file."


class NewFileChoice(widgets.VBox):  # type: ignore[misc]
    """The controls for the type of a new file and, under "More options", for the file id."""

    def __init__(self) -> None:
        self.type = widgets.Dropdown(
            options=_TYPES,
            **describe("Type", "A folder, a file without content, or a native document"),
            style=LABEL,
        )
        self.id = text_field("File ID", "An id from generate_ids(); repeating the request creates no second file")
        self.generate = small_button("Generate ID", "Get an unused id from the service", lambda: None)
        self.file_id = Field(self.id, self.generate, hint=_ID_HINT)
        self.more = MoreOptions(self.file_id)
        super().__init__([self.type, self.more])
        self.watch(lambda: self.file_id.show_problems(self._problems()))

    def watch(self, changed: Callable[[], None]) -> None:
        on_change(changed, self.type, self.id)

    def clear(self) -> None:
        self.type.value, self.id.value, self.more.shown = FOLDER, "", False

    def check(self) -> list[str]:
        """Show the problems of the file id beside its field, and return the problem texts."""
        problems = self._problems()
        self.file_id.show_problems(problems)
        self.more.shown = self.more.shown or bool(problems)
        return problems

    def _problems(self) -> list[str]:
        return [_NATIVE] if self.id.value.strip() and self.type.value in NATIVES else []


_RANGE_HINT = "Empty: the whole file. The first byte is 0, and the last one is included."


class ByteRangeField(Field):
    """Two text fields for a byte range. `value` is a range such as `bytes=0-99`, or None for the whole file.

    >>> part = ByteRangeField()
    >>> part.first.value, part.last.value = "10", "99"
    >>> part.value
    'bytes=10-99'
    >>> part.check([{"name": "a.txt", "size": "5"}])
    ['a.txt has 5 bytes, 0 to 4: the first byte must be 4 or less.']
    """

    def __init__(self) -> None:
        self.first = text_field("First byte", "The start of the range; the first byte of a file is 0", hint="0")
        self.last = text_field("Last byte", "The end of the range, included", hint="the end")
        super().__init__(self.first, self.last, hint=_RANGE_HINT)

    @property
    def value(self) -> str | None:
        """The byte range, or None for the whole file. Raises ValueError if the range is not valid."""
        first, last = _number("First byte", self.first.value), _number("Last byte", self.last.value)
        if first is None and last is None:
            return None
        if last is not None and last < (first or 0):
            raise ValueError("The last byte is before the first byte. Correct one of them.")
        return f"bytes={first or 0}-{'' if last is None else last}"

    def clear(self) -> None:
        self.first.value = self.last.value = ""
        self.show_problems(())

    def check(self, files: Sequence[File]) -> list[str]:
        """Show the problems of the range for these files, and return the problem texts."""
        try:
            first = int((self.value or "bytes=0-").removeprefix("bytes=").partition("-")[0])
            problems = list(_too_short(first, files)) if self.value else []
        except ValueError as error:
            problems = [str(error)]
        self.show_problems(problems)
        return problems


def _too_short(first: int, files: Sequence[File]) -> Iterator[str]:
    for facts in files:
        size = int(facts.get("size") or 0) if facts.get("size") is not None else None
        if size == 0:
            yield f"{facts.get('name')} is empty and has no byte range."
        elif size is not None and first >= size:
            count = "1 byte, number 0" if size == 1 else f"{size:,} bytes, 0 to {size - 1}"
            yield f"{facts.get('name')} has {count}: the first byte must be {size - 1} or less."


def _number(label: str, text: str) -> int | None:
    text = text.strip()
    if not text:
        return None
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"{label} is {text!r}. Enter a whole number, such as 0 or 1024.")
    return int(text)
