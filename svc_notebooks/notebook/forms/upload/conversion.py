"""The controls for the conversion of uploaded files to native documents (A5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets as widgets

from ...widgets.field import LABEL, describe, on_change, set_visible, text_field
from ...widgets.upload_buffer import ChosenFile

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


class ConvertChoice(widgets.VBox):  # type: ignore[misc]
    """The controls for the conversion. `arguments` returns arguments of `upload`.

    >>> choice = ConvertChoice()
    >>> choice.target.value = "document"; choice.arguments()
    {'convert_to': 'document', 'ocr_language': None}
    """

    def __init__(self) -> None:
        self._existing = self._document = False
        self.target = widgets.Dropdown(
            options=TARGETS,
            **describe("Convert to", "The native document that the files become; it can be exported to other formats"),
            style=LABEL,
        )
        self.language = text_field(
            "OCR language",
            "The language of the text in images and scans, as a language tag",
            hint="en, de, zh-Hant …; empty: automatic",
        )
        super().__init__([self.target, self.language])
        self.target.observe(lambda _change: self._update_visibility(), "value")
        self._update_visibility()

    def watch(self, changed: Callable[[], None]) -> None:
        on_change(changed, self.target, self.language)

    def set_destination(self, *, existing: bool, document: bool) -> None:
        """Show the controls for new files or for an existing file, which can be a native document."""
        self._existing, self._document = existing, document
        self._update_visibility()

    @property
    def converted(self) -> bool:
        return self._document if self._existing else bool(self.target.value)

    def arguments(self) -> dict[str, Any]:
        """Return the arguments `convert_to` (only for new files) and `ocr_language` (None without a conversion)."""
        language = self.language.value.strip() or None
        convert_to = {} if self._existing else {"convert_to": self.target.value or None}
        return {**convert_to, "ocr_language": language if self.converted else None}

    def _update_visibility(self) -> None:
        set_visible(self.target, not self._existing)
        set_visible(self.language, self.converted)

    def name_of(self, file: ChosenFile) -> str:
        """Return the name of the uploaded file. A converted file loses its extension."""
        from ....client.uploads.native_types import document_name

        return document_name(file.name) if self.converted else file.name

    def media_type_of(self, file: ChosenFile) -> str | None:
        """Return the media type to send, or None if unknown. An unconverted new file has the browser's type."""
        return file.media_type(converted=self.converted) if self.converted or self._existing else file.mime_type
