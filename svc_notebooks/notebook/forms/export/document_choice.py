"""The choice of a native document, last modified first."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from ...widgets.field import LABEL, describe
from ...widgets.html import tag
from ...widgets.styles import row
from ..file_browser.recent_files import MAX_FILES, file_line, latest_files

if TYPE_CHECKING:
    from ....client.session import Session
    from ....core.resources.files import File

_FIELDS = "id,name,mimeType,modifiedTime"
_NONE = (
    "There is no native document yet. Create one with svc.upload('report.docx', convert_to='document') or with"
    " “Convert to” in svc.upload_form(), then click Refresh."
)


class DocumentChoice(widgets.VBox):  # type: ignore[misc]
    """A list of documents and a button to reload it. `facts` are the metadata of the selected one."""

    def __init__(self) -> None:
        self._documents: dict[str, File] = {}
        self.chooser = widgets.Dropdown(
            **describe("Document", "The native documents of this service, last modified first"),
            style=LABEL,
            layout={"min_width": "min(100%, 24em)"},  # with nothing in it, too, there is room beside its label
        )
        self.refresh = widgets.Button(description="Refresh", tooltip="Reload the list of documents")
        self.note = widgets.HTML()
        super().__init__([row(self.chooser, self.refresh), self.note])
        self._show_note()

    @property
    def facts(self) -> File | None:
        """The id, name and mimeType of the selected document."""
        return self._documents.get(self.chooser.value) if self.chooser.value else None

    def watch(self, changed: Callable[[], None]) -> None:
        """Call `changed` whenever another document is selected."""
        self.chooser.observe(lambda _change: changed(), "value")

    def read(self, session: Session, ids: list[str] | None = None) -> None:
        """Fill the list with these files or with all. The selected one stays selected if it still exists."""
        documents = _list_documents(session) if ids is None else [_document(session, file_id) for file_id in ids]
        before = self.chooser.value
        self._documents = {str(facts["id"]): facts for facts in documents}
        self.chooser.options = [(_document_line(session, facts), key) for key, facts in self._documents.items()]
        self.chooser.value = before if before in self._documents else next(iter(self._documents), None)
        self._show_note()

    def _show_note(self) -> None:
        words = "" if self._documents else _NONE
        if len(self._documents) == MAX_FILES:
            words = f"The list has the {MAX_FILES} last modified documents; svc.export_form(file) takes any other."
        self.note.value = tag("p", words, role="status", style="margin: 2px") if words else ""


def _list_documents(session: Session) -> list[File]:
    from ....client.about import capabilities_of

    natives = [f"mimeType = '{native_type}'" for native_type in capabilities_of(session).exports]
    return latest_files(session, "mimeType", q=f"({' or '.join(natives)})") if natives else []


def _document(session: Session, file_id: str) -> File:
    """Return the metadata of a document. Raises NotFound, and NotAllowed for a file that is not a native document."""
    from ....client.about import export_formats
    from ....client.downloads.exports import not_native
    from ....client.files import get_file

    facts = get_file(session, file_id, fields=_FIELDS)
    if not export_formats(session, str(facts.get("mimeType"))):
        raise not_native(facts)
    return facts


def _document_line(session: Session, facts: Any) -> str:
    from ....client.about import native_name

    return file_line(facts, native_name(session.names, str(facts.get("mimeType"))))
