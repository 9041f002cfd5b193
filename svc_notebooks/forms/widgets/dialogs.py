"""Panels that ask a person a question before something is replaced, deleted or can cause harm."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import ipywidgets as widgets

from ...core.errors.errors import PathExists
from ...core.http.media_types import by_name
from ...local.saving import free_path
from ...notebook.display import Markup, join_html, size_text, tag
from . import ui


class Dialog(widgets.VBox):  # type: ignore[misc]
    """A panel that is hidden until a question is shown. Escape clicks its button with the class `svc-cancel`.

    A panel with a label is over the grid of the calendar view.
    """

    def __init__(self, *parts: widgets.Widget, label: str = "") -> None:
        self.head, self.label = widgets.HTML(), label
        super().__init__([self.head, *parts])
        self.add_class("svc-question")
        if label:
            self.add_class("svc-over-grid")
        ui.set_visible(self, False)

    @property
    def is_open(self) -> bool:
        return bool(self.layout.display != "none")

    def ask_with(self, *lines: Markup) -> None:
        """Show the panel with the HTML of its head."""
        group = {"role": "group", "aria_label": self.label, "class_": "svc-asked"}
        self.head.value = tag("div", *lines, **group) if self.label else join_html(*lines)
        ui.set_visible(self, True)

    def dismiss(self) -> None:
        ui.set_visible(self, False)


class Question(Dialog):
    """A panel with a button for each choice, and Cancel. `choices` has a text, a tooltip and optionally a style by key.

    A click hides the panel, and calls `answered` with the key of the choice, or None for Cancel.
    """

    def __init__(
        self,
        answered: Callable[[str | None], None],
        choices: Mapping[str, tuple[str, ...]],
        cancel: str,
        *parts: widgets.Widget,
        label: str = "",
    ) -> None:
        self._on_answer = answered
        self.buttons = {
            key: ui.button(text, tooltip, partial(self._answer, key), *style)
            for key, (text, tooltip, *style) in choices.items()
        }
        self.cancel = ui.cancel_button(cancel, partial(self._answer, None))
        super().__init__(*parts, ui.row(*self.buttons.values(), self.cancel), label=label)

    def _answer(self, key: str | None) -> None:
        if self.is_open:
            self.dismiss()
            self._on_answer(key)


class Confirmation(Question):
    """A panel with a question and two buttons. A click calls `answered` with `confirmed` or `cancelled` of `ask`.

    >>> question = Confirmation(lambda act: act())
    >>> question.ask("Delete plan.txt?", "Delete", confirmed=lambda: print("deleted"), cancelled=lambda: print("kept"))
    >>> question.no.click()
    kept
    >>> question.is_open
    False
    """

    def __init__(self, answered: Callable[[Callable[[], None]], None]) -> None:
        self._callbacks: dict[str | None, Callable[[], None]] = {}
        self.facts = widgets.HTML()
        choices = {"yes": ("Continue", "Confirm", "danger")}
        super().__init__(lambda key: answered(self._callbacks[key]), choices, "Close the dialog", self.facts)
        self.yes, self.no = self.buttons["yes"], self.cancel

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
        self._callbacks = {"yes": confirmed, None: cancelled}
        lines = [tag("p", line) for line in paragraphs]
        self.facts.value = facts or ""
        ui.set_visible(self.facts, bool(facts))
        self.yes.description = verb
        self.ask_with(tag("div", tag("p", tag("strong", title)), *lines, role="alert", class_="svc-asked"))
        self.no.focus()


REPLACE, KEEP_BOTH = "replace", "keep both"


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


class ReplaceQuestion(Question):
    """A panel with three buttons, which call `answered` with REPLACE, KEEP_BOTH or None for Cancel."""

    def __init__(self, answered: Callable[[str | None], None]) -> None:
        self.conflicts: tuple[Conflict, ...] = ()
        self.files = widgets.HTML().add_class("svc-compared")
        choices = {
            REPLACE: ("Replace", "Overwrite the existing file", "danger"),
            KEEP_BOTH: ("Keep both", "Save the new file under another name"),
        }
        super().__init__(answered, choices, "Keep the existing file and save nothing", self.files)
        self.replace, self.keep = self.buttons.values()

    def ask(self, conflicts: Sequence[Conflict], detail: str = " with other content") -> None:
        """Show the existing and the new file of each conflict side by side, and focus Cancel."""
        self.conflicts = tuple(conflicts)
        several = len(conflicts) > 1
        words = f"{len(conflicts)} files exist{detail}." if several else f"{conflicts[0].path.name} exists{detail}."
        question = " Replace them?" if several else " Replace it?"
        self.files.value = join_html(
            *(_table(conflict, conflict.alternative_path.name if several else "") for conflict in conflicts)
        )
        self.replace.description = "Replace all" if several else "Replace"
        self.keep.description = "Keep both of each" if several else f"Save as {conflicts[0].alternative_path.name}"
        self.ask_with(tag("p", tag("strong", words), question, role="alert"))
        self.cancel.focus()


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
    return ui.table_region(label, tag("table", *parts, class_="svc-facts"))


def size_with_bytes(size: int | None) -> str:
    """Return a size as text with the exact number of bytes, or "unknown" for None."""
    return "unknown" if size is None else size_text(size) if size < 1024 else f"{size_text(size)} ({size:,} bytes)"
