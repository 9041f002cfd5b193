"""Receives files that a person drops on the file list or chooses, and uploads them to the open folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import ipywidgets as widgets

from ...widgets.background_task import BackgroundTask, Report, Stopped
from ...widgets.dialogs.replace_question import CANCEL, REPLACE, ReplaceQuestion
from ...widgets.file_picker import FilePicker
from ...widgets.upload_buffer import ChosenFile
from .actions import file_count, uploaded_code
from .folder_upload import FolderConflict, UploadResult, send_all, upload_free_names

if TYPE_CHECKING:
    from ....client.session import Session

Folder = tuple[str, str]


@dataclass(frozen=True, slots=True)
class UploadEvents:
    """The functions of the file browser that FolderUploads calls.

    `folder` returns the id and the name of the open folder. `finished` is called with a status text, the ids of the
    uploaded files and the equivalent code. `guard` calls a handler and shows its exception, `failed` shows an error.
    """

    session: Callable[[], Session]
    folder: Callable[[], Folder]
    guard: Callable[[Callable[[], None]], None]
    finished: Callable[[str, Sequence[str], str], None]
    failed: Callable[[Exception], None]


class FolderUploads(widgets.VBox):  # type: ignore[misc]
    """Uploads the files of a picker to the folder that was open when the person chose them.

    A file whose name another file of the folder has is uploaded only after the answer to a question. Files that arrive
    during an upload or a question wait for its end.
    """

    def __init__(self, picker: FilePicker, events: UploadEvents) -> None:
        self._events = events
        self._picker = picker
        self._folders: dict[object, Folder] = {}
        self._conflicts: tuple[FolderConflict, ...] = ()
        self._folder: Folder = ("", "")
        self.work = BackgroundTask(events.failed)
        self.question = ReplaceQuestion(lambda answer: events.guard(lambda: self._on_answer(answer)))
        super().__init__([self.question, self.work])
        picker.watch(lambda: events.guard(self._on_files))

    @property
    def busy(self) -> bool:
        return self.work.busy

    def _on_files(self) -> None:
        for source in self._picker.sources():
            self._folders.setdefault(source, self._events.folder())
        self._begin_next()

    def _begin_next(self) -> None:
        """Upload the complete files of the first folder. Do nothing while files load or a question is open.

        Of several files with the same name, the first is uploaded. The others follow, after a question.
        """
        if self.busy or self.question.conflicts or self._picker.loading():
            return
        files = self._picker.read_files()
        if not files:
            return
        self._folder = folder = self._folders[files[0].source]
        batch = _first_of_each_name([file for file in files if self._folders[file.source] == folder])
        session = self._events.session()
        self._run(batch, lambda report: upload_free_names(session, folder, batch, report))

    def _on_answer(self, answer: str) -> None:
        conflicts, session = self._conflicts, self._events.session()
        self.question.dismiss()
        chosen = [conflict.upload.chosen for conflict in conflicts]
        if answer == CANCEL:
            self._finish(f"Cancelled. Not uploaded: {file_count(chosen)}.", chosen, UploadResult())
            return
        uploads = [conflict.replacement if answer == REPLACE else conflict.second for conflict in conflicts]
        self._run(chosen, lambda report: send_all(session, uploads, report))

    def _run(self, chosen: Sequence[ChosenFile], work: Callable[[Report], UploadResult]) -> None:
        label = f"Upload {file_count(chosen)} to {self._folder[1]}"

        def run(report: Report) -> UploadResult:
            try:
                return work(report)
            except Exception as error:
                return UploadResult(error=error)

        self.work.begin(label, run, lambda result: self._on_done(chosen, result), in_thread=True)

    def _on_done(self, chosen: Sequence[ChosenFile], result: UploadResult) -> None:
        self._conflicts = result.conflicts
        waiting = [conflict.upload.chosen for conflict in result.conflicts]
        if waiting:
            self.question.ask(result.conflicts, f" in {self._folder[1]}")
        self._finish(self._summary(chosen, result), [file for file in chosen if file not in waiting], result)

    def _finish(self, words: str, done: Sequence[ChosenFile], result: UploadResult) -> None:
        self._picker.forget(list(done))
        for file in done:
            self._folders.pop(file.source, None)
        self._events.finished(words, result.ids, uploaded_code(result.ids) if result.ids else "")
        if result.error and not isinstance(result.error, Stopped):
            self._events.failed(result.error)
        self._on_files()  # files that arrived meanwhile

    def _summary(self, chosen: Sequence[ChosenFile], result: UploadResult) -> str:
        if result.conflicts and not result.ids:
            return ""  # the question lists the waiting files
        uploaded = len(result.ids)
        count = file_count(chosen) if uploaded == len(chosen) else f"{uploaded} of {file_count(chosen)}"
        cancelled = "Cancelled. " if isinstance(result.error, Stopped) else ""
        return f"{cancelled}Uploaded {count} to {self._folder[1]}."


def _first_of_each_name(files: Sequence[ChosenFile]) -> list[ChosenFile]:
    first: dict[str, ChosenFile] = {}
    for file in files:
        first.setdefault(file.name, file)
    return list(first.values())
