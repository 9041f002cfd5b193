"""The controls of the export form for document, format and path, and the equivalent call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import ipywidgets as widgets

from ....local.existing_file import check_path
from ....local.saving import SavedFile, save_bytes
from ...widgets.background_task import Report
from ...widgets.field import LABEL, describe, text_field
from ...widgets.html import tag
from ...widgets.styles import row
from ..file_browser.recent_files import MAX_FILES, file_line, latest_files

if TYPE_CHECKING:
    from ....client.session import Session
    from ....core.http.native_formats import ExportFormat
    from ....core.resources.files import File

_FIELDS = "id,name,mimeType,modifiedTime"
_NONE = (
    "There is no native document yet. Create one with svc.upload('report.docx', convert_to='document') or with"
    " “Convert to” in svc.upload_form(), then click Refresh."
)


class DocumentChoice(widgets.VBox):  # type: ignore[misc]
    """A list of native documents, and a button that reloads the list. `facts` is the selected document."""

    def __init__(self) -> None:
        self._documents: dict[str, File] = {}
        self._reading = False
        self.chooser = widgets.Dropdown(
            **describe("Document", "The native documents of this service, last modified first"),
            style=LABEL,
            layout={"min_width": "min(100%, 24em)"},  # an empty list has the same width
        )
        self.refresh = widgets.Button(description="Refresh", tooltip="Reload the list of documents")
        self.note = widgets.HTML()
        super().__init__([row(self.chooser, self.refresh), self.note])
        self._show_note()

    @property
    def facts(self) -> File | None:
        """The metadata of the selected document (id, name, mimeType), or None if no document is selected."""
        return self._documents.get(self.chooser.value) if self.chooser.value else None

    def watch(self, changed: Callable[[], None]) -> None:
        self.chooser.observe(lambda _change: changed(), "value")

    def read(self, session: Session, ids: list[str] | None = None) -> None:
        """List the documents `ids`, or the latest native documents. Raises NotFound or NotAllowed for a wrong id."""
        from ....client.about import capabilities_of, native_name

        if ids is None:
            natives = [f"mimeType = '{native_type}'" for native_type in capabilities_of(session).exports]
            documents = latest_files(session, "mimeType", q=f"({' or '.join(natives)})") if natives else []
        else:
            documents = [_read_document(session, file_id) for file_id in ids]
        before, self._reading = self.chooser.value, True
        self._documents = {file["id"]: file for file in documents}
        types = {key: native_name(session.names, str(file.get("mimeType"))) for key, file in self._documents.items()}
        self.chooser.options = [(file_line(file, types[key]), key) for key, file in self._documents.items()]
        self.chooser.value = before if before in self._documents else next(iter(self._documents), None)
        self._reading = False
        self._show_note()

    def _show_note(self) -> None:
        words = "" if self._documents else _NONE
        if len(self._documents) == MAX_FILES:
            words = f"The list has the {MAX_FILES} last modified documents; svc.export_form(file) takes any other."
        self.note.value = tag("p", words, role="status", style="margin: 2px") if words else ""


def _read_document(session: Session, file_id: str) -> File:
    """Return the metadata of a native document. Raises NotFound, or NotAllowed for a file that is not native."""
    from ....client.about import export_formats
    from ....client.downloads.exports import not_native
    from ....client.files import get_file

    facts = get_file(session, file_id, fields=_FIELDS)
    if not export_formats(session, str(facts.get("mimeType"))):
        raise not_native(facts)
    return facts


KERNEL, BROWSER = "kernel", "browser"
_TARGETS = (
    ("File in the notebook folder", KERNEL),
    ("Browser download", BROWSER),
)


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """An export of a document to a path, or to the browser if `path` is None. `name` is the default file name."""

    session: Session
    file_id: str
    document: str
    name: str
    format: ExportFormat
    path: Path | None

    def run(self, progress: Report) -> bytes:
        from ....client.downloads.exports import read_export

        return read_export(self.session, self.file_id, self.format.media_type, progress=progress)

    def save(self, path: Path, body: bytes, *, overwrite: bool) -> SavedFile:
        """Save the exported bytes. Raises PathExists for different content at the path, unless `overwrite` is True."""
        from ....client.downloads.export_comparison import same_export

        return save_bytes(path, body, overwrite=overwrite, same=same_export)


@dataclass(frozen=True, slots=True)
class Selection:
    """The selected values. `content` is the metadata of the document and the media type of the export."""

    content: tuple[File | None, str | None]
    target: str
    path: str


class ExportControls(widgets.VBox):  # type: ignore[misc]
    """The controls of the export form. `request` returns the export to run, `code` returns the equivalent call."""

    def __init__(self) -> None:
        self._formats: list[ExportFormat] = []
        self.document = DocumentChoice()
        self.format = widgets.RadioButtons(
            **describe("Format", "The format of the export; the list has those of this service"),
            style=LABEL,
        )
        self.target = widgets.RadioButtons(
            options=_TARGETS,
            **describe("Save as", "A file where Python runs, or a download to this computer"),
            style=LABEL,
        )
        self.path = text_field(
            "Path",
            "A path or a folder; empty: the name of the document, in the notebook folder",
            hint="the name of the document",
        )
        self.format.add_class("svc-columns")
        super().__init__([self.document, self.format, self.target, self.path])
        self._update_visibility()

    def watch(self, changed: Callable[[], None]) -> None:
        for control in (self.format, self.target, self.path):
            control.observe(lambda _change: self._update_visibility(), "value")
            control.observe(lambda _change: changed(), "value")

    def _update_visibility(self) -> None:
        ready = self.document.facts is not None
        shown = {self.format: ready, self.target: ready, self.path: ready and self.target.value == KERNEL}
        for control, needed in shown.items():
            control.layout.display = None if needed else "none"

    @property
    def selection(self) -> Selection:
        """The values of all controls."""
        return Selection((self.document.facts, self.format.value), self.target.value, self.path.value.strip())

    def show_formats(self, session: Session) -> None:
        """Show the formats of the selected document, and keep the selected format if it still exists."""
        from ....client.about import export_formats

        facts = self.document.facts
        before = self._export_format()
        self._formats = export_formats(session, str(facts["mimeType"])) if facts else []
        same = [row for row in self._formats if before and row.extension == before.extension]
        self.format.options = [(f"{row.title} (.{row.extension})", row.media_type) for row in self._formats]
        self.format.value = next((row.media_type for row in [*same, *self._formats]), None)
        self._update_visibility()

    def _export_format(self) -> ExportFormat | None:
        return next((row for row in self._formats if row.media_type == self.format.value), None)

    def _name(self) -> str | None:
        """Return the default file name of the export, or None if no document or no format is selected."""
        from ....client.downloads.exports import export_name

        facts, chosen = self.document.facts, self._export_format()
        return export_name(str(facts["name"]), chosen) if facts and chosen else None

    def request(self, session: Session, *, preview: bool = False) -> ExportRequest:
        """Return the export to run. Raises ValueError without a document, PathExists or PermissionError for a path."""
        from ....client.downloads.downloads import check_destination, target_path

        facts, chosen, name = self.document.facts, self._export_format(), self._name()
        if facts is None or chosen is None or name is None:
            raise ValueError("No document is selected. Select one, or create one and click Refresh.")
        path = None
        if self.target.value == KERNEL and not preview:
            path = target_path(check_destination(self.path.value.strip() or "."), name)
            check_path(path, overwrite=False)
        return ExportRequest(session, str(facts["id"]), str(facts["name"]), name, chosen, path)

    def code(self, *, path: str = "", overwrite: bool = False) -> str:
        """Return the equivalent `export` call. `path` replaces the path in the form.

        >>> ExportControls().code()
        "svc.export('...', 'pdf')"
        """
        facts, chosen = self.document.facts, self._export_format()
        if facts is None or chosen is None:
            return "svc.export('...', 'pdf')"
        path = path or (self.path.value.strip() if self.target.value == KERNEL else "")
        first = next(row for row in self._formats if row.extension == chosen.extension)
        name = chosen.extension if first == chosen else chosen.media_type  # two formats may have the same extension
        arguments = [facts["id"], name, *([path] if path else [])]
        return f"svc.export({', '.join(map(repr, arguments))}{', overwrite=True' if overwrite else ''})"
