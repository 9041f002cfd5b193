"""Panels that ask a person a question before something is replaced, deleted or can cause harm."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import ipywidgets as widgets

from ...core.errors.errors import PathExists
from ...core.http.mime import by_name
from ...local.paths import free_path
from ...notebook.byte_sizes import size_text
from ...notebook.html import Markup, join_html, tag
from .field import button, cancel_button, row, set_visible, table_region


class Dialog(widgets.VBox):  # type: ignore[misc]
    """A panel that is hidden until a question is shown. Escape clicks its button with the class `svc-cancel`."""

    def __init__(self, *parts: widgets.Widget) -> None:
        self.head = widgets.HTML()
        super().__init__([self.head, *parts])
        self.add_class("svc-question")
        set_visible(self, False)

    @property
    def is_open(self) -> bool:
        return bool(self.layout.display != "none")

    def ask_with(self, head: str) -> None:
        """Show the panel with the HTML of its head."""
        self.head.value = head
        set_visible(self, True)

    def dismiss(self) -> None:
        set_visible(self, False)


class Confirmation(Dialog):
    """A panel with a question and two buttons. A click calls `answered` with `confirmed` or `cancelled` of `ask`.

    >>> question = Confirmation(lambda act: act())
    >>> question.ask("Delete plan.txt?", "Delete", confirmed=lambda: print("deleted"), cancelled=lambda: print("kept"))
    >>> question.no.click()
    kept
    >>> question.is_open
    False
    """

    def __init__(self, answered: Callable[[Callable[[], None]], None]) -> None:
        self._run_answer = answered
        self._callbacks: tuple[Callable[[], None], ...] = ()
        self.facts = widgets.HTML()
        self.yes = button("Continue", "Confirm", lambda: self._answer(0), "danger")
        self.no = cancel_button("Close the dialog", lambda: self._answer(1))
        super().__init__(self.facts, row(self.yes, self.no))

    def ask(
        self,
        title: str,
        verb: str,
        *paragraphs: str,
        facts: Markup | None = None,
        confirmed: Callable[[], None],
        cancelled: Callable[[], None],
    ) -> None:
        """Show the question and focus Cancel. `verb` labels the other button, and `facts` is HTML below the text."""
        self._callbacks = (confirmed, cancelled)
        lines = [tag("p", line) for line in paragraphs]
        self.facts.value = facts or ""
        set_visible(self.facts, bool(facts))
        self.yes.description = verb
        self.ask_with(tag("div", tag("p", tag("strong", title)), *lines, role="alert", class_="svc-asked"))
        self.no.focus()

    def _answer(self, index: int) -> None:
        if self.is_open:
            self.dismiss()
            self._run_answer(self._callbacks[index])


REPLACE, KEEP_BOTH, CANCEL = "replace", "keep both", "cancel"


@dataclass(frozen=True, slots=True)
class Conflict:
    """A new file whose name an existing file has.

    `path` is the existing file, `alternative_path` the new file if the person keeps both. `lines` compares the two
    files, `place` is the text about their folder.
    """

    path: Path
    alternative_path: Path
    lines: tuple[tuple[str, object, object], ...]
    place: str


def path_conflict(error: PathExists, name: str, size: int | None, modified: str, media_type: str) -> Conflict:
    """Return the conflict of a new file, of which the metadata are given, with the file of an error."""
    path = error.path or Path(name)
    lines = (
        ("Name", path.name, name),
        ("Size", size_with_bytes(error.size), size_with_bytes(size)),
        ("Modified", f"{error.modified:%Y-%m-%d %H:%M} UTC" if error.modified else "", modified),
        ("Type", by_name(path.name) or "unknown", media_type),
    )
    return Conflict(path, free_path(path), lines, f"Folder: {path.parent.absolute()}")


class ReplaceQuestion(Dialog):
    """A panel with three buttons, which call `answered` with REPLACE, KEEP_BOTH or CANCEL, and hide the panel."""

    def __init__(self, answered: Callable[[str], None]) -> None:
        self._on_answer = answered
        self.conflicts: tuple[Conflict, ...] = ()
        self.alternative_paths: tuple[Path, ...] = ()
        self.files = widgets.HTML()
        self.files.add_class("svc-compared")
        self.replace = button("Replace", "Overwrite the existing file", lambda: self._answer(REPLACE), "danger")
        self.keep = button("Keep both", "Save the new file under another name", lambda: self._answer(KEEP_BOTH))
        self.cancel = cancel_button("Keep the existing file and save nothing", lambda: self._answer(CANCEL))
        super().__init__(self.files, row(self.replace, self.keep, self.cancel))

    def ask(self, conflicts: Sequence[Conflict], detail: str = " with other content") -> None:
        """Show the existing and the new file of each conflict side by side, and focus Cancel."""
        self.conflicts = tuple(conflicts)
        self.alternative_paths = tuple(conflict.alternative_path for conflict in conflicts)
        several = len(conflicts) > 1
        words = f"{len(conflicts)} files exist{detail}." if several else f"{conflicts[0].path.name} exists{detail}."
        question = " Replace them?" if several else " Replace it?"
        new_names = [path.name for path in self.alternative_paths] if several else [""]
        self.files.value = join_html(
            *(_table(conflict, name) for conflict, name in zip(conflicts, new_names, strict=True))
        )
        self.replace.description = "Replace all" if several else "Replace"
        self.keep.description = "Keep both of each" if several else f"Save as {self.alternative_paths[0].name}"
        self.ask_with(tag("p", tag("strong", words), question, role="alert"))
        self.cancel.focus()

    def dismiss(self) -> None:
        self.conflicts = ()
        super().dismiss()

    def _answer(self, answer: str) -> None:
        if self.conflicts:
            set_visible(self, False)
            self._on_answer(answer)


def _table(conflict: Conflict, new_name: str) -> Markup:
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
    return table_region(label, tag("table", *parts, class_="svc-facts"))


def size_with_bytes(size: int | None) -> str:
    """Return a size as text with the exact number of bytes, or "unknown" for None."""
    return "unknown" if size is None else size_text(size) if size < 1024 else f"{size_text(size)} ({size:,} bytes)"
