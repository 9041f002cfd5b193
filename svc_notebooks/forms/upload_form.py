"""The upload form, in which a person selects and uploads files, and cancels and resumes uploads (W-01)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import ipywidgets as widgets

from ..client.files import get_file
from ..client.session import Session, SessionLike
from ..client.uploads.upload_request import document_name
from ..core.errors.errors import CallerWarnings, collected_warnings
from ..core.files.fields import is_media_type
from ..core.resources.files import File
from ..notebook.arguments import one_folder_id
from ..notebook.display import KIB, MIB, count_text
from ..notebook.files.files import update, upload
from ..notebook.files.metadata import metadata_body
from ..notebook.frames import FILES, camel, concatenate
from .file_browser.listing import MAX_FILES, NEW_DOCUMENT_CONTENT, file_line, latest_files, minute_text
from .widgets import ui
from .widgets.background_task import BackgroundTask, Report, Stopped
from .widgets.dialogs import Confirmation, comparison_table, size_with_bytes
from .widgets.file_picker import ChosenFile, FileChoice
from .widgets.form import Form, call_text

if TYPE_CHECKING:
    from pandas import DataFrame


# A file, and the call of `upload` or `update` that sends it. The call takes the argument `progress`.
UploadCall: TypeAlias = "tuple[ChosenFile, Callable[..., DataFrame]]"


_BINARY = "The new content overwrites the old one. The file keeps its id."


def upload_form(*, session: SessionLike = None) -> UploadForm:
    """Return a form that uploads files of any size from your computer, or files in the notebook folder.

    If a person clicks Upload while files still load into the kernel, the upload begins when the files are loaded.

    The selected files become new files. Alternatively, one selected file replaces the content of an existing file,
    after a person has confirmed the replacement. "More options" has the copy restriction, the media type, an id for one
    new file, and more metadata.

    In a program, `form.fill(...)` sets the fields by their labels, and `form.upload()` presses Upload. The labels are
    those of the form, such as notebook_file, name, folder and convert_to.

    `form.result` is the DataFrame of the files, `form.code()` the equivalent call, `form.last_error` the last error.

    Args:
        session: The session for the uploads. None stands for the session that is current when Upload is clicked.

    See tests/rules.csv (A1 to A3, A5).

    >>> lab = svc.sandbox()
    >>> data = svc.create_folder("Data")
    >>> saved = svc.download(svc.upload(b"a,b", name="survey.csv"))
    >>> form = svc.upload_form()
    >>> form.fill(notebook_file="survey.csv", folder="Data")
    >>> form.code()
    "svc.upload('survey.csv', folder='Data')"
    >>> form.upload()
    >>> form.result["name"].tolist(), form
    (['survey.csv'], <UploadForm: 1 file uploaded>)
    """
    return UploadForm(session)


class UploadForm(Form):
    """The form that `upload_form` returns. A program can set `controls` and click the buttons."""

    title = "Upload form"
    instead = "svc.upload(path)"

    def __init__(self, session: SessionLike = None) -> None:
        super().__init__(session)
        self._calls: list[UploadCall] = []  # the uploads of the last click, without those that are done
        self._results: list[DataFrame] = []
        self._waiting = False
        self.controls = UploadControls()
        self.upload = self._button("Upload", "Upload the selected files", self._upload, "primary")
        self.resume = self._button("Resume", "Continue where the upload stopped", self._resume)
        self.work = BackgroundTask(self._on_stop)
        self.question = Confirmation(self._guard)
        self.controls.watch(self._on_change)
        self.controls.files.watch(self._on_files)
        ui.on_change(lambda: self._guard(self.refresh), self.controls.upload_as)
        self.controls.refresh.on_click(lambda _button: self._guard(self.refresh))
        buttons = ui.row(self.upload, self.resume)
        self._compose(self.controls, buttons, self.question, self.work, self.status, self.alert, self.table)

    @property
    def result(self) -> DataFrame:
        """The files that this form has uploaded, with the columns of `files()`."""
        return concatenate(FILES, self._results)[[column.name for column in FILES.columns]]

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
        self.question.dismiss()
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
            self._show_status(f"Waiting for {count_text(count, 'file')} to load")
        return self._waiting

    def _clear_status(self) -> None:
        """Remove the status of a finished upload, but not one that explains Resume or a waiting upload."""
        if not (self._waiting or self._calls):
            super()._clear_status()

    def _upload(self) -> None:
        self.work.require_idle()
        self._waiting = False
        self._clear_status()
        problems = self.controls.check()
        if problems:
            self._show_problems("Nothing was uploaded.", problems)
            return
        if self._wait_for_files():
            return
        session = self.session
        calls = self.controls.calls(session)
        facts = self.controls.facts
        if facts is None:
            self._begin(calls)
        else:
            self._ask_to_replace(session, calls, str(facts["id"]))

    def _ask_to_replace(self, session: Session, calls: list[UploadCall], file_id: str) -> None:
        """Ask a person to confirm new content for a file, with the metadata of old and new content side by side."""
        ((chosen, _),) = calls
        file = get_file(session, file_id, fields="id,name,mimeType,size,modifiedTime")
        name, size, media_type = str(file.get("name")), file.get("size"), str(file.get("mimeType") or "unknown")
        document = session.names.is_native(media_type)
        lines = (
            ("Name", name, self.controls.name.value.strip() or name),
            ("Content from", "", chosen.name),
            (
                "Size",
                "" if size is None else size_with_bytes(int(size)),
                "" if document else size_with_bytes(chosen.source.stat().st_size),
            ),
            ("Type", media_type, media_type if document else self.controls.media_type(chosen) or media_type),
            ("Modified", f"{minute_text(file.get('modifiedTime'))} UTC", ""),
            ("File ID", file["id"], "the same"),
        )
        self.question.ask(
            f"Replace the content of {name}?",
            "Replace content",
            NEW_DOCUMENT_CONTENT if document else _BINARY,
            facts=comparison_table(f"Compare {name}", ("Now", "After the upload"), lines),
            confirmed=lambda: self._replace(calls),
            cancelled=lambda: self._keep(name),
        )

    def _replace(self, calls: list[UploadCall]) -> None:
        self.upload.focus()
        self._begin(calls)

    def _keep(self, name: str) -> None:
        self.upload.focus()
        self._show_status(f"Cancelled: {name} is unchanged.")

    def _begin(self, calls: list[UploadCall]) -> None:
        self._calls, self._count = [*calls], len(calls)
        self._start()

    def _resume(self) -> None:
        if self.busy or not self._calls:
            raise ValueError("There is no interrupted upload.")
        self._start()

    def _start(self) -> None:
        """Send the uploads in a thread, or to their end without an event loop."""
        self._show_status("")
        self.work.begin("Upload", self._send_all, self._on_done, in_thread=True)

    def _send_all(self, report: Report) -> CallerWarnings:
        """Send the uploads that are not done, one after the other, and return their warnings.

        An interrupted resumable upload continues from the journal of the session.
        """
        with collected_warnings() as warnings:
            while self._calls:
                chosen, call = self._calls[0]
                self.work.bar.label = f"Upload {chosen.name}"
                report(0, None)
                self._results.append(call(progress=report))
                del self._calls[0]
        return warnings

    def _on_done(self, warnings: CallerWarnings) -> None:
        text = f"{count_text(self._count, 'file')} uploaded"
        if self.controls.existing:
            text = f"the content of {self._results[-1]['name'].item()} was replaced"
        self._last_code = self.code()
        self.controls.forget()
        self.refresh()
        self._show_result()
        self._show_status(". ".join([f"Done: {text}", *(message for message, _ in warnings)]))

    def _on_stop(self, error: Exception) -> None:
        self._show_result()
        if isinstance(error, Stopped):
            self._show_status(f"Cancelled at {self.work.bar.status}. Resume continues from there.")
        else:
            self._show_status(f"Stopped at {self.work.bar.status}. Resume retries from there.")
            self._show_error(error)

    def _show_result(self) -> None:
        if len(self.result):
            self._show_table(self.result)

    def _summary(self) -> str:
        count = len(self.result)
        return f"<UploadForm: {count_text(count, 'file')} uploaded>" if count else "<UploadForm: nothing uploaded yet>"


# ipywidgets sometimes selects nothing if the value of the first option is None.
TARGETS = (
    ("None: keep the files as they are", ""),
    ("Automatic", "auto"),
    ("document: Word, OpenDocument, HTML, RTF, text, PDF, pictures", "document"),
    ("spreadsheet: Excel, OpenDocument, CSV, TSV", "spreadsheet"),
    ("presentation: PowerPoint, OpenDocument", "presentation"),
    ("drawing: SVG", "drawing"),
    ("script: JSON, source text", "script"),
)


NEW, EXISTING = "new", "existing"
_NO_FILES = "There is no file that you can edit. Upload one, then click Refresh."
_LATEST = f"The list has the {MAX_FILES} last modified files. Use the file browser for any other."
_KEPT = "The new content overwrites the old one. The file keeps its id and name."
_CONVERTED = "The new content is converted and replaces everything in this document."


_EXAMPLE = '{"starred": true}'
_ON = "Default: on. Off: only people who can edit the file."
_ID = "Empty: the service generates one. With an id, a repeated upload creates no second file."
_CONVERTED_ID = "A converted file cannot have an id of your own. Remove the id, or do not convert the file."
# The metadata fields that have their own controls, and the names of these controls.
_OTHER_CONTROLS = {"name": "Name", "id": "File ID", ui.FIELD: "the switch above"}


class UploadOptions(ui.MoreOptions):
    """The rarely used fields of the upload form. `arguments` returns the metadata that the fields set."""

    def __init__(self) -> None:
        self._existing: tuple[Any, bool] = (None, False)
        self.viewers = ui.SingleField(ui.viewers_switch())
        self.viewers.show_hint(_ON)
        hint = "empty: from the name of the file"
        self.media_type = ui.SingleField(ui.text_field("Media type", "The Content-Type of the upload", hint=hint))
        self.id = ui.text_field("File ID", "An id from generate_ids() for one new file")
        self.file_id = ui.Field(self.id, hint=_ID)
        tooltip = "More fields of every file, as a JSON object"
        self.metadata = ui.SingleField(ui.text_area("Metadata (JSON)", tooltip, hint=_EXAMPLE, rows=2))
        self.fields = (self.viewers, self.media_type, self.file_id, self.metadata)
        super().__init__(*self.fields)

    def watch(self, changed: Callable[[], object]) -> None:
        ui.on_change(changed, self.viewers.control, self.media_type.control, self.id, self.metadata.control)

    def set_existing(self, facts: File | None) -> None:
        """Show the copy restriction of an existing file. None stands for new files."""
        followed = (facts or {}).get("id"), ui.is_restricted(facts or {})
        if followed != self._existing:  # keep a switch that was set for the same file
            self._existing = followed
            self.viewers.value = not followed[1]
        ui.set_visible(self.file_id, facts is None)

    def arguments(self) -> dict[str, Any]:
        """Return the metadata as arguments of `update`. Raises ValueError for metadata that is not a JSON object."""
        restricted = not self.viewers.value
        own = {ui.ARGUMENT: restricted} if restricted != self._existing[1] else {}
        return {**own, **ui.read_object(self.metadata.value, _EXAMPLE)}

    def problems(self, files: int, *, converted: bool, existing: bool) -> Iterator[tuple[ui.Field, str]]:
        """Yield the fields with their problems. `files` is the number of selected files."""
        if self.id.value.strip() and not existing:
            if files > 1:
                yield self.file_id, f"An id is for one file, but {files} are selected. Remove the id."
            if converted:
                yield self.file_id, _CONVERTED_ID
        media_type = self.media_type.value.strip()
        if media_type and not is_media_type(media_type):
            yield self.media_type, f"{media_type} is not a media type. Enter one such as text/csv."
        yield from ((self.metadata, words) for words in self._metadata_problems(creating=not existing))

    def _metadata_problems(self, *, creating: bool) -> Iterator[str]:
        try:
            further = ui.read_object(self.metadata.value, _EXAMPLE)
            metadata_body(further, creating=creating)
        except (ValueError, TypeError) as error:
            yield str(error)
            return
        for key in map(camel, further):
            if key in _OTHER_CONTROLS:
                yield f"{key} has its own control. Use {_OTHER_CONTROLS[key]} and remove it here."


UPLOAD_TYPES = (
    ("auto: by size and metadata", "auto"),
    ("media: the content alone, without a name", "media"),
    ("multipart: metadata and content in one request", "multipart"),
    ("resumable: in chunks, can be cancelled and resumed", "resumable"),
)
CHUNK_SIZES = (
    ("256 KiB", 256 * KIB),
    ("1 MiB", MIB),
    ("8 MiB", 8 * MIB),
    ("32 MiB", 32 * MIB),
    ("the whole file in one request", -1),
)
DEFAULT_CHUNK = 8 * MIB
_CHUNKED = ("auto", "resumable")
_MEDIA_ONLY = "A media upload has no name, folder, id, conversion or metadata. Select multipart."


class UploadControls(widgets.VBox):  # type: ignore[misc]
    """The controls of the upload form. `calls` returns the calls of public functions, and `code` their text."""

    def __init__(self) -> None:
        self._rows: dict[str, File] = {}
        self._documents: set[str] = set()
        self._reading = False
        self.files = FileChoice()
        choices = [("New files", NEW), ("New content for an existing file", EXISTING)]
        tooltip = "Create new files, or replace the content of an existing one"
        self.upload_as = ui.radio_buttons("Upload as", tooltip, choices, "svc-across")
        self.existing_file = ui.dropdown("Existing file", "The files that you can edit, last modified first")
        self.refresh = ui.small_button("Refresh", "Reload the list of files")
        self.file = ui.Field(self.existing_file, self.refresh)
        tooltip = "The native document that the files become; it can be exported to other formats"
        self.target = ui.dropdown("Convert to", tooltip, TARGETS)
        tooltip = "The language of the text in images and scans, as a language tag"
        self.language = ui.text_field("OCR language", tooltip, hint="en, de, zh-Hant …; empty: automatic")
        self.upload_type = ui.SingleField(ui.radio_buttons("Upload type", "The protocol of the upload", UPLOAD_TYPES))
        tooltip = "The bytes in each request of a resumable upload; with another than the default, auto means resumable"
        self.chunk_size = ui.dropdown("Chunk size", tooltip, CHUNK_SIZES, value=DEFAULT_CHUNK)
        tooltip = "The name of the uploaded file; for one file only"
        self.name = ui.SingleField(ui.text_field("Name", tooltip, hint="the name of the file"))
        tooltip = "The folder of the new files; a folder that does not exist is not created"
        self.folder = ui.text_field("Folder", tooltip, hint="an id, a name, or a path, like Data/2026; empty: My files")
        self.options = UploadOptions()
        where = (self.files, self.upload_as, self.file, self.name, self.folder)
        super().__init__([*where, self.target, self.language, self.upload_type, self.chunk_size, self.options])
        self.add_class("svc-fields")
        ui.on_change(self._on_destination, self.upload_as, self.existing_file)
        ui.on_change(self._update_visibility, self.upload_type.control, self.target)
        self._on_destination()
        self.watch(self.check)

    def watch(self, changed: Callable[[], object]) -> None:
        ui.on_change(changed, self.target, self.language, self.upload_type.control, self.chunk_size)
        ui.on_change(changed, self.name.control, self.folder)
        ui.on_change(lambda: self._reading or changed(), self.upload_as, self.existing_file)
        for part in (self.files, self.options):
            part.watch(changed)

    @property
    def existing(self) -> bool:
        return bool(self.upload_as.value == EXISTING)

    @property
    def facts(self) -> File | None:
        """The metadata of the selected existing file, or None for new files or without a selection."""
        return self._rows.get(self.existing_file.value) if self.existing and self.existing_file.value else None

    def read(self, session: Session) -> None:
        """Fill the list with the files that the user can edit, and keep the selection."""
        folder = session.names.native("folder")
        fields = ("mimeType", "size", ui.FIELD, "capabilities(canEdit)")
        rows = latest_files(session, *fields, q=f"mimeType != '{folder}'")
        self._rows = {str(facts["id"]): facts for facts in rows if ui.may_edit(facts)}
        self._documents = {key for key, facts in self._rows.items() if session.names.is_native(str(facts["mimeType"]))}
        self._reading = True  # the list has no selection while it is filled
        ui.replace_options(self.existing_file, [(file_line(facts), key) for key, facts in self._rows.items()])
        self._reading = False
        self._on_destination()
        self.check()

    def _on_destination(self) -> None:
        if self._reading:
            return
        self.options.set_existing(self.facts)
        self.name.control.placeholder = "the current name" if self.existing else "the name of the file"
        self._update_visibility()

    def _update_visibility(self) -> None:
        ui.set_visible(self.file, self.existing)
        hint = _NO_FILES if not self._rows else _CONVERTED if self._replaces_document else _KEPT
        self.file.show_hint(f"{hint} {_LATEST}" if len(self._rows) == MAX_FILES else hint)
        ui.set_visible(self.target, not self.existing)
        ui.set_visible(self.folder, not self.existing)
        ui.set_visible(self.language, self._converted)
        ui.set_visible(self.chunk_size, self.upload_type.value in _CHUNKED)

    @property
    def _replaces_document(self) -> bool:
        """True if the existing file is a native document, for which new content is converted (A5-04)."""
        return self.existing and self.existing_file.value in self._documents

    @property
    def _converted(self) -> bool:
        return self._replaces_document if self.existing else bool(self.target.value)

    def check(self) -> list[str]:
        """Show each problem beside its field, and return the problem texts."""
        problems = list(self._problems())
        for field in (self.name, self.upload_type, *self.options.fields):
            field.show_problems([words for problem_field, words in problems if problem_field is field])
        if any(place in self.options.fields for place, _ in problems):
            self.options.shown = True
        return [words for _, words in problems]

    def _problems(self) -> Iterator[tuple[ui.Field, str]]:
        files, existing = len(self.files.names()), self.existing
        name = self.name.value.strip()
        if name and files > 1:
            yield self.name, f"Name is for one file, but {files} are selected. Leave it empty."
        wrong = list(self.options.problems(files, converted=self._converted, existing=existing))
        yield from wrong
        is_media = self.upload_type.value == "media" and not wrong
        if is_media and self.arguments().keys() - {"upload_type", "mime_type", "ocr_language"}:
            yield self.upload_type, _MEDIA_ONLY

    def calls(self, session: Session) -> list[UploadCall]:
        """Return the uploads. Raises ValueError or TypeError for invalid input, NotFound for the folder.

        Only a name or a path of a folder sends a request, which finds its id.
        """
        if not self.existing:
            files, named = self.files.read_files(), self.arguments()
            if "folder" in named:
                named["folder"] = one_folder_id(session, named["folder"])
            return [(file, partial(upload, file.source, **named | self._own(file), session=session)) for file in files]
        chosen, existing = self.files.single(), self.facts
        if existing is None:
            raise ValueError("No existing file is selected. Select one, or upload a new file.")
        named = {**self.arguments(), "mime_type": self.media_type(chosen)}
        return [(chosen, partial(update, str(existing["id"]), chosen.source, **named, session=session))]

    def _own(self, chosen: ChosenFile) -> dict[str, Any]:
        """Return the arguments of a new file that depend on its name and on what the browser says of it."""
        own_name = document_name(chosen.name) if self._converted else chosen.name
        name = self.name.value.strip() or (own_name if self.upload_type.value != "media" else None)
        return {"name": name, "mime_type": self.media_type(chosen)}

    def forget(self) -> None:
        """Remove the uploaded files from the list, and clear the file id, because the id is now in use."""
        self.files.forget()
        self.options.id.value = ""

    def media_type(self, chosen: ChosenFile) -> str | None:
        """Return the media type to send with a file, or None if the type is unknown."""
        guesses = self._converted or self.existing  # an unconverted new file has the browser's type
        known = chosen.media_type(converted=self._converted) if guesses else chosen.mime_type
        return self.options.media_type.value.strip() or known

    def _chunk(self) -> int | None:
        """Return the chunk size, or None if the chunk size has no effect on this upload."""
        chosen = int(self.chunk_size.value)
        matters = {"resumable": True, "auto": chosen != DEFAULT_CHUNK}
        return chosen if matters.get(self.upload_type.value) else None

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `upload` or `update` that the controls set, without the source."""
        new = not self.existing
        arguments = {
            "convert_to": new and self.target.value,
            "ocr_language": self._converted and self.language.value.strip(),
            "name": self.name.value.strip(),
            "folder": new and self.folder.value.strip(),
            "mime_type": self.options.media_type.value.strip(),
            "file_id": new and self.options.id.value.strip(),
            "upload_type": self.upload_type.value != "auto" and self.upload_type.value,
            "chunk_size": self._chunk(),
        }
        metadata = {} if self.options.metadata.problems else self.options.arguments()
        named = {key: value for key, value in arguments.items() if value}
        return named | ({"metadata": metadata} if new and metadata else metadata)

    def code(self) -> str:
        """Return the equivalent call of `upload` or `update`.

        >>> UploadControls().code()
        "svc.upload('...')"
        """
        names = self.files.names() or ["..."]
        source = names[0] if len(names) == 1 else names
        if self.existing:
            return call_text("update", [(self.facts or {}).get("id", "..."), source], self.arguments())
        return call_text("upload", [source], self.arguments())
