"""The dialog that the file browser shows before an action. One panel shows the controls of any action."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import ipywidgets as widgets

from ...client.downloads.downloads import as_range
from ...client.session import Session
from ...core.http.native_formats import NATIVES
from ...core.resources.files import File
from ...notebook.files.files import create_file, update
from ...notebook.files.folders import copy, delete, move
from ...notebook.files.permissions import grantees, share
from ...notebook.html import join_html, tag
from ...notebook.quantities import count_text
from ..widgets import ui
from ..widgets.dialogs import Dialog
from ..widgets.file_picker import FileChoice
from .actions import FileAction, call_action, one_or_all, replace_content_action
from .downloads import Download, download_action

KERNEL, BROWSER = "kernel", "browser"
FOLDER, FILE = "folder", "file"
_TYPES = (("Folder", FOLDER), ("Empty file", FILE), *((f"Native {word}", word) for word in NATIVES))


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
    Question("folder",   "New file or folder", "Create",      ("name", "type"), "primary", 0),
    Question("rename",   "Rename",                         "Rename",    ("name",), "primary", 1),
    Question("move",     "Move",             "Move",          ("folder",), "primary"),
    Question("copy",     "Copy",             "Make a copy",   ("name",), "primary"),
    Question("share",    "Share",      "Share", ("grantee", "role"), "primary"),
    Question("download", "Download",         "Save",        ("target", "path", "range"), "primary"),
    Question("replace",  "Replace the content of",                      "Replace content", ("source",), "danger", 1),
    Question("delete",   "Delete permanently?",                  "Delete", (), "danger"),
)}
# fmt: on


def save_as(noun: str) -> tuple[widgets.RadioButtons, widgets.Text]:
    """Return the choice between a path and the browser, and the field of the path, for a file or a document."""
    targets = [("File in the notebook folder", KERNEL), ("Browser download", BROWSER)]
    target = ui.radio_buttons("Save as", "A file where Python runs, or a download to this computer", targets)
    tooltip = f"A path or a folder; empty: the name of the {noun}, in the notebook folder"
    return target, ui.text_field("Path", tooltip, hint=f"the name of the {noun}")


class ConfirmDialog(Dialog):
    """The panel of all dialogs. A confirmation calls `answered` with the question. Closing the panel calls `left`."""

    def __init__(self, answered: Callable[[Question], None], left: Callable[[], None]) -> None:
        self.question: Question | None = None
        self._closed_callback = left
        self.name = ui.text_field("Name", "The new name")
        self.grantee = ui.text_field(
            "Share with",
            "E-mail addresses with commas between them; anyone; or domain: and a domain",
            hint="bob@svc.example, anyone, or domain:example.com",
        )
        roles = [(role.capitalize(), role) for role in ("reader", "commenter", "writer")]
        self.role = ui.radio_buttons("Role", "What they can do: read, comment, or change the file", roles, "svc-across")
        self.folder = ui.dropdown("Folder", "The folder to which the files are moved")
        self.target, self.path = save_as("file")
        self.type = ui.dropdown("Type", "A folder, a file without content, or a native document", _TYPES)
        self.source = FileChoice()
        tooltip = "The first and the last byte, both included; the first byte of a file is 0"
        self.range = ui.text_field("Byte range", tooltip, hint="the whole file, or a part such as 0-99")
        self.yes = ui.button("Yes", "Confirm", lambda: answered(self.question) if self.question else None)
        self.no = ui.cancel_button("Close the dialog", self.dismiss)
        ui.on_change(self._update_visibility, self.target)
        self._parts = {
            "name": self.name,
            "type": self.type,
            "grantee": self.grantee,
            "role": self.role,
            "folder": self.folder,
            "target": self.target,
            "path": self.path,
            "source": self.source,
            "range": self.range,
        }
        super().__init__(*self._parts.values(), ui.row(self.yes, self.no))
        self.add_class("svc-fields")

    def watch(self, changed: Callable[[], object]) -> None:
        ui.on_change(changed, *self._parts.values())
        self.source.watch(changed)

    def ask(self, key: str, subject: str, name: str = "", note: str = "") -> None:
        """Show the dialog with a key and focus the first control.

        `subject` has the file names, `name` is the initial value of the name field, and `note` explains the effect.
        """
        self.question = question = QUESTIONS[key]
        separator = " " if question.title.endswith("?") else ": "
        title = tag("p", tag("strong", question.title), separator + subject if subject else "", role="status")
        self.name.value, self.grantee.value, self.role.value, self.path.value = name, "", "reader", ""
        self.type.value = FOLDER
        self.range.value = ""
        self.yes.description, self.yes.button_style = question.verb, question.style
        self._update_visibility()
        self.ask_with(join_html(title, tag("p", note) if note else ""))
        first = {**self._parts, "source": self.source.path}.get(question.parts[0]) if question.parts else None
        (first or self.no).focus()

    def download(self, files: Sequence[File]) -> Download:
        """Return the download of these files. Raises ValueError for an invalid byte range."""
        in_browser = self.target.value == BROWSER
        path = "" if in_browser else self.path.value.strip()
        part = self.range.value.strip()
        byte_range = str(as_range(part)) if part else None
        return Download(tuple(files), path or None, byte_range, in_browser=in_browser)

    def discard(self) -> None:
        """Close the panel without calling `left`, if its question is about files that are no longer selected."""
        if self.question and self.question.files != 0:
            self.question = None
            super().dismiss()

    def dismiss(self) -> None:
        """Close the panel and call `left`, if a dialog is open."""
        if self.question is None:
            return
        self.question = None
        super().dismiss()
        self._closed_callback()

    def _update_visibility(self) -> None:
        parts = self.question.parts if self.question else ()
        for key, control in self._parts.items():
            ui.set_visible(control, key in parts and (key != "path" or self.target.value == KERNEL))


def action_for(
    question: Question, dialog: ConfirmDialog, session: Session, chosen: Sequence[File], folder: str
) -> FileAction:
    """Return the action of a dialog for files or the open folder. Raises ValueError for missing or invalid input."""
    ids = [str(file["id"]) for file in chosen]
    files, count, name = one_or_all(ids), count_text(len(ids), "file"), dialog.name.value.strip()
    match question.key:
        case "folder" | "rename" if not name:
            raise ValueError("Name is empty. Enter a name.")
        case "folder":
            kind = dialog.type.value
            media_type = {} if kind == FILE else {"mime_type": session.names.native(kind)}
            facts = {"name": name, **media_type, "parents": [folder]}
            return call_action(session, f"Created the {kind} {name}.", create_file, **facts)
        case "rename":
            return call_action(session, f"Renamed to {name}.", update, ids[0], name=name)
        case "move" if dialog.folder.value is None:
            raise ValueError("Folder is empty. Select the folder to which the files are moved.")
        case "move":
            return call_action(session, f"Moved {count} to {dialog.folder.label}.", move, files, to=dialog.folder.value)
        case "copy" if name and len(ids) > 1:
            raise ValueError(f"Name is for one copy, but {count} are selected. Leave it empty.")
        case "copy":
            return call_action(session, f"Copied {count}.", copy, files, *([name] if name else []))
        case "share" if not dialog.grantee.value.strip():
            raise ValueError('Share with is empty: enter e-mail addresses, "anyone" or "domain:example.com".')
        case "share":
            listed, role = grantees("Share with", dialog.grantee.value), dialog.role.value
            message = f"Shared {count} with {', '.join(listed)} ({role})."
            return call_action(session, message, share, files, one_or_all(listed), role=role)
        case "replace":
            return replace_content_action(session, chosen[0], dialog.source.single())
        case "download":
            return download_action(session, [dialog.download(chosen)])
    return call_action(session, f"Deleted {count} permanently.", delete, files)
