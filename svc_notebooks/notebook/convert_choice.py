"""Whether uploaded files become documents of the service, as two controls of a form (A5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets as widgets

from ..core.mime import by_name
from .field import entry
from .file_choice import Chosen
from .labels import LABEL, labelled

# ipywidgets loses a first choice whose value is None: now and then nothing is chosen at all.
KINDS = (
    ("nothing: keep the files as they are", ""),
    ("what fits each file best", "auto"),
    ("document: Word, OpenDocument, HTML, RTF, text, PDF, pictures", "document"),
    ("spreadsheet: Excel, OpenDocument, CSV, TSV", "spreadsheet"),
    ("presentation: PowerPoint, OpenDocument", "presentation"),
    ("drawing: SVG", "drawing"),
    ("script: JSON, source text", "script"),
)


class ConvertChoice(widgets.VBox):  # type: ignore[misc]
    """The controls; `arguments` are those of `upload` that say the same.

    >>> choice = ConvertChoice()
    >>> choice.kind.value = "document"; choice.arguments()
    {'convert_to': 'document', 'ocr_language': None}
    """

    def __init__(self) -> None:
        self.kind = widgets.Dropdown(
            options=KINDS,
            **labelled("Convert to", "What the files become at the service; it can then be exported to other formats"),
            style=LABEL,
        )
        self.language = entry(
            "Language of pictures",
            "The language of the text in pictures and scans, as a tag",
            hint="a tag like en, de or zh-Hant; empty: the service's choice",
        )
        super().__init__([self.kind, self.language])

    def watch(self, changed: Callable[[], None]) -> None:
        """Call this whenever a control has another value."""
        for control in (self.kind, self.language):
            control.observe(lambda _change: changed(), "value")

    def arguments(self) -> dict[str, Any]:
        """`convert_to` and `ocr_language`; a language counts only where something is converted."""
        kind: str | None = self.kind.value or None
        return {"convert_to": kind, "ocr_language": (self.language.value.strip() or None) if kind else None}

    def name_of(self, one: Chosen) -> str:
        """What to call an uploaded file: one that becomes a document loses its extension."""
        from ..client.conversion import document_name

        return document_name(one.name) if self.kind.value else one.name

    def type_of(self, one: Chosen) -> str | None:
        """The type to send it under: browsers call a CSV what the computer's last office program said."""
        return (by_name(one.name) if self.kind.value else None) or one.mime_type
