"""The export form, in which a person selects a document and a format, and previews or saves the export (W-02)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from ..client.downloads.downloads import export_name, not_native, read_export, same_export, target_path
from ..client.files import capabilities_of, export_formats, get_file, native_name
from ..client.session import Session, SessionLike, session_or_current
from ..core.errors.errors import PathExists
from ..local.saving import REPLACED, SAVED, UNCHANGED, check_path, make_folder, save_bytes
from ..notebook.arguments import files_at
from ..notebook.display import count_text, size_text, tag
from ..notebook.frames import EXPORTED, frame
from .file_browser.downloads import KERNEL, save_as
from .file_browser.listing import MAX_FILES, file_line, latest_files
from .widgets import ui
from .widgets.background_task import BackgroundTask, Report, Stopped
from .widgets.dialogs import REPLACE, ReplaceQuestion, path_conflict
from .widgets.file_picker import DownloadWidget
from .widgets.form import HANDLER_LOCK, Form, call_text
from .widgets.preview import preview

if TYPE_CHECKING:
    from pandas import DataFrame

    from ..core.http.media_types import ExportFormat
    from ..core.resources.files import File as FileResource
    from ..notebook.arguments import File


_FIELDS = "id,name,mimeType,modifiedTime"
_NONE = (
    "There is no native document yet. Create one with svc.upload('report.docx', convert_to='document') or with"
    " “Convert to” in svc.upload_form(), then click Refresh."
)


def _read_document(session: Session, file_id: str) -> FileResource:
    """Return the metadata of a native document. Raises NotFound, or NotAllowed for a file that is not native."""
    facts = get_file(session, file_id, fields=_FIELDS)
    if not export_formats(session, str(facts.get("mimeType"))):
        raise not_native(facts)
    return facts


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """An export of a document to a path, or to the browser if `path` is None. `name` is the default file name."""

    session: Session
    file_id: str
    document: str
    name: str
    format: ExportFormat
    path: Path | None


class ExportControls(widgets.VBox):  # type: ignore[misc]
    """The controls of the export form. `request` returns the export to run, `code` returns the equivalent call."""

    def __init__(self) -> None:
        self._documents: dict[str, FileResource] = {}
        self._formats: list[ExportFormat] = []
        self.document = ui.dropdown("Document", "The native documents of this service, last modified first")
        self.document.layout.min_width = "min(100%, 24em)"  # an empty list has the same width
        self.refresh = ui.button("Refresh", "Reload the list of documents")
        self.note = widgets.HTML()
        tooltip = "The format of the export; the list has those of this service"
        self.format = ui.radio_buttons("Format", tooltip, css="svc-columns")
        self.target, self.path = save_as("document")
        super().__init__([ui.row(self.document, self.refresh), self.note, self.format, self.target, self.path])
        self._update_visibility()

    @property
    def facts(self) -> FileResource | None:
        """The metadata of the selected document (id, name, mimeType), or None if no document is selected."""
        return self._documents.get(self.document.value) if self.document.value else None

    def read(self, session: Session, ids: list[str] | None = None) -> None:
        """List the documents `ids`, or the latest native documents. Raises NotFound or NotAllowed for a wrong id."""
        if ids is None:
            natives = [f"mimeType = '{native_type}'" for native_type in capabilities_of(session).exports]
            documents = latest_files(session, "mimeType", q=f"({' or '.join(natives)})") if natives else []
        else:
            documents = [_read_document(session, file_id) for file_id in ids]
        self._documents = {file["id"]: file for file in documents}
        types = {key: native_name(session.names, str(file.get("mimeType"))) for key, file in self._documents.items()}
        ui.replace_options(self.document, [(file_line(file, types[key]), key) for key, file in self._documents.items()])
        text = "" if self._documents else _NONE
        if len(self._documents) == MAX_FILES:
            text = f"The list has the {MAX_FILES} last modified documents; svc.export_form(file) takes any other."
        self.note.value = tag("p", text, role="status", style="margin: 2px") if text else ""

    def watch(self, changed: Callable[[], object]) -> None:
        for handler in (self._update_visibility, changed):
            ui.on_change(handler, self.format, self.target, self.path)

    def _update_visibility(self) -> None:
        ready = self.facts is not None
        for control in (self.format, self.target):
            ui.set_visible(control, ready)
        ui.set_visible(self.path, ready and self.target.value == KERNEL)

    @property
    def selection(self) -> tuple[object, ...]:
        """The document and the media type of the export, then where it is saved."""
        return (self.facts, self.format.value), self.target.value, self.path.value.strip()

    def show_formats(self, session: Session) -> None:
        """Show the formats of the selected document, and keep the selected format if it still exists."""
        facts = self.facts
        before = self._export_format()
        self._formats = export_formats(session, str(facts["mimeType"])) if facts else []
        same = [row for row in self._formats if before and row.extension == before.extension]
        self.format.options = [(f"{row.title} (.{row.extension})", row.media_type) for row in self._formats]
        self.format.value = next((row.media_type for row in [*same, *self._formats]), None)
        self._update_visibility()

    def _export_format(self) -> ExportFormat | None:
        return next((row for row in self._formats if row.media_type == self.format.value), None)

    def request(self, session: Session, *, preview: bool = False) -> ExportRequest:
        """Return the export to run. Raises ValueError without a document, PathExists or PermissionError for a path."""
        facts, chosen = self.facts, self._export_format()
        if facts is None or chosen is None:
            raise ValueError("No document is selected. Select one, or create one and click Refresh.")
        name = export_name(str(facts["name"]), chosen)
        path = None
        if self.target.value == KERNEL and not preview:
            path = target_path(self.path.value.strip() or ".", name)
            check_path(path, overwrite=False)
        return ExportRequest(session, str(facts["id"]), str(facts["name"]), name, chosen, path)

    def code(self, *, path: str = "", overwrite: bool = False) -> str:
        """Return the equivalent `export` call. `path` replaces the path in the form.

        >>> ExportControls().code()
        "svc.export('...', 'pdf')"
        """
        facts, chosen = self.facts, self._export_format()
        if facts is None or chosen is None:
            return "svc.export('...', 'pdf')"
        path = path or (self.path.value.strip() if self.target.value == KERNEL else "")
        first = next(row for row in self._formats if row.extension == chosen.extension)
        name = chosen.extension if first == chosen else chosen.media_type  # two formats may have the same extension
        arguments = [facts["id"], name, *([path] if path else [])]
        return call_text("export", arguments, {"overwrite": True} if overwrite else {})


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
        file: An id, a link, a path like "birds/may.csv", a row, a DataFrame, or a list of these.
            None: the service's documents, last modified first.
        session: The session whose documents are listed. None stands for the current session.

    Raises:
        TypeError, ValueError: `file` does not contain a file id.
        NotAllowed: The file is not a native document. Use `download` instead.
        NotFound: The file does not exist, or the user has no access to the file.

    See tests/rules.csv (A7).

    >>> lab = svc.sandbox()
    >>> table = svc.upload(b"a,b", name="table.csv", convert_to="spreadsheet")
    >>> svc.export_form(table)
    <ExportForm: nothing exported yet>
    """
    form = ExportForm(session, None if file is None else files_at(session_or_current(session), file))
    if file is not None and form.last_error is not None:
        raise form.last_error
    return form


class ExportForm(Form):
    """The form that `export_form` returns. A program can set `controls` and click the buttons."""

    title = "Export form"
    instead = "svc.export(file, format)"

    def __init__(self, session: SessionLike = None, ids: list[str] | None = None) -> None:
        super().__init__(session)
        self._ids = ids
        self._done: list[Mapping[str, Any]] = []
        self._selection: tuple[object, ...] = ()
        self._updating = False
        self._waiting_export: tuple[ExportRequest, bytes] | None = None
        self._answer_arguments: dict[str, Any] = {}
        self.controls = ExportControls()
        self.question = ReplaceQuestion(self._guarded(self._answer))
        save, show = partial(self._begin, self._save), partial(self._begin, self._show_preview, preview=True)
        self.export = self._button("Export", "Export the document and save the file", save, "primary")
        self.preview = self._button("Preview", "Export the document and show it; nothing is saved", show)
        self.view = widgets.HTML()
        self.browser_download = DownloadWidget(self._on_received)
        buttons = ui.row(self.export, self.preview)
        self.work = BackgroundTask(self._on_error)
        self.controls.refresh.on_click(lambda _button: self._guard(self.refresh))
        ui.on_change(self._guarded(self._show_formats), self.controls.document)
        self.controls.watch(self._on_change)
        self._guard(self.refresh)
        self._compose(
            self.controls,
            buttons,
            self.question,
            self.work,
            self.status,
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
        self.controls.read(self.session, self._ids)
        self._show_formats()

    def _show_formats(self) -> None:
        self._updating = True
        try:
            self.controls.show_formats(self.session)
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
        if self._selection[:1] != before[:1]:
            self._clear()
        self._show_code()

    def _forget_answer(self) -> None:
        """Close the question, and forget the previous answer and the export that waits for an answer."""
        self._waiting_export, self._answer_arguments = None, {}
        self.question.dismiss()

    def _begin(self, on_done: Callable[[ExportRequest, bytes], str], *, preview: bool = False) -> None:
        self.work.require_idle()
        self._clear_status()
        request = self.controls.request(self.session, preview=preview)
        self._clear()
        self._forget_answer()
        self._show_code()

        def export(progress: Report) -> bytes:
            return read_export(request.session, request.file_id, request.format.media_type, progress=progress)

        def finish(body: bytes) -> None:
            with HANDLER_LOCK:  # the browser may have received the file before the status says that it is sent
                self._show_status(on_done(request, body))

        self.work.begin(f"Export {request.name}", export, finish, in_thread=True)

    def _on_error(self, error: Exception) -> None:
        with HANDLER_LOCK:
            if isinstance(error, Stopped):
                self._show_status(_CANCELLED)
            else:
                self._show_error(error)

    def _save(self, request: ExportRequest, body: bytes) -> str:
        if request.path is not None:
            return self._save_to(request, body, request.path, overwrite=False)
        status = self.browser_download.save(request.name, request.format.media_type, body)
        self._add(request, {"size": len(body)})
        return f"Done: {request.name}, {size_text(len(body))}, {status}"

    def _save_to(self, request: ExportRequest, body: bytes, path: Path, *, overwrite: bool) -> str:
        """Save the export and return the status text. Ask first if the path has different content."""
        try:
            make_folder(path.parent)
            saved = save_bytes(path, body, overwrite=overwrite, same=same_export)
        except PathExists as error:
            if not error.replaceable:
                raise
            self._waiting_export = request, body
            self.question.ask([path_conflict(error, request.name, len(body), "now", request.format.media_type)])
            return f"Not saved: {path.name} exists with other content"
        self._add(request, {"path": str(path), "size": saved.size, "outcome": saved.outcome})
        return _WORDS[saved.outcome].format(name=path.name, size=size_text(saved.size), path=path)

    def _add(self, request: ExportRequest, facts: Mapping[str, Any]) -> None:
        about = {"id": request.file_id, "name": request.document, "mimeType": request.format.media_type}
        self._done.append({**about, **facts})
        self._show_table(self.result)

    def _answer(self, answer: str | None) -> None:
        (conflict,) = self.question.conflicts
        self.export.focus()
        if answer is None or self._waiting_export is None:
            self._show_status(f"{_CANCELLED}; {conflict.path.name} is unchanged")
            return
        overwrite = answer == REPLACE
        path = conflict.path if overwrite else conflict.alternative_path
        self._show_status(self._save_to(*self._waiting_export, path, overwrite=overwrite))
        if not self.question.is_open:
            self._answer_arguments = {"overwrite": True} if overwrite else {"path": str(path)}
            self._waiting_export = None
            self._show_code()

    def _show_preview(self, request: ExportRequest, body: bytes) -> str:
        view = preview(request.format.media_type, body)
        if view is None and not self.browser_download.show(request.name, request.format.media_type, body):
            view = tag("p", f"{request.format.title} has no preview here. Export it and open it in another program.")
        self.view.value = view or ""
        return f"Preview of {request.name}, {size_text(len(body))}; nothing was saved"

    def _on_received(self) -> None:
        with HANDLER_LOCK:
            self.status.value = self.status.value.replace("sending to", "received by")

    def _clear(self) -> None:
        self.view.value = ""
        self.browser_download.clear()

    def _summary(self) -> str:
        count = len(self._done)
        return f"<ExportForm: {count_text(count, 'file')} exported>" if count else "<ExportForm: nothing exported yet>"
