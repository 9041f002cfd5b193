"""The actions of the file browser, each with the equivalent Python code, and its uploads to the open folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from ...client.files import list_files
from ...core.files.query import quote
from ...local.saving import numbered_paths
from ...notebook.display import count_text
from ...notebook.files.files import create_file, update, upload
from ..widgets.background_task import BackgroundTask, Report, Stopped
from ..widgets.dialogs import REPLACE, Conflict, ReplaceQuestion, size_with_bytes
from ..widgets.file_picker import BrowserFiles, ChosenFile
from ..widgets.form import call_text
from .listing import minute_text

if TYPE_CHECKING:
    from ...client.session import Session
    from ...core.resources.files import File
    from .browser import FileBrowser


@dataclass(frozen=True, slots=True)
class FileAction:
    """An action on files. `code` is the equivalent Python code, `run` performs the action.

    Messages are shown after the action or its cancellation. `in_thread` is True if many bytes can be transferred.
    """

    code: str
    run: Callable[[Report], Any]
    message: str
    in_thread: bool = False
    cancelled_message: str = "Cancelled. The part that was downloaded is kept: the same download resumes there."


def call_action(
    session: Session, message: str, function: Callable[..., Any], *positional: Any, **named: Any
) -> FileAction:
    """Return the action that calls a public function without a progress bar."""
    quiet = {} if function is create_file else {"progress": False}
    return FileAction(
        call_text(function.__name__, positional, named),
        lambda _report: function(*positional, **named, **quiet, session=session),
        message,
    )


def one_or_all(values: Sequence[str]) -> str | list[str]:
    return values[0] if len(values) == 1 else [*values]


def replace_content_action(session: Session, facts: File, chosen: ChosenFile) -> FileAction:
    """Return the action that replaces the content of a file, which is converted for a native document (A5-04)."""
    file, document = str(facts["id"]), session.names.is_native(str(facts.get("mimeType")))
    media_type = chosen.media_type(converted=document)
    action = FileAction(
        call_text("update", [file, str(chosen.source)], {}),
        lambda report: update(file, chosen.source, mime_type=media_type, progress=report, session=session),
        f"Replaced the content of {facts.get('name')}.",
        in_thread=True,
        cancelled_message=f"Cancelled. {facts.get('name')} is unchanged.",
    )
    if chosen.in_notebook_folder:
        return action
    return replace(action, code=uploaded_code([file], f"svc.update({file!r}, path)"))


def uploaded_code(ids: Sequence[str], call: str = "svc.upload(path)") -> str:
    """Return code for files that came from the browser, for whose content Python has no path.

    >>> print(uploaded_code(["a"]))
    # The content came from this computer. For a file in the notebook folder use svc.upload(path).
    svc.file('a')
    """
    comment = f"# The content came from this computer. For a file in the notebook folder use {call}."
    return f"{comment}\n{call_text('file', [one_or_all(ids)], {})}"


_NAMES_PER_REQUEST = 20


@dataclass(frozen=True, slots=True)
class FolderUpload:
    """A file to upload to a folder. If `file_id` is set, the content of that file is replaced instead.

    If the name is that of a file in the folder, `conflict` compares both, and `file_id` is the id of that file.
    """

    chosen: ChosenFile
    folder_id: str
    name: str
    file_id: str = ""
    conflict: Conflict | None = None

    def send(self, session: Session, report: Report) -> str:
        """Upload the file and return its id."""
        source, media_type = self.chosen.source, self.chosen.media_type(converted=False)
        if self.file_id:
            rows = update(self.file_id, source, mime_type=media_type, progress=report, session=session)
        else:
            parent, name = self.folder_id, self.name
            rows = upload(source, name=name, parent=parent, mime_type=media_type, progress=report, session=session)
        return str(rows["id"].item())


def _with_conflict(session: Session, upload: FolderUpload, existing: File, folder_name: str) -> FolderUpload:
    chosen, alternative = upload.chosen, free_name(session, upload.folder_id, upload.name)
    lines = (
        ("Name", existing.get("name"), chosen.name),
        ("Size", size_with_bytes(int(existing.get("size") or 0)), size_with_bytes(chosen.source.stat().st_size)),
        ("Modified", f"{minute_text(existing.get('modifiedTime'))} UTC", ""),
        ("Type", existing.get("mimeType"), chosen.media_type(converted=False) or "unknown"),
    )
    conflict = Conflict(Path(upload.name), alternative, lines, f"Folder: {folder_name}")
    return replace(upload, file_id=str(existing["id"]), conflict=conflict)


def files_by_name(session: Session, folder_id: str, names: Sequence[str]) -> dict[str, File]:
    """Return the files of a folder that have one of these names. Folders and native documents are left out.

    Of several files with the same name, the last modified is returned.
    """
    existing: dict[str, File] = {}
    for start in range(0, len(names), _NAMES_PER_REQUEST):
        terms = " or ".join(f"name = {quote(name)}" for name in names[start : start + _NAMES_PER_REQUEST])
        query = f"{quote(folder_id)} in parents and trashed = false and ({terms})"
        fields = "id,name,mimeType,size,modifiedTime"
        for file in list_files(session, q=query, order_by="modifiedTime desc", fields=fields):
            if file.get("size") is not None:
                existing.setdefault(str(file["name"]), file)
    return existing


def free_name(session: Session, folder_id: str, name: str) -> Path:
    """Return the first of the names `name (1).ext`, `name (2).ext` and so on that no file of the folder has."""
    candidates = numbered_paths(Path(name))
    while True:
        batch = list(islice(candidates, _NAMES_PER_REQUEST))
        existing = files_by_name(session, folder_id, [path.name for path in batch])
        for path in batch:
            if path.name not in existing:
                return path


class FolderUploads(widgets.VBox):  # type: ignore[misc]
    """Uploads the files of a picker to the folder that was open when the person chose them.

    A file whose name another file of the folder has is uploaded only after the answer to a question. Files that arrive
    during an upload or a question wait for its end.
    """

    def __init__(self, picker: BrowserFiles, browser: FileBrowser) -> None:
        self._browser = browser
        self._picker = picker
        self._folders: dict[object, tuple[str, str]] = {}  # the id and the name of the folder, by the path of the file
        self._folder = ("", "")
        self._uploaded: list[str] = []  # the ids of the files that the last run has uploaded
        self._conflicts: list[FolderUpload] = []  # the uploads about which the question asks
        self.work = BackgroundTask(browser._on_error)
        self.question = ReplaceQuestion(browser._guarded(self._on_answer))
        super().__init__([self.question, self.work])
        picker.watch(browser._guarded(self._on_files))

    @property
    def busy(self) -> bool:
        return self.work.busy

    def _on_files(self) -> None:
        for file in self._picker.incoming:
            self._folders.setdefault(file.source, self._browser.listing.folder)
        self._begin_next()

    def _begin_next(self) -> None:
        """Upload the complete files of the first folder. Do nothing while files load or a question is open.

        Of several files with the same name, the first is uploaded. The others follow, after a question.
        """
        if self.busy or self.question.is_open or self._picker.loading():
            return
        files = self._picker.read_files()
        if not files:
            return
        self._folder = self._folders[files[0].source]
        here = [file for file in files if self._folders[file.source] == self._folder]
        batch = [*{file.name: file for file in reversed(here)}.values()][::-1]
        self._run(batch, partial(self._send_new, self._browser.session, batch))

    def _on_answer(self, answer: str | None) -> None:
        uploads, self._uploaded = self._conflicts, []
        chosen = [upload.chosen for upload in uploads]
        if answer is None:
            self._finish(f"Cancelled. Not uploaded: {count_text(len(chosen), 'file')}.", chosen)
            return
        if answer != REPLACE:
            names = [(upload, upload.conflict.alternative_path.name) for upload in uploads if upload.conflict]
            uploads = [replace(upload, file_id="", name=name) for upload, name in names]
        self._run(chosen, partial(self._send, self._browser.session, uploads))

    def _run(self, chosen: Sequence[ChosenFile], work: Callable[[Report], None]) -> None:
        self._uploaded, self._conflicts = [], []

        def run(report: Report) -> BaseException | None:
            try:
                work(report)
            except (Exception, Stopped) as error:
                return error
            return None

        label = f"Upload {count_text(len(chosen), 'file')} to {self._folder[1]}"
        self.work.begin(label, run, lambda error: self._on_done(chosen, error), in_thread=True)

    def _send_new(self, session: Session, chosen: Sequence[ChosenFile], report: Report) -> None:
        """Upload the files whose names no file of the folder has. The others become conflicts."""
        folder_id, folder_name = self._folder
        existing = files_by_name(session, folder_id, [file.name for file in chosen])
        uploads = [FolderUpload(file, folder_id, file.name) for file in chosen]
        self._send(session, [upload for upload in uploads if upload.name not in existing], report)
        named = [(upload, existing[upload.name]) for upload in uploads if upload.name in existing]
        self._conflicts = [_with_conflict(session, upload, file, folder_name) for upload, file in named]

    def _send(self, session: Session, uploads: Sequence[FolderUpload], report: Report) -> None:
        """Send uploads one after the other, until one of them fails or the person cancels."""
        for request in uploads:
            report(0, None)
            self._uploaded.append(request.send(session, report))

    def _on_done(self, chosen: Sequence[ChosenFile], error: BaseException | None) -> None:
        waiting = [upload.chosen for upload in self._conflicts]
        if conflicts := [upload.conflict for upload in self._conflicts if upload.conflict]:
            self.question.ask(conflicts, f" in {self._folder[1]}")
        total, uploaded = count_text(len(chosen), "file"), len(self._uploaded)
        count = total if uploaded == len(chosen) else f"{uploaded} of {total}"
        text = f"{'Cancelled. ' * isinstance(error, Stopped)}Uploaded {count} to {self._folder[1]}."
        if waiting and not uploaded:
            text = ""  # the question lists the waiting files
        self._finish(text, [file for file in chosen if file not in waiting], error)

    def _finish(self, text: str, done: Sequence[ChosenFile], error: BaseException | None = None) -> None:
        self._picker.forget(list(done))
        for file in done:
            self._folders.pop(file.source, None)
        ids = self._uploaded
        self._browser._on_uploaded(text, ids, uploaded_code(ids) if ids else "")
        if isinstance(error, Exception):
            self._browser._on_error(error)
        self._on_files()  # files that arrived meanwhile
