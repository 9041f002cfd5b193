"""The dialog that the file browser shows before an action. One panel shows the controls of any action."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import ipywidgets as widgets

from ...notebook.html import join_html, tag
from ..widgets.field import LABEL, MoreOptions, describe, on_change, set_visible, text_field
from ..widgets.file_picker import FileChoice
from ..widgets.styles import row
from . import actions
from .actions import ByteRangeField, FileAction, NewFileChoice
from .downloads import Download, fetch_action, save_action

if TYPE_CHECKING:
    from ...client.session import Session
    from ...core.resources.files import File

KERNEL, BROWSER = "kernel", "browser"


@dataclass(frozen=True, slots=True)
class Question:
    """A dialog. `parts` are the names of its controls, and `verb` is the label of the confirm button.

    `files` is the number of files to select, or None for one or more files.
    """

    key: str
    title: str
    verb: str
    parts: tuple[str, ...]
    style: str = ""
    files: int | None = None


# fmt: off
QUESTIONS = {question.key: question for question in (
    Question("folder",   "New file or folder", "Create",      ("name", "made"), "primary", 0),
    Question("rename",   "Rename",                         "Rename",    ("name",), "primary", 1),
    Question("move",     "Move",             "Move",          ("folder",), "primary"),
    Question("copy",     "Copy",             "Make a copy",   ("name",), "primary"),
    Question("share",    "Share",      "Share", ("grantee", "role"), "primary"),
    Question("download", "Download",         "Save",        ("target", "path", "more"), "primary"),
    Question("replace",  "Replace the content of",                      "Replace content", ("source",), "danger", 1),
    Question("delete",   "Delete permanently?",                  "Delete", (), "danger"),
)}
# fmt: on


class ConfirmDialog(widgets.VBox):  # type: ignore[misc]
    """The panel of all dialogs. A confirmation calls `answered` with the question. Closing the panel calls `left`."""

    def __init__(self, answered: Callable[[Question], None], left: Callable[[], None]) -> None:
        self.question: Question | None = None
        self._closed_callback = left
        self.head = widgets.HTML()
        self.name = text_field("Name", "The new name")
        self.grantee = text_field(
            "Share with",
            "E-mail addresses with commas between them; anyone; or domain: and a domain",
            hint="bob@svc.example, anyone, or domain:example.com",
        )
        self.role = widgets.RadioButtons(
            options=[("Reader", "reader"), ("Commenter", "commenter"), ("Writer", "writer")],
            **describe("Role", "What they can do: read, comment, or change the file"),
            style=LABEL,
        )
        self.folder = widgets.Dropdown(**describe("Folder", "The folder to which the files are moved"), style=LABEL)
        self.target = widgets.RadioButtons(
            options=[("File in the notebook folder", KERNEL), ("Browser download", BROWSER)],
            **describe("Save as", "A file where Python runs, or a download to this computer"),
            style=LABEL,
        )
        self.path = text_field(
            "Path",
            "A path or a folder; empty: the name of the file, in the notebook folder",
            hint="the name of the file",
        )
        self.made, self.source = NewFileChoice(), FileChoice()
        self.range = ByteRangeField()
        self.more = MoreOptions(self.range)
        self.role.add_class("svc-across")
        self.yes = widgets.Button(description="Yes", tooltip="Confirm")
        self.no = widgets.Button(description="Cancel", tooltip="Close the dialog")
        self.no.add_class("svc-cancel")
        self.yes.on_click(lambda _button: answered(self.question) if self.question else None)
        self.no.on_click(lambda _button: self.dismiss())
        self.target.observe(lambda _change: self._update_visibility(), "value")
        self._parts = {
            "name": self.name,
            "made": self.made,
            "grantee": self.grantee,
            "role": self.role,
            "folder": self.folder,
            "target": self.target,
            "path": self.path,
            "source": self.source,
            "more": self.more,
        }
        super().__init__([self.head, *self._parts.values(), row(self.yes, self.no)])
        self.add_class("svc-question")
        self.add_class("svc-fields")
        set_visible(self, False)

    def watch(self, changed: Callable[[], None]) -> None:
        on_change(changed, *self._parts.values())
        for part in (self.made, self.source, self.range):
            part.watch(changed)

    def ask(self, key: str, subject: str, name: str = "", note: str = "") -> None:
        """Show the dialog with a key and focus the first control.

        `subject` has the file names, `name` is the initial value of the name field, and `note` explains the effect.
        """
        self.question = question = QUESTIONS[key]
        separator = " " if question.title.endswith("?") else ": "
        title = tag("p", tag("strong", question.title), separator + subject if subject else "", role="status")
        self.head.value = join_html(title, tag("p", note) if note else "")
        self.name.value, self.grantee.value, self.role.value, self.path.value = name, "", "reader", ""
        self.made.clear()
        self.range.clear()
        self.more.shown = False
        self.yes.description, self.yes.button_style = question.verb, question.style
        self._update_visibility()
        set_visible(self, True)
        first = {**self._parts, "source": self.source.path}.get(question.parts[0]) if question.parts else None
        (first or self.no).focus()

    def check(self, files: Sequence[File]) -> list[str]:
        """Show the problems of the input beside the fields, and return the problem texts."""
        if self.question and self.question.key == "folder":
            return self.made.check()
        problems = self.range.check(files) if self.question and self.question.key == "download" else []
        self.more.shown = self.more.shown or bool(problems)
        return problems

    def download(self, files: Sequence[File]) -> Download:
        """Return the download of these files. Raises ValueError for an invalid byte range."""
        path = self.path.value.strip() if self.target.value == KERNEL else ""
        return Download(tuple(files), path or None, self.range.value)

    def discard(self) -> None:
        """Close the panel without calling `left`, if its question is about files that are no longer selected."""
        if self.question and self.question.files != 0:
            self.question = None
            set_visible(self, False)

    def dismiss(self) -> None:
        """Close the panel and call `left`, if a dialog is open."""
        if self.question is None:
            return
        self.question = None
        set_visible(self, False)
        self._closed_callback()

    def _update_visibility(self) -> None:
        parts = self.question.parts if self.question else ()
        for key, control in self._parts.items():
            set_visible(control, key in parts and (key != "path" or self.target.value == KERNEL))


def action_for(
    question: Question, dialog: ConfirmDialog, session: Session, chosen: Sequence[File], folder: str
) -> FileAction:
    """Return the action of a dialog for files or the open folder. Raises ValueError for missing or invalid input."""
    files = [str(file["id"]) for file in chosen]
    match question.key:
        case "folder":
            made = dialog.made
            return actions.new_file_action(session, made.type.value, dialog.name.value, folder, made.id.value)
        case "rename":
            return actions.rename_action(session, files[0], dialog.name.value)
        case "move":
            return actions.move_action(session, files, dialog.folder.value, dialog.folder.label)
        case "copy":
            return actions.copy_action(session, files, dialog.name.value)
        case "share":
            return actions.share_action(session, files, dialog.grantee.value, dialog.role.value)
        case "replace":
            return actions.replace_content_action(session, chosen[0], dialog.source.single())
        case "download" if dialog.target.value == KERNEL:
            return save_action(session, [dialog.download(chosen)])
        case "download":
            return fetch_action(session, [dialog.download(chosen)])
    return actions.delete_action(session, files)
