"""The export form, in which a person selects a document and a format, and previews or saves the export (W-02)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from ....core.errors.errors import PathExists
from ....core.platform import capabilities
from ....local.saving import REPLACED, SAVED, UNCHANGED
from ...arguments import file_ids
from ...byte_sizes import size_text
from ...current_session import SessionLike, session_or_current
from ...frames.frames import frame
from ...frames.schemas import EXPORTED
from ...widgets.background_task import Stopped
from ...widgets.dialogs.replace_question import CANCEL, REPLACE, Conflict, ReplaceQuestion
from ...widgets.file_download import BrowserDownload, default_download
from ...widgets.form import HANDLER_LOCK, Form
from ...widgets.html import tag
from ...widgets.preview import preview
from ...widgets.progress.progress_bar import ProgressBar
from ...widgets.styles import row
from .controls import ExportControls, ExportRequest, Selection

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...arguments import File

_STATUS_INTERVAL = 5
"""Seconds between two status texts of a long export."""

_CONVERTING = "Converting …"
_STOPPING = "Stopping when the service responds …"
_CANCELLED = "Cancelled: nothing was saved"
_WORDS = {
    SAVED: "Done: {name}, {size}, saved as {path}",
    UNCHANGED: "Unchanged: {path} already has this content, {size}",
    REPLACED: "Done: {name}, {size}, replaced {path}",
}


def export_form(file: File | None = None, *, session: SessionLike = None) -> ExportForm:
    """Return a form that exports a native document to another format. The form previews or saves the export.

    `form.result` is the DataFrame of the exports, `form.code()` the equivalent call, `form.last_error` the last error.

    Args:
        file: An id, a link, a row, a DataFrame, or a list of these. None: the service's documents, last modified first.
        session: The session whose documents are listed. None stands for the current session.

    Raises:
        TypeError, ValueError: `file` does not contain a file id.
        NotAllowed: The file is not a native document. Use `download` instead.
        NotFound: The file does not exist, or the user has no access to the file.

    See docs/rules.md#a7-export (A7).

    >>> lab = svc.sandbox()
    >>> table = svc.upload(b"a,b", name="table.csv", convert_to="spreadsheet")
    >>> svc.export_form(table)
    <ExportForm: nothing exported yet>
    """
    form = ExportForm(session, None if file is None else file_ids(file))
    if file is not None and form.last_error is not None:
        raise form.last_error
    return form


class ExportForm(Form):
    """The form that `export_form` returns. A program can set `controls` and click the buttons."""

    title = "Export form"
    instead = "svc.export(file, format)"

    def __init__(
        self,
        session: SessionLike = None,
        ids: list[str] | None = None,
        make_download: Callable[[Callable[[], None]], BrowserDownload] = default_download,
    ) -> None:
        super().__init__(session)
        self._ids = ids
        self._done: list[Mapping[str, Any]] = []
        self._selection: Selection | None = None
        self._updating = False
        self._stop_requested = False
        self._waiting_export: tuple[ExportRequest, bytes] | None = None
        self._answer_arguments: dict[str, Any] = {}
        self.controls = ExportControls()
        self.question = ReplaceQuestion(lambda answer: self._guard(lambda: self._answer(answer)))
        self.export = self._button("Export", "Export the document and save the file", self._export, "primary")
        self.preview = self._button("Preview", "Export the document and show it; nothing is saved", self._preview)
        self.cancel = self._button("Cancel export", "Stop the running export without saving", self._cancel)
        self.bar = ProgressBar("Export", 1)
        self.view = widgets.HTML()
        self.browser_download = make_download(self._on_received)
        buttons = row(self.export, self.preview, self.cancel)
        self.bar.reset("Export")
        self.controls.document.refresh.on_click(lambda _button: self._guard(self.refresh))
        self.controls.document.watch(lambda: self._guard(self._show_formats))
        self.controls.watch(self._on_change)
        self._guard(self.refresh)
        self._compose(
            self.controls,
            buttons,
            self.question,
            self.bar,
            self.alert,
            self.view,
            self.browser_download,
            self.table,
        )

    @property
    def result(self) -> DataFrame:
        """The saved exports, with the columns of `export()`. Browser downloads are included and have no path."""
        return frame(EXPORTED, self._done)

    def code(self) -> str:
        return self.controls.code(**self._answer_arguments)

    def refresh(self) -> None:
        self.controls.document.read(session_or_current(self._session), self._ids)
        self._show_formats()

    def _show_formats(self) -> None:
        self._updating = True
        try:
            self.controls.show_formats(session_or_current(self._session))
        finally:
            self._updating = False
        self._on_change()

    def _on_change(self) -> None:
        """Remove the question, the messages and the preview of the previous export if they are outdated."""
        if self._updating:
            return
        before, self._selection = self._selection, self.controls.selection
        if self._selection != before:
            self._forget_answer()
            self._show_error(None)
            self._clear_status()
        if before is None or self._selection.content != before.content:
            self._clear()
        self._show_code()

    def _clear_status(self) -> None:
        if not self.busy:
            self.bar.reset("Export")

    def _forget_answer(self) -> None:
        """Close the question, and forget the previous answer and the export that waits for an answer."""
        self._waiting_export, self._answer_arguments = None, {}
        self.question.dismiss()

    def _export(self) -> None:
        self._begin(self._save, preview=False)

    def _preview(self) -> None:
        self._begin(self._show_preview, preview=True)

    def _begin(self, on_done: Callable[[ExportRequest, bytes], str], *, preview: bool) -> None:
        if self.busy:
            raise ValueError("An export is running. Wait for it, or cancel it.")
        self.bar.reset("Export")
        request = self.controls.request(session_or_current(self._session), preview=preview)
        self._clear()
        self._forget_answer()
        self._show_code()
        self.bar.begin(f"Export {request.name}", None)
        self.bar.show_text(_CONVERTING)
        self._stop_requested = False
        try:
            self._task = asyncio.get_running_loop().create_task(self._run_in_thread(request, on_done))
        except RuntimeError:  # no event loop
            self._finish(request, on_done, lambda: request.run(self._check_stop))

    def _cancel(self) -> None:
        if not self.busy:
            raise ValueError("Nothing is running that could be cancelled.")
        self._stop_requested = True
        self.bar.show_text(_STOPPING)

    def _check_stop(self, done: int, total: int | None) -> None:
        """Raise Stopped if a person has clicked Cancel. The export calls this function to report progress."""
        if self._stop_requested:
            raise Stopped

    async def _run_in_thread(self, request: ExportRequest, on_done: Callable[[ExportRequest, bytes], str]) -> None:
        """Run the export in a thread, so that the kernel handles messages. Without threads, run the export directly."""
        if not capabilities().threads:
            self._finish(request, on_done, lambda: request.run(self._check_stop))
            return
        future = asyncio.ensure_future(asyncio.to_thread(request.run, self._check_stop))
        seconds = 0
        while not (await asyncio.wait([future], timeout=_STATUS_INTERVAL))[0]:
            seconds += _STATUS_INTERVAL
            self.bar.show_text(f"{_STOPPING if self._stop_requested else _CONVERTING} {seconds} seconds so far")
        self._finish(request, on_done, future.result)

    def _finish(
        self, request: ExportRequest, on_done: Callable[[ExportRequest, bytes], str], result: Callable[[], bytes]
    ) -> None:
        with HANDLER_LOCK:  # the browser may have received the file before the status says that it is sent
            try:
                words = on_done(request, result())
            except Stopped:
                self.bar.complete(_CANCELLED, succeeded=False)
            except Exception as error:
                self.bar.complete("Failed", succeeded=False)
                self._show_error(error)
            else:
                self.bar.complete(words)

    def _save(self, request: ExportRequest, body: bytes) -> str:
        if request.path is not None:
            return self._save_to(request, body, request.path, overwrite=False)
        status = self.browser_download.save(request.name, request.format.media_type, body)
        self._add(request, {"size": len(body)})
        return f"Done: {request.name}, {size_text(len(body))}, {status}"

    def _save_to(self, request: ExportRequest, body: bytes, path: Path, *, overwrite: bool) -> str:
        """Save the export and return the status text. Ask first if the path has different content."""
        try:
            saved = request.save(path, body, overwrite=overwrite)
        except PathExists as error:
            if not error.replaceable:
                raise
            self._waiting_export = request, body
            self.question.ask([Conflict(error, request.name, len(body), "now", request.format.media_type)])
            return f"Not saved: {path.name} exists with other content"
        self._add(request, {"path": str(path), "size": saved.size, "outcome": saved.outcome})
        return _WORDS[saved.outcome].format(name=path.name, size=size_text(saved.size), path=path)

    def _add(self, request: ExportRequest, facts: Mapping[str, Any]) -> None:
        about = {"id": request.file_id, "name": request.document, "mimeType": request.format.media_type}
        self._done.append({**about, **facts})
        self._show_table(self.result)

    def _answer(self, answer: str) -> None:
        (conflict,), (free,) = self.question.conflicts, self.question.alternative_paths
        self.question.dismiss()
        self.export.focus()
        if answer == CANCEL or self._waiting_export is None:
            self.bar.complete(f"{_CANCELLED}; {conflict.path.name} is unchanged", succeeded=False)
            return
        overwrite, path = answer == REPLACE, conflict.path if answer == REPLACE else free
        self.bar.complete(self._save_to(*self._waiting_export, path, overwrite=overwrite))
        if not self.question.conflicts:
            self._answer_arguments = {"overwrite": True} if overwrite else {"path": str(free)}
            self._waiting_export = None
            self._show_code()

    def _show_preview(self, request: ExportRequest, body: bytes) -> str:
        shown = preview(request.format.media_type, body)
        if shown is not None:
            self.view.value = shown
        elif not self.browser_download.show(request.name, request.format.media_type, body):
            words = f"{request.format.title} has no preview here. Export it and open it in another program."
            self.view.value = tag("p", words)
        return f"Preview of {request.name}, {size_text(len(body))}; nothing was saved"

    def _on_received(self) -> None:
        with HANDLER_LOCK:
            self.bar.show_text(self.bar.text.replace("sending to", "received by"))

    def _clear(self) -> None:
        self.view.value = ""
        self.browser_download.clear()

    def _summary(self) -> str:
        count = len(self._done)
        words = "nothing exported yet" if not count else "1 file exported" if count == 1 else f"{count} files exported"
        return f"<ExportForm: {words}>"
