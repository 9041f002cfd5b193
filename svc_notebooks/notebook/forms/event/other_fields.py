"""A JSON text field for event fields without a control. JSON and a control must not set the same event field."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from ....core.events.field_table import FIELD_ORDER
from ...widgets.field import Field, on_change, small_button, text_area
from .bindings import LABELS


class OtherFields(Field):
    """A text field for further event fields as a JSON object. The button `move` sets controls from the JSON."""

    def __init__(self, move: Callable[[], object] = lambda: None) -> None:
        self.text = text_area(
            "Other fields",
            "Fields without a control, as a JSON object",
            hint='{"iCalUID": "…", "conferenceData": {…}}',
            rows=2,
        )
        self.move = small_button("Move to controls", "Set the controls to the fields of this JSON", move)
        super().__init__(self.text, self.move)
        on_change(lambda: self.show_hint(" ".join(_unknown_field_notes(self.names))), self.text)

    @property
    def value(self) -> dict[str, Any]:
        """The event fields as a dict. Raises ValueError if the text is not a JSON object."""
        text = self.text.value.strip()
        try:
            fields = json.loads(text) if text else {}
        except ValueError as error:
            raise ValueError(
                f'This is not valid JSON ({error}): enter an object such as {{"iCalUID": "a@b"}}.'
            ) from None
        if not isinstance(fields, dict):
            raise ValueError('This must be a JSON object, like {"iCalUID": "a@b"}.')
        return fields

    @value.setter
    def value(self, fields: Mapping[str, Any]) -> None:
        self.text.value = json.dumps(fields, ensure_ascii=False, indent=1) if fields else ""

    @property
    def names(self) -> frozenset[str]:
        """The names of the event fields in the JSON, or an empty set for invalid JSON."""
        try:
            return frozenset(self.value)
        except ValueError:
            return frozenset()


def duplicate_message(names: Iterable[str]) -> str:
    """Return the error message for event fields that are set both in the JSON and by a control.

    >>> duplicate_message(["summary"])
    'The control Title sets this field too: summary. Remove it here, or clear the control, or press Move to controls.'
    """
    fields = sorted(names)
    labels = [LABELS.get(name, name) for name in fields]
    controls = (
        f"control {labels[0]} sets this field" if len(fields) == 1 else f"controls {', '.join(labels)} set these fields"
    )
    it, control = ("it", "the control") if len(fields) == 1 else ("them", "the controls")
    return f"The {controls} too: {', '.join(fields)}. Remove {it} here, or clear {control}, or press Move to controls."


def _unknown_field_notes(names: frozenset[str]) -> Iterator[str]:
    """Yield a note for each name that is not an event field. The form sends such a field, but services ignore it.

    >>> list(_unknown_field_notes(frozenset({"colour", "status"})))
    ['colour is not a field of an event, and services ignore it; did you mean colorId?']
    """
    for name in sorted(names.difference(FIELD_ORDER)):
        matches = get_close_matches(name, FIELD_ORDER, n=1)
        suggestion = f"; did you mean {matches[0]}?" if matches else "."
        yield f"{name} is not a field of an event, and services ignore it{suggestion}"
