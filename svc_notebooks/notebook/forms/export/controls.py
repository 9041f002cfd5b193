"""The controls of the export form: document, format and path; and the call that does the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from ....local.existing_file import check_path
from ....local.saving import SavedFile, save_bytes
from ...widgets.background_task import Report
from ...widgets.field import LABEL, labelled, text_field
from .document_choice import DocumentChoice

if TYPE_CHECKING:
    from ....client.session import Session
    from ....core.http.native_formats import ExportFormat

KERNEL, BROWSER = "kernel", "browser"
_TARGETS = (
    ("File in the notebook folder", KERNEL),
    ("Browser download", BROWSER),
)


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """An export to be done: `name` is what to call it, `path` where to save it (None: the browser has it)."""

    session: Session
    file_id: str
    document: str
    name: str
    format: ExportFormat
    path: Path | None

    def run(self, progress: Report) -> bytes:
        """The export."""
        from ....client.downloads.exports import read_export

        return read_export(self.session, self.file_id, self.format.media_type, progress=progress)

    def save(self, path: Path, body: bytes, *, overwrite: bool) -> SavedFile:
        """Save the export to a path. Raises PathExists where the path has another one."""
        from ....client.downloads.export_comparison import same_export

        return save_bytes(path, body, overwrite=overwrite, same=same_export)


class ExportControls(widgets.VBox):  # type: ignore[misc]
    """The controls, with a label and a tooltip each; `errand` checks them, `code` says them in Python."""

    def __init__(self) -> None:
        self._formats: list[ExportFormat] = []
        self.document = DocumentChoice()
        self.format = widgets.RadioButtons(
            **labelled("Format", "The format of the export; the list has those of this service"),
            style=LABEL,
        )
        self.target = widgets.RadioButtons(
            options=_TARGETS,
            **labelled("Save as", "A file where Python runs, or a download to this computer"),
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
        """Call this whenever a control has another value."""
        for control in (self.format, self.target, self.path):
            control.observe(lambda _change: self._update_visibility(), "value")
            control.observe(lambda _change: changed(), "value")

    def _update_visibility(self) -> None:
        """Show what is asked next, and nothing that would not matter."""
        ready = self.document.facts is not None
        shown = {self.format: ready, self.target: ready, self.path: ready and self.target.value == KERNEL}
        for control, needed in shown.items():
            control.layout.display = None if needed else "none"

    def show_formats(self, session: Session) -> None:
        """Show the formats that the chosen document can have; a format that was chosen stays if it is there."""
        from ....client.about import export_formats

        facts = self.document.facts
        before = self._chosen()
        self._formats = export_formats(session, str(facts["mimeType"])) if facts else []
        same = [row for row in self._formats if before and row.extension == before.extension]
        self.format.options = [(f"{row.title} (.{row.extension})", row.media_type) for row in self._formats]
        self.format.value = next((row.media_type for row in [*same, *self._formats]), None)
        self._update_visibility()

    def _chosen(self) -> ExportFormat | None:
        return next((row for row in self._formats if row.media_type == self.format.value), None)

    def _name(self) -> str | None:
        """What the export is called, where no path says otherwise."""
        from ....client.downloads.exports import export_name

        facts, chosen = self.document.facts, self._chosen()
        return export_name(str(facts["name"]), chosen) if facts and chosen else None

    def request(self, session: Session, *, preview: bool = False) -> ExportRequest:
        """The export that is meant, checked. Raises ValueError; nothing is sent."""
        from ....client.downloads.downloads import checked_destination, target_path

        facts, chosen, name = self.document.facts, self._chosen(), self._name()
        if facts is None or chosen is None or name is None:
            raise ValueError("No document is selected. Select one, or create one and click Refresh.")
        path = None
        if self.target.value == KERNEL and not preview:
            path = target_path(checked_destination(self.path.value.strip() or "."), name)
            check_path(path, overwrite=False)
        return ExportRequest(session, str(facts["id"]), str(facts["name"]), name, chosen, path)

    def code(self, *, path: str = "", overwrite: bool = False) -> str:
        """The call of a cell that does the same; `path` stands for the one of the form, `overwrite` is its argument.

        >>> ExportControls().code()
        "svc.export('...', 'pdf')"
        """
        facts, chosen = self.document.facts, self._chosen()
        if facts is None or chosen is None:
            return "svc.export('...', 'pdf')"
        path = path or (self.path.value.strip() if self.target.value == KERNEL else "")
        arguments: list[Any] = [facts["id"], self._format_argument(chosen), *([path] if path else [])]
        return f"svc.export({', '.join(map(repr, arguments))}{', overwrite=True' if overwrite else ''})"

    def _format_argument(self, chosen: ExportFormat) -> str:
        """The extension, or the media type where two formats share an extension."""
        first = next(row for row in self._formats if row.extension == chosen.extension)
        return chosen.extension if first == chosen else chosen.media_type
