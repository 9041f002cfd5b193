"""The choice between new files and new content for an existing file (U-05, A5-04)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import ipywidgets as widgets

from ...widgets.copy_restriction import FIELD, may_edit
from ...widgets.field import LABEL, Field, describe, on_change, set_visible
from ..file_browser.recent_files import MAX_FILES, file_line, latest_files

if TYPE_CHECKING:
    from ....client.session import Session
    from ....core.resources.files import File

NEW, EXISTING = "new", "existing"
_NO_FILES = "There is no file that you can edit. Upload one, then click Refresh."
_LATEST = f"The list has the {MAX_FILES} last modified files. Use the file browser for any other."
_KEPT = "The new content overwrites the old one. The file keeps its id and name."
_CONVERTED = "The new content is converted and replaces everything in this document."


class UploadDestination(widgets.VBox):  # type: ignore[misc]
    """The choice between new files and an existing file. `facts` are the metadata of the selected existing file."""

    def __init__(self) -> None:
        self._rows: dict[str, File] = {}
        self._documents: set[str] = set()
        self._changed: list[Callable[[], None]] = []
        self._reading = False
        self.choice = widgets.RadioButtons(
            options=[("New files", NEW), ("New content for an existing file", EXISTING)],
            **describe("Upload as", "Create new files, or replace the content of an existing one"),
            style=LABEL,
        )
        self.choice.add_class("svc-across")
        self.chooser = widgets.Dropdown(
            **describe("Existing file", "The files that you can edit, last modified first"),
            style=LABEL,
        )
        self.refresh = widgets.Button(description="Refresh", tooltip="Reload the list of files")
        self.refresh.add_class("svc-small")
        self.file = Field(self.chooser, self.refresh)
        super().__init__([self.choice, self.file])
        on_change(self._notify, self.choice, self.chooser)
        self._update_visibility()

    @property
    def existing(self) -> bool:
        return bool(self.choice.value == EXISTING)

    @property
    def facts(self) -> File | None:
        """The metadata of the selected existing file, or None for new files or without a selection."""
        return self._rows.get(self.chooser.value) if self.existing and self.chooser.value else None

    @property
    def document(self) -> bool:
        """True if the existing file is a native document, for which new content is converted (A5-04)."""
        return self.existing and self.chooser.value in self._documents

    def watch(self, changed: Callable[[], None]) -> None:
        self._changed.append(changed)

    def read(self, session: Session) -> None:
        """Fill the list with the files that the user can edit, and keep the selection."""
        folder = session.names.native("folder")
        rows = latest_files(session, "mimeType", "size", FIELD, "capabilities(canEdit)", q=f"mimeType != '{folder}'")
        self._reading, before = True, self.chooser.value
        self._rows = {str(facts["id"]): facts for facts in rows if may_edit(facts)}
        self._documents = {key for key, facts in self._rows.items() if session.names.is_native(str(facts["mimeType"]))}
        self.chooser.options = [(file_line(facts), key) for key, facts in self._rows.items()]
        self.chooser.value = before if before in self._rows else next(iter(self._rows), None)
        self._reading = False
        self._notify()

    def _notify(self) -> None:
        if self._reading:  # the list has no selection while it is filled
            return
        self._update_visibility()
        for changed in self._changed:
            changed()

    def _update_visibility(self) -> None:
        set_visible(self.file, self.existing)
        hint = _NO_FILES if not self._rows else _CONVERTED if self.document else _KEPT
        self.file.show_hint(f"{hint} {_LATEST}" if len(self._rows) == MAX_FILES else hint)
