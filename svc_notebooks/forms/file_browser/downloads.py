"""The dialog before an action; downloads of files, their results, the questions about them, and previews."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from ...client.downloads.downloads import as_range, read_export
from ...client.files import export_formats
from ...client.session import Session
from ...core.errors.errors import NotAllowed, PathExists, suppress_abuse_warning
from ...core.http.media_types import CSV, HTML, NATIVES, PNG, SVG, TEXT
from ...core.resources.files import File
from ...local.saving import REPLACED, SAVED, UNCHANGED
from ...notebook.display import Markup, count_text, join_html, size_text, tag
from ...notebook.files.downloads.downloads import download, read
from ...notebook.files.files import create_file, update
from ...notebook.files.folders import copy, delete, move
from ...notebook.files.permissions import grantees, share
from ..widgets import ui
from ..widgets.background_task import Report
from ..widgets.dialogs import REPLACE, Confirmation, Conflict, Dialog, ReplaceQuestion, path_conflict
from ..widgets.file_picker import FileChoice
from ..widgets.form import call_text
from ..widgets.preview import MAX_SIZE, MAX_TEXT, preview
from .actions import FileAction, call_action, one_or_all, replace_content_action
from .listing import is_folder, minute_text, owner

if TYPE_CHECKING:
    from .browser import FileBrowser


# The export formats for previews in order of preference. A preview uses the first format that the document offers.
_PREFERRED = (HTML, CSV, SVG, PNG, TEXT)


@dataclass(frozen=True, slots=True)
class FilePreview:
    """The content for a preview. `code` is the call that fetches the same content."""

    name: str
    code: str
    media_type: str
    body: bytes

    @property
    def view(self) -> Markup | None:
        """The content as HTML, or None for a PDF file, which only the browser can show, and other types."""
        shown = preview(self.media_type, self.body)
        return preview(TEXT, self.body) if shown is None and self.media_type.startswith("text/") else shown


def fetch_preview(session: Session, facts: File) -> FilePreview:
    """Return the preview of a file. Raises ValueError above MAX_SIZE, and NotAllowed for a flagged file."""
    media_type = str(facts.get("mimeType") or "")
    read_file = _export if session.names.is_native(media_type) else _read_preview
    return read_file(session, facts, media_type)


def _export(session: Session, facts: File, media_type: str) -> FilePreview:
    formats = {row.media_type: row for row in export_formats(session, media_type)}
    chosen = next((formats[name] for name in (*_PREFERRED, *formats) if name in formats), None)
    name, file_id = str(facts.get("name")), str(facts["id"])
    if chosen is None:
        return FilePreview(name, f"svc.file({file_id!r})", media_type, b"")
    code = call_text("export", [file_id, chosen.extension], {})
    return FilePreview(name, code, chosen.media_type, read_export(session, file_id, chosen.media_type))


def _read_preview(session: Session, facts: File, media_type: str) -> FilePreview:
    name, file_id, size = str(facts.get("name")), str(facts["id"]), int(facts.get("size") or 0)
    text = media_type.startswith("text/") and media_type not in (HTML, CSV)
    if size > MAX_SIZE and not text:
        limit = f"more than {size_text(MAX_SIZE)} are not shown on a page: download it."
        raise ValueError(f"{name} has {size_text(size)}; {limit}")
    byte_range = f"bytes=0-{MAX_TEXT - 1}" if text and size > MAX_TEXT else None
    body = read(file_id, byte_range=byte_range, session=session)
    code = Download((facts,), byte_range=byte_range, in_browser=True).code
    return FilePreview(name, code, media_type, body)


_REASON = "cannotDownloadAbusiveFile"
_WARNING = (
    "The service found malware or spam in it. Opening it can harm this computer and its data.",
    "Only the owner can download it. Continue only if you know its content.",
)


def is_flagged(error: Exception) -> bool:
    """Return whether the service has refused to send a file because the file is flagged as abusive."""
    return isinstance(error, NotAllowed) and error.reason == _REASON


def is_owned(facts: File) -> bool:
    """Return whether the user of the session owns the file. Only the owner can download a flagged file."""
    return facts.get("ownedByMe") is not False


@dataclass(frozen=True, slots=True)
class Download:
    """A request to download files. `byte_range` is a range such as `bytes=0-99`.

    `to` is the target path or folder, unless `in_browser` is True: then the content goes to the person's browser.
    """

    files: tuple[File, ...]
    to: str | None = None
    byte_range: str | None = None
    overwrite: bool = False
    acknowledge_abuse: bool = False
    in_browser: bool = False

    @property
    def ids(self) -> list[str]:
        return [str(facts["id"]) for facts in self.files]

    @property
    def code(self) -> str:
        """The calls that save the files, or that read them into memory.

        >>> Download(({"id": "a"},), "b.txt", "bytes=0-9", acknowledge_abuse=True).code
        "svc.download('a', 'b.txt', byte_range='bytes=0-9', acknowledge_abuse=True)"
        """
        if self.in_browser:
            return "\n".join(call_text("read", [file_id], self.options) for file_id in self.ids)
        files = self.ids[0] if len(self.ids) == 1 else self.ids
        return call_text("download", [files, *([self.to] if self.to else [])], self.options)

    @property
    def options(self) -> dict[str, Any]:
        """The arguments of `download` and `read` that are set."""
        names = ("byte_range", "acknowledge_abuse", "overwrite")
        return {name: getattr(self, name) for name in names if getattr(self, name)}


@dataclass(slots=True)
class DownloadResult:
    """The result of one or more downloads.

    `outcomes` has a word such as saved or unchanged for each saved file. `conflicts` are existing paths with different
    content, and `blocked` the downloads to these paths. `flagged` are downloads of files that are flagged as abusive.
    `error` is the first error with another cause. `bodies` has the content for the browser.
    """

    outcomes: list[str] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)
    blocked: list[Download] = field(default_factory=list)
    flagged: list[Download] = field(default_factory=list)
    error: Exception | None = None
    bodies: list[tuple[File, bytes]] = field(default_factory=list)

    @property
    def summary(self) -> str:
        """The numbers of saved, replaced, unchanged, sent and unsaved files as text.

        >>> DownloadResult(["saved", "unchanged", "saved"]).summary
        'Saved 2 files. Unchanged: 1 file.'
        """
        count = Counter(self.outcomes)
        counts = {
            "Saved ": count[SAVED],
            "Replaced ": count[REPLACED],
            "Unchanged: ": count[UNCHANGED],
            "Sent to the browser: ": len(self.bodies),
            "Not saved: ": len(self.conflicts) + len(self.flagged),
        }
        return " ".join(f"{label}{count_text(number, 'file')}." for label, number in counts.items() if number)


def download_action(session: Session, downloads: Sequence[Download], code: str = "") -> FileAction:
    """Return the action that downloads files. Its `run` returns a DownloadResult."""

    def run(report: Report) -> DownloadResult:
        result = DownloadResult()
        for request in downloads:
            (_read if request.in_browser else _save)(session, request, report, result)
        return result

    return FileAction(code or "\n".join(request.code for request in downloads), run, "", in_thread=True)


@suppress_abuse_warning()
def _save(session: Session, request: Download, report: Report, result: DownloadResult) -> None:
    try:
        options = {**request.options, "progress": report, "session": session}
        rows: Any = download(request.ids, request.to, errors="raise", **options)
    except Exception as error:
        failed: Mapping[int, Exception] = getattr(error, "failed", {})
        if error not in failed.values():
            raise
        rows = getattr(error, "result", {"outcome": ()})  # also has the rows that failed
        for cause in failed.values():
            _add_failure(result, request, cause)
    result.outcomes.extend(rows["outcome"])


def _add_failure(result: DownloadResult, request: Download, cause: Exception) -> None:
    file: File = vars(cause)["file"]  # can be below a selected folder
    facts = next((facts for facts in request.files if facts["id"] == file["id"]), file)
    if is_flagged(cause):
        result.flagged.append(replace(request, files=(facts,)))
    elif isinstance(cause, PathExists) and cause.replaceable and facts.get("size") is not None:
        # not an export, which `download` makes only for a whole folder
        modified, media_type = f"{minute_text(facts.get('modifiedTime'))} UTC", str(facts.get("mimeType") or "")
        conflict = path_conflict(cause, str(facts.get("name")), int(facts["size"]), modified, media_type)
        result.conflicts.append(conflict)
        result.blocked.append(replace(request, files=(facts,)))
    else:
        result.error = result.error or cause


@suppress_abuse_warning()
def _read(session: Session, request: Download, report: Report, result: DownloadResult) -> None:
    for n, facts in enumerate(request.files):
        report(n, len(request.files))
        try:
            result.bodies.append((facts, read(str(facts["id"]), **request.options, session=session)))
        except NotAllowed as error:
            if not is_flagged(error):
                raise
            result.flagged.append(replace(request, files=(facts,)))


class FileDownloads(widgets.VBox):  # type: ignore[misc]
    """Runs downloads, and asks about existing files or flagged files. The answer starts another download or cancels."""

    def __init__(self, browser: FileBrowser) -> None:
        self._browser = browser
        self._request: Download | None = None
        self._result = DownloadResult()
        self._deferred: list[Download] = []
        self.replace = ReplaceQuestion(browser._guarded(self._on_replace_answer))
        self.abuse = Confirmation(browser._guard)
        super().__init__([self.replace, self.abuse])

    @property
    def is_open(self) -> bool:
        return self.replace.is_open or self.abuse.is_open

    def dismiss(self) -> None:
        self.replace.dismiss()
        self.abuse.dismiss()
        self._deferred = []

    def begin(self, request: Download) -> None:
        """Download files. Raises ValueError for a folder that is to be sent to the browser."""
        names = self._browser.session.names
        folders = [str(facts.get("name")) for facts in request.files if is_folder(facts, names)]
        if folders and request.in_browser:
            raise ValueError(f"{', '.join(folders)}: a folder is saved in the notebook folder only. Change Save as.")
        self._request, self._deferred = request, []
        self._run([request])

    def _run(self, downloads: Sequence[Download]) -> None:
        """Run downloads, and show the equivalent call unless several calls would be necessary."""
        code = self._request.code if self._request else ""
        self._browser._run_action(download_action(self._browser.session, downloads, code), self._on_finish)

    def _on_finish(self, attempt: DownloadResult) -> str:
        for facts, body in attempt.bodies:
            self._browser.browser_download.save(str(facts.get("name")), str(facts.get("mimeType")), body)
        if attempt.error:
            self._browser._show_error(attempt.error)
        attempt.flagged[:0] = self._deferred
        self._result, self._deferred = attempt, []
        if attempt.conflicts:
            self.replace.ask(attempt.conflicts)
        else:
            self._ask_about_abuse()
        return attempt.summary

    def _on_replace_answer(self, answer: str | None) -> None:
        attempt = self._result
        self._browser._focus_button()
        if answer is None:
            self._browser._show_status("Cancelled. The existing files are unchanged.")
            self._ask_about_abuse()
            return
        self._deferred = attempt.flagged
        overwrite = answer == REPLACE
        self._request = replace(self._request, overwrite=True) if self._request and overwrite else None
        paths = [conflict.path if overwrite else conflict.alternative_path for conflict in attempt.conflicts]
        pairs = zip(attempt.blocked, paths, strict=True)
        self._run([replace(download, to=str(path), overwrite=overwrite) for download, path in pairs])

    def _ask_about_abuse(self) -> None:
        mine = [download for download in self._result.flagged if is_owned(download.files[0])]
        others = [download.files[0] for download in self._result.flagged if not is_owned(download.files[0])]
        if others:
            texts = [f"{facts.get('name')}: only its owner, {owner(facts)}, can download it." for facts in others]
            self._browser._show_error(ValueError(" ".join([*texts, "The service found malware or spam in it."])))
        if mine:
            names = [str(download.files[0].get("name")) for download in mine]
            count = f"{len(mine)} files were flagged as abusive: " if len(mine) > 1 else ""
            title = f"{count}{', '.join(names)}{'' if count else ' was flagged as abusive'}."
            self.abuse.ask(
                title,
                "Download anyway",
                *_WARNING,
                confirmed=lambda: self._on_abuse_answer(mine),
                cancelled=lambda: self._on_abuse_answer([]),
            )

    def _on_abuse_answer(self, flagged: Sequence[Download]) -> None:
        """Download the flagged files, which are none after Cancel."""
        self._browser._focus_button()
        if not flagged:
            self._browser._show_status("Cancelled. The flagged files were not downloaded.")
            return
        self._request = replace(self._request, acknowledge_abuse=True) if self._request else None
        self._run([replace(download, acknowledge_abuse=True) for download in flagged])


# -- the dialog before an action, of which one panel shows the controls of any action


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
        parts = ("name", "type", "grantee", "role", "folder", "target", "path", "source", "range")
        self._parts: dict[str, Any] = {part: getattr(self, part) for part in parts}
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
