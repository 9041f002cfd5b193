"""The controls of the upload form, which return the upload requests and the equivalent call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from ...client.uploads.request import UploadArguments, document_name
from ...core.files.fields import is_media_type
from ...notebook.byte_sizes import KIB, MIB
from ...notebook.files.metadata import metadata_body
from ...notebook.files.upload_requests import new_content, new_files
from ...notebook.frames.frames import camel
from ..file_browser.details import MAX_FILES, file_line, latest_files
from ..widgets import ui
from ..widgets.file_picker import ChosenFile, FileChoice
from ..widgets.form import call_text

if TYPE_CHECKING:
    from ...client.session import Session
    from ...client.uploads.request import UploadArguments, UploadRequest
    from ...core.resources.files import File


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
_OTHER_CONTROLS = {"name": "Name", "id": "File ID", ui.FIELD: "the switch above"}
"""The metadata fields that have their own controls, and the names of these controls."""


class UploadOptions(ui.MoreOptions):
    """The rarely used fields of the upload form. `arguments` returns the metadata that the fields set."""

    def __init__(self) -> None:
        self._existing: tuple[Any, bool] = (None, False)
        self.viewers = ui.SingleField(ui.viewers_switch())
        self.viewers.show_hint(_ON)
        self.media_type = ui.SingleField(
            ui.text_field("Media type", "The Content-Type of the upload", hint="empty: from the name of the file")
        )
        self.id = ui.text_field("File ID", "An id from generate_ids() for one new file")
        self.generate = ui.small_button("Generate ID", "Get an unused id from the service")
        self.file_id = ui.Field(self.id, self.generate, hint=_ID)
        self.metadata = ui.SingleField(
            ui.text_area("Metadata (JSON)", "More fields of every file, as a JSON object", hint=_EXAMPLE, rows=2)
        )
        super().__init__(self.viewers, self.media_type, self.file_id, self.metadata)

    @property
    def fields(self) -> tuple[ui.Field, ...]:
        return (self.viewers, self.media_type, self.file_id, self.metadata)

    def watch(self, changed: Callable[[], object]) -> None:
        ui.on_change(changed, self.viewers.control, self.media_type.control, self.id, self.metadata.control)

    def set_existing(self, facts: File | None) -> None:
        """Show the copy restriction of an existing file. None stands for new files."""
        followed = (facts or {}).get("id"), ui.is_restricted(facts or {})
        if followed != self._existing:  # keep a switch that was set for the same file
            self._existing = followed
            self.viewers.value = not self._restricted
        ui.set_visible(self.file_id, facts is None)

    @property
    def _restricted(self) -> bool:
        return self._existing[1]

    def arguments(self) -> dict[str, Any]:
        """Return the metadata as arguments of `update`. Raises ValueError for metadata that is not a JSON object."""
        restricted = not self.viewers.value
        return {**({ui.ARGUMENT: restricted} if restricted != self._restricted else {}), **self._metadata()}

    def _metadata(self) -> dict[str, Any]:
        return ui.read_object(self.metadata.value, _EXAMPLE)

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
            further = self._metadata()
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
_MEDIA_ONLY = "A media upload has no name, id, conversion or metadata. Select multipart."


class UploadControls(widgets.VBox):  # type: ignore[misc]
    """The controls of the upload form. `requests` returns the upload requests, `code` returns the equivalent call."""

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
        self.name = ui.SingleField(
            ui.text_field("Name", "The name of the uploaded file; for one file only", hint="the name of the file")
        )
        self.options = UploadOptions()
        where = (self.files, self.upload_as, self.file, self.name)
        super().__init__([*where, self.target, self.language, self.upload_type, self.chunk_size, self.options])
        self.add_class("svc-fields")
        ui.on_change(self._on_destination, self.upload_as, self.existing_file)
        ui.on_change(self._update_visibility, self.upload_type.control, self.target)
        self._on_destination()
        self.watch(self.check)

    def watch(self, changed: Callable[[], object]) -> None:
        ui.on_change(changed, self.target, self.language, self.upload_type.control, self.chunk_size, self.name.control)
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
        ui.set_visible(self.language, self._converted)
        ui.set_visible(self.chunk_size, self.upload_type.value in _CHUNKED)

    @property
    def _replaces_document(self) -> bool:
        """True if the existing file is a native document, for which new content is converted (A5-04)."""
        return self.existing and self.existing_file.value in self._documents

    @property
    def _converted(self) -> bool:
        return self._replaces_document if self.existing else bool(self.target.value)

    def _conversion(self) -> dict[str, Any]:
        """Return the arguments `convert_to` (only for new files) and `ocr_language` (None without a conversion)."""
        convert_to = {} if self.existing else {"convert_to": self.target.value or None}
        return {**convert_to, "ocr_language": (self.language.value.strip() or None) if self._converted else None}

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
        if is_media and (self._metadata() or self._conversion().get("convert_to") or self._file_id()):
            yield self.upload_type, _MEDIA_ONLY

    def requests(self, session: Session) -> list[UploadRequest]:
        """Return the upload requests, without sending a request. Raises ValueError or TypeError for invalid input."""
        if not self.existing:
            files = self.files.read_files()
            return [request for file in files for request in self._new_file_requests(session, file)]
        chosen, existing = self.files.single(), self.facts
        if existing is None:
            raise ValueError("No existing file is selected. Select one, or upload a new file.")
        return new_content(
            session, [str(existing["id"])], chosen.source, self._upload_arguments(chosen), self._metadata()
        )[1]

    def forget(self) -> None:
        """Remove the uploaded files from the list, and clear the file id, because the id is now in use."""
        self.files.forget()
        self.options.id.value = ""

    def _new_file_requests(self, session: Session, chosen_file: ChosenFile) -> list[UploadRequest]:
        name = self.name.value.strip()
        if not name and self.upload_type.value != "media":
            name = document_name(chosen_file.name) if self._converted else chosen_file.name
        arguments = self._upload_arguments(chosen_file)
        return new_files(
            session,
            chosen_file.source,
            arguments,
            name=name or None,
            file_id=self._file_id(),
            metadata=self._metadata(),
        )[1]

    def _upload_arguments(self, chosen_file: ChosenFile) -> UploadArguments:
        guesses = self._converted or self.existing  # an unconverted new file has the browser's type
        media_type = chosen_file.media_type(converted=self._converted) if guesses else chosen_file.mime_type
        return UploadArguments(
            **self._conversion(),
            mime_type=self._media_type() or media_type,
            upload_type=self.upload_type.value,
            chunk_size=self._chunk(),
        )

    def _metadata(self) -> dict[str, Any]:
        name = self.name.value.strip()
        return {**self.options.arguments(), **({"name": name} if name else {})}

    def _media_type(self) -> str | None:
        return self.options.media_type.value.strip() or None

    def _file_id(self) -> str | None:
        return None if self.existing else self.options.id.value.strip() or None

    def _chunk(self) -> int | None:
        """Return the chunk size, or None if the chunk size has no effect on this upload."""
        chosen = int(self.chunk_size.value)
        matters = {"resumable": True, "auto": chosen != DEFAULT_CHUNK}
        return chosen if matters.get(self.upload_type.value) else None

    def code(self) -> str:
        """Return the equivalent call of `upload` or `update`.

        >>> UploadControls().code()
        "svc.upload('...')"
        """
        names = self.files.names() or ["..."]
        source = names[0] if len(names) == 1 else names
        arguments = {
            **self._conversion(),
            "name": self.name.value.strip() or None,
            "mime_type": self._media_type(),
            "file_id": self._file_id(),
            "upload_type": None if self.upload_type.value == "auto" else self.upload_type.value,
            "chunk_size": self._chunk(),
        }
        metadata = {} if self.options.metadata.problems else self.options.arguments()
        named = {key: value for key, value in arguments.items() if value is not None}
        if self.existing:
            return call_text("update", [(self.facts or {}).get("id", "..."), source], named | metadata)
        return call_text("upload", [source], {**named, **({"metadata": metadata} if metadata else {})})
