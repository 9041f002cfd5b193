"""The upload form, in which a person selects and uploads files, and cancels and resumes uploads (W-01)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...client.files import get_file
from ...client.session import SessionLike
from ...client.uploads.request import with_stored_type
from ...client.uploads.resumable_upload import execute
from ...core.errors.caller_warning import CallerWarnings, collected_warnings
from ...core.resources.files import File
from ...notebook.batch.progress_bar import ProgressBar
from ...notebook.files.files import generate_ids
from ...notebook.frames.frames import frame
from ...notebook.frames.schemas import FILES
from ..file_browser.details import minute_text
from ..widgets import ui
from ..widgets.background_task import BackgroundTask, Report, Stopped
from ..widgets.dialogs import Confirmation, comparison_table, size_with_bytes
from ..widgets.form import Form
from .controls import UploadControls

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.session import Session
    from ...client.uploads.request import UploadRequest


class UploadQueue:
    """The uploads of one click. `files` contains the metadata of the finished uploads.

    After an exception, `run` continues. An interrupted resumable upload continues from the journal of the session.
    """

    def __init__(self, session: Session, requests: list[UploadRequest], bar: ProgressBar) -> None:
        self.files: list[File] = []
        self._session, self._requests, self._bar = session, requests, bar

    @property
    def current(self) -> UploadRequest | None:
        """The request of the running or next upload, or None if all uploads are done."""
        return self._requests[len(self.files)] if len(self.files) < len(self._requests) else None

    def run(self, report: Report) -> CallerWarnings:
        """Run the remaining uploads one after the other, and return their warnings."""
        with collected_warnings() as warnings:
            while (request := self.current) is not None:
                self._bar.label = f"Upload {request.name}"
                report(0, request.source.size)
                self.files.append(execute(self._session, request, report))
        return warnings


_BINARY = "The new content overwrites the old one. The file keeps its id."
_DOCUMENT = "The file is a native document. The new content is converted and replaces everything in the document."


def upload_form(*, session: SessionLike = None) -> UploadForm:
    """Return a form that uploads files of any size from your computer, or files in the notebook folder.

    If a person clicks Upload while files still load into the kernel, the upload begins when the files are loaded.

    The selected files become new files. Alternatively, one selected file replaces the content of an existing file,
    after a person has confirmed the replacement. "More options" has the copy restriction, the media type, an id for one
    new file, and more metadata.

    `form.result` is the DataFrame of the files, `form.code()` the equivalent call, `form.last_error` the last error.

    Args:
        session: The session for the uploads. None stands for the session that is current when Upload is clicked.

    See tests/rules.csv (A1 to A3, A5).

    >>> lab = svc.sandbox()
    >>> svc.upload_form()
    <UploadForm: nothing uploaded yet>
    """
    return UploadForm(session)


class UploadForm(Form):
    """The form that `upload_form` returns. A program can set `controls` and click the buttons."""

    title = "Upload form"
    instead = "svc.upload(path)"

    def __init__(self, session: SessionLike = None) -> None:
        super().__init__(session)
        self._queues: list[UploadQueue] = []
        self._waiting = False
        self.controls = UploadControls()
        self.upload = self._button("Upload", "Upload the selected files", self._upload, "primary")
        self.cancel = self._button("Cancel", "Stop; the service keeps the bytes that it has", self._cancel)
        self.resume = self._button("Resume", "Continue where the upload stopped", self._resume)
        self.bar = ProgressBar("Upload", 1)
        self.work = BackgroundTask(self._on_stop, self.bar)
        buttons = ui.row(self.upload, self.cancel, self.resume)
        self.bar.reset("Upload")
        self.question = Confirmation(self._guard)
        self.controls.watch(self._on_change)
        self.controls.files.watch(self._on_files)
        ui.on_change(lambda: self._guard(self.refresh), self.controls.upload_as)
        self.controls.refresh.on_click(lambda _button: self._guard(self.refresh))
        self.controls.options.generate.on_click(lambda _button: self._guard(self._generate_id))
        self._compose(self.controls, buttons, self.question, self.bar, self.work, self.alert, self.table)

    @property
    def result(self) -> DataFrame:
        """The files that this form has uploaded, with the columns of `files()`."""
        return frame(FILES, [file for queue in self._queues for file in queue.files])

    def code(self) -> str:
        """Return the equivalent call. If no file is selected, return the call of the last upload."""
        return self.controls.code() if self.controls.files.names() else self._last_code or self.controls.code()

    def refresh(self) -> None:
        """Reload the list of existing files, if the upload replaces the content of a file."""
        if self.controls.existing:
            self.controls.read(self.session)
            self._on_change()

    def _on_change(self) -> None:
        """Remove the question and the messages of the previous upload after a change of a control."""
        self._close_question()
        self._show_error(None)
        self._clear_status()
        self._show_code()

    def _on_files(self) -> None:
        """Begin the upload that waits for files when the files are loaded."""
        if self._waiting and not self._wait_for_files():
            self._guard(self._upload)

    def _wait_for_files(self) -> bool:
        """Show for how many files the upload waits. Return False if all files are loaded."""
        count = len(self.controls.files.picker.loading())
        self._waiting = count > 0
        if self._waiting:
            self.bar.show_text(f"Waiting for {ui.count_text(count, 'file')} to load")
        return self._waiting

    def _clear_status(self) -> None:
        """Show "Idle" instead of the status of a finished upload. The status explains Resume and a waiting upload."""
        if not (self.busy or self._waiting or self._interrupted):
            self.bar.reset("Upload")

    def _generate_id(self) -> None:
        made = generate_ids(1, session=self.session)
        self.controls.options.id.value = str(made["id"].item())

    def _upload(self) -> None:
        if self.busy:
            raise ValueError("An upload is running. Wait for it, or cancel it.")
        self._waiting = False
        self._clear_status()
        problems = self.controls.check()
        if problems:
            self._show_problems("Nothing was uploaded.", problems)
            return
        if self._wait_for_files():
            return
        session = self.session
        requests = self.controls.requests(session)
        facts = self.controls.facts
        if facts is None:
            self._begin(session, requests)
        else:
            self._ask_to_replace(session, requests, str(facts["id"]))

    def _ask_to_replace(self, session: Session, requests: list[UploadRequest], file_id: str) -> None:
        """Ask a person to confirm new content for a file, with the metadata of old and new content side by side."""
        requests = [with_stored_type(session, request) for request in requests]
        file, request = get_file(session, file_id, fields="id,name,mimeType,size,modifiedTime"), requests[0]
        name, size, media_type = str(file.get("name")), file.get("size"), str(file.get("mimeType") or "unknown")
        document = session.names.is_native(media_type)
        lines = (
            ("Name", name, request.metadata.get("name") or name),
            ("Content from", "", self.controls.files.single().name),
            (
                "Size",
                "" if size is None else size_with_bytes(int(size)),
                "" if document else size_with_bytes(request.source.size),
            ),
            ("Type", media_type, media_type if document else request.media_type),
            ("Modified", f"{minute_text(file.get('modifiedTime'))} UTC", ""),
            ("File ID", file["id"], "the same"),
        )
        ui.set_visible(self.cancel, False)
        self.question.ask(
            f"Replace the content of {name}?",
            "Replace content",
            _DOCUMENT if document else _BINARY,
            facts=comparison_table(f"Compare {name}", ("Now", "After the upload"), lines),
            confirmed=lambda: self._replace(session, requests),
            cancelled=lambda: self._keep(name),
        )

    def _replace(self, session: Session, requests: list[UploadRequest]) -> None:
        self._close_question()
        self.upload.focus()
        self._begin(session, requests)

    def _keep(self, name: str) -> None:
        self._close_question()
        self.upload.focus()
        self.bar.show_text(f"Cancelled: {name} is unchanged.")

    def _close_question(self) -> None:
        self.question.dismiss()
        ui.set_visible(self.cancel, True)

    @property
    def _interrupted(self) -> UploadQueue | None:
        """The last queue, if not all of its uploads are done."""
        return next((queue for queue in self._queues[-1:] if queue.current), None)

    def _begin(self, session: Session, requests: list[UploadRequest]) -> None:
        self._queues.append(UploadQueue(session, requests, self.bar))
        self._start(self._queues[-1])

    def _cancel(self) -> None:
        if self._waiting:
            self._waiting = False
            self.bar.show_text("Cancelled: nothing was uploaded")
            return
        if not self.busy:
            raise ValueError("Nothing is running that could be cancelled.")
        self.work.stop()

    def _resume(self) -> None:
        if self.busy or self._interrupted is None:
            raise ValueError("There is no interrupted upload.")
        self._start(self._interrupted)

    def _start(self, queue: UploadQueue) -> None:
        """Run the queue in a thread, or to its end without an event loop."""
        self.bar.begin("Upload", None)
        self.work.begin("", queue.run, lambda warnings: self._on_done(queue, warnings), in_thread=True)

    def _on_done(self, queue: UploadQueue, warnings: CallerWarnings) -> None:
        text = f"{ui.count_text(len(queue.files), 'file')} uploaded"
        if self.controls.existing:
            text = f"the content of {queue.files[0].get('name')} was replaced"
        self._last_code = self.code()
        self.controls.forget()
        self.refresh()
        self._show_result()
        self.bar.show_text(". ".join([f"Done: {text}", *(message for message, _ in warnings)]))

    def _on_stop(self, error: Exception) -> None:
        self._show_result()
        if isinstance(error, Stopped):
            self.bar.show_text(f"Cancelled at {self.bar.status}. Resume continues from there.")
        else:
            self.bar.show_text(f"Stopped at {self.bar.status}. Resume retries from there.")
            self._show_error(error)

    def _show_result(self) -> None:
        if len(self.result):
            self._show_table(self.result)

    def _summary(self) -> str:
        count = len(self.result)
        return (
            f"<UploadForm: {ui.count_text(count, 'file')} uploaded>" if count else "<UploadForm: nothing uploaded yet>"
        )
