"""The choice of an event color: radio buttons, so that arrow keys and screen readers work."""

from __future__ import annotations

import ipywidgets as widgets

from ....core.events.colors import EVENT_COLORS
from ...widgets.field import LABEL, Field, labelled

_DEFAULT = ("the calendar's", "")


class ColorPicker(Field):
    """A colour, or the calendar's own; `value` is `colorId` or None."""

    def __init__(self) -> None:
        self.chips = widgets.RadioButtons(
            options=[_DEFAULT, *((color.name, key) for key, color in EVENT_COLORS.items())],
            orientation="horizontal",
            **labelled("Colour", "What the event looks like in a calendar"),
            style=LABEL,
            layout={"width": "auto"},
        )
        self.chips.add_class("svc-colours")
        super().__init__(self.chips)

    @property
    def value(self) -> str | None:
        """The `colorId` of an event."""
        return str(self.chips.value) or None

    @value.setter
    def value(self, color: str | None) -> None:
        self.chips.value = color if color in EVENT_COLORS else ""


def chip_styles() -> str:
    """The colours as a style sheet: the first choice is the calendar's and has none."""
    chip = ".svc-event .svc-colours .widget-radio-box label:nth-of-type"
    rows = enumerate(EVENT_COLORS.values(), start=2)
    return "\n".join(f"{chip}({n}) {{ --svc-chip: {color.background}; }}" for n, color in rows)
