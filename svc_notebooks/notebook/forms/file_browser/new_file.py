"""The controls of a new folder, empty file or native document (A4-01)."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets as widgets

from ....core.http.native_formats import NATIVES
from ...widgets.field import LABEL, Field, describe, on_change, small_button, text_field
from ...widgets.more_options import MoreOptions

FOLDER, FILE = "folder", "file"
_TYPES = (
    ("Folder", FOLDER),
    ("Empty file", FILE),
    *((f"Native {word}", word) for word in NATIVES),
)
_HINT = "Empty: the service generates one. Not for native documents."
_NATIVE = "A native document cannot have an id of your own. Remove the id, or create a folder or an empty file."


class NewFileChoice(widgets.VBox):  # type: ignore[misc]
    """The type of a new file, and under "More options" its id."""

    def __init__(self) -> None:
        self.type = widgets.Dropdown(
            options=_TYPES,
            **describe("Type", "A folder, a file without content, or a native document"),
            style=LABEL,
        )
        self.id = text_field("File ID", "An id from generate_ids(); repeating the request creates no second file")
        self.generate = small_button("Generate ID", "Get an unused id from the service", lambda: None)
        self.file_id = Field(self.id, self.generate, hint=_HINT)
        self.more = MoreOptions(self.file_id)
        super().__init__([self.type, self.more])
        self.watch(lambda: self.file_id.show_problems(self._problems()))

    def watch(self, changed: Callable[[], None]) -> None:
        """Call `changed` whenever the value of a control changes."""
        on_change(changed, self.type, self.id)

    def clear(self) -> None:
        """Reset the controls to a folder without an id."""
        self.type.value, self.id.value, self.more.shown = FOLDER, "", False

    def check(self) -> list[str]:
        """Show the problems of the id, and return them."""
        problems = self._problems()
        self.file_id.show_problems(problems)
        self.more.shown = self.more.shown or bool(problems)
        return problems

    def _problems(self) -> list[str]:
        return [_NATIVE] if self.id.value.strip() and self.type.value in NATIVES else []
