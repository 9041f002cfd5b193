"""A panel that asks a person whether to replace an existing file, to keep both files, or to cancel."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import ipywidgets as widgets

from ....core.errors.errors import PathExists
from ....core.http.mime import by_name
from ....local.paths import free_path
from ....notebook.byte_sizes import size_text
from ....notebook.html import Markup, join_html, tag
from ..field import set_visible
from ..styles import row

REPLACE, KEEP_BOTH, CANCEL = "replace", "keep both", "cancel"


class NameConflict(Protocol):
    """A new file whose name an existing file has.

    `path` is the existing file, `alternative_path` the new file if the person keeps both. `lines` compares the two
    files, `place` is the text about their folder.
    """

    @property
    def path(self) -> Path: ...

    @property
    def alternative_path(self) -> Path: ...

    @property
    def lines(self) -> tuple[tuple[str, object, object], ...]: ...

    @property
    def place(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Conflict:
    """An existing file with other content at the path of a new file, and the metadata of the new file."""

    error: PathExists
    name: str
    size: int | None
    modified: str
    media_type: str
    file_id: str = ""

    @property
    def path(self) -> Path:
        """The path of the existing file, at which the new file was to be saved."""
        return self.error.path or Path(self.name)

    @property
    def alternative_path(self) -> Path:
        """A free path for the new file, used if the person keeps both files."""
        return free_path(self.path)

    @property
    def lines(self) -> tuple[tuple[str, object, object], ...]:
        error, name = self.error, self.path.name
        return (
            ("Name", name, self.name),
            ("Size", size_with_bytes(error.size), size_with_bytes(self.size)),
            ("Modified", f"{error.modified:%Y-%m-%d %H:%M} UTC" if error.modified else "", self.modified),
            ("Type", by_name(name) or "unknown", self.media_type),
        )

    @property
    def place(self) -> str:
        return f"Folder: {self.path.parent.absolute()}"


class ReplaceQuestion(widgets.VBox):  # type: ignore[misc]
    """A panel with three buttons, which call `answered` with REPLACE, KEEP_BOTH or CANCEL, and hide the panel."""

    def __init__(self, answered: Callable[[str], None]) -> None:
        self._on_answer = answered
        self.conflicts: tuple[NameConflict, ...] = ()
        self.alternative_paths: tuple[Path, ...] = ()
        self.head, self.files = widgets.HTML(), widgets.HTML()
        self.files.add_class("svc-compared")
        self.replace = self._button(REPLACE, "Replace", "Overwrite the existing file", "danger")
        self.keep = self._button(KEEP_BOTH, "Keep both", "Save the new file under another name")
        self.cancel = self._button(CANCEL, "Cancel", "Keep the existing file and save nothing")
        self.cancel.add_class("svc-cancel")
        super().__init__([self.head, self.files, row(self.replace, self.keep, self.cancel)])
        self.add_class("svc-question")
        set_visible(self, False)

    def _button(self, answer: str, text: str, tooltip: str, style: str = "") -> widgets.Button:
        button = widgets.Button(description=text, tooltip=tooltip, button_style=style)
        button.on_click(lambda _button: self._answer(answer))
        return button

    def ask(self, conflicts: Sequence[NameConflict], detail: str = " with other content") -> None:
        """Show the existing and the new file of each conflict side by side, and focus Cancel."""
        self.conflicts = tuple(conflicts)
        self.alternative_paths = tuple(conflict.alternative_path for conflict in conflicts)
        several = len(conflicts) > 1
        words = f"{len(conflicts)} files exist{detail}." if several else f"{conflicts[0].path.name} exists{detail}."
        self.head.value = tag("p", tag("strong", words), " Replace them?" if several else " Replace it?", role="alert")
        new_names = [path.name for path in self.alternative_paths] if several else [""]
        self.files.value = join_html(
            *(_table(conflict, name) for conflict, name in zip(conflicts, new_names, strict=True))
        )
        self.replace.description = "Replace all" if several else "Replace"
        self.keep.description = "Keep both of each" if several else f"Save as {self.alternative_paths[0].name}"
        set_visible(self, True)
        self.cancel.focus()

    def dismiss(self) -> None:
        self.conflicts = ()
        set_visible(self, False)

    def _answer(self, answer: str) -> None:
        if self.conflicts:
            set_visible(self, False)
            self._on_answer(answer)


def _table(conflict: NameConflict, new_name: str) -> Markup:
    """Return an HTML table that compares both files. `new_name` is the file name for Keep both, or empty."""
    name = conflict.path.name
    lines = [*conflict.lines, *([("If both are kept", name, new_name)] if new_name else [])]
    return comparison_table(f"Compare {name}", ("Existing file", "New file"), lines, caption=conflict.place)


def comparison_table(
    label: str, headings: tuple[str, str], lines: Iterable[tuple[str, object, object]], *, caption: str = ""
) -> Markup:
    """Return an HTML table that compares existing and new values. `label` is the table name for screen readers."""
    body = join_html(
        *(tag("tr", tag("th", head, scope="row"), tag("td", old), tag("td", new)) for head, old, new in lines)
    )
    columns = join_html(tag("td", ""), *(tag("th", head, scope="col") for head in headings))
    parts = [*([tag("caption", caption)] if caption else []), tag("thead", tag("tr", columns)), tag("tbody", body)]
    table = tag("table", *parts, class_="svc-facts")
    return tag("div", table, class_="svc-rows", tabindex="0", role="region", aria_label=label)


def size_with_bytes(size: int | None) -> str:
    """Return a size as text with the exact number of bytes, or "unknown" for None."""
    return "unknown" if size is None else size_text(size) if size < 1024 else f"{size_text(size)} ({size:,} bytes)"
