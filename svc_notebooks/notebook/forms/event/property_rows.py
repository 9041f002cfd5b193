"""Editable rows of keys and values, for the extended properties of an event and the preferences of a gadget."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import ipywidgets as widgets

from ...widgets.field import AUTO_WIDTH, EditableRows, Field, describe, heading, small_button, text_field


class PropertyRow(Field):
    """A row for one property, with the key, the value and the scope (private or shared)."""

    def __init__(self, key: str = "", value: str = "", scope: str | None = None, scopes: Sequence[str] = ()) -> None:
        self.key = text_field("Key", "The name of the property", value=key, style=AUTO_WIDTH)
        self.text = text_field("Value", "The value of the property", value=value, style=AUTO_WIDTH)
        self.scope = widgets.Dropdown(
            options=scopes,
            value=scope,
            **describe("Visible to", "private: this calendar's copy only; shared: the copies of all attendees"),
            style=AUTO_WIDTH,
        )
        super().__init__(self.key, self.text, *([self.scope] if scopes else []))

    @property
    def name(self) -> str:
        return str(self.key.value).strip()

    @property
    def is_blank(self) -> bool:
        return not self.name and not self.text.value


class PropertyRows(EditableRows[PropertyRow]):
    """The rows of all properties, and a button that adds a row. With `scopes`, each row has a scope."""

    def __init__(self, label: str, tooltip: str, scopes: Sequence[str] = ()) -> None:
        super().__init__(lambda row: row.is_blank)
        self.scopes = tuple(scopes)
        self.add = small_button("Add property" if scopes else "Add preference", tooltip, self._add)
        self.children = [Field(heading(label), self.add), self.box, self.note]

    @property
    def value(self) -> dict[str, Any]:
        """The property values by key. With scopes, a dict from each used scope to the values by key."""
        if not self.scopes:
            return self._pairs(None)
        pairs = {scope: self._pairs(scope) for scope in self.scopes}
        return {scope: properties for scope, properties in pairs.items() if properties}

    @value.setter
    def value(self, value: Mapping[str, Any] | None) -> None:
        """Replace all rows. Raises ValueError for a key that is empty or has surrounding spaces."""
        self.clear()
        groups = [(scope, (value or {}).get(scope)) for scope in self.scopes] if self.scopes else [(None, value)]
        for scope, pairs in groups:
            for key, text in (pairs or {}).items():
                if not key or key != key.strip():
                    raise ValueError("a key is empty, or begins or ends with a space")
                self.append(self._row(key, text, scope))

    def problems(self) -> Iterator[tuple[Field, str]]:
        """Yield each row without a key or with a repeated key, with the problem text."""
        seen = set()
        for row in self.filled:
            key = (row.scope.value, row.name)
            if not row.name:
                yield row, "Enter a key."
            elif key in seen:
                yield row, f"There is already a row for the key {row.name!r}: change or remove one of them."
            seen.add(key)

    def field_at(self, path: str) -> Field:
        """Return the row whose key ends the path, or `note` if there is no such row."""
        for row in self.filled:
            key = f"{row.scope.value}.{row.name}" if self.scopes else row.name
            if path.endswith(f".{key}"):
                return row
        return self.note

    def _pairs(self, scope: str | None) -> dict[str, str]:
        return {row.name: row.text.value for row in self.filled if row.scope.value == scope}

    def _row(self, key: str = "", text: str = "", scope: str | None = None) -> PropertyRow:
        return PropertyRow(key, text, scope or next(iter(self.scopes), None), self.scopes)

    def _add(self) -> None:
        row = self._row()
        if self.append(row):
            row.key.focus()
