"""The class of the rows of `BINDINGS`, and the simple controls of the event form, which are created from rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ...client.events.events import list_calendars
from ...client.session import Session
from ...core.errors.errors import SvcError
from ...core.resources.colors import EVENT_COLORS
from ...core.time_zones import UTC_NAME
from ..widgets import ui

PRIMARY = "primary"
_WRITABLE = ("owner", "writer", "writerWithoutPrivateAccess")
Choices = tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Binding:
    """A row of `BINDINGS`, which describes a control of the event form.

    Attributes:
        group: FIRST or SECOND for the two columns of the form, otherwise a heading under "More options".
        path: The event field or the query parameter. Several fields are separated by spaces.
        argument: The argument of `create_event`. "source.url" is the key `url` of the argument `source`, which is a
            dict. "metadata.x" is the event field `x`, which has no argument. The argument is empty if only several
            controls together make an argument.
        make: Creates the control.
        label, help, hint: The label, the tooltip and the placeholder.
        values: The texts and values to select from, with the default first.
        name: The attribute of `EventControls`, for a control in the two columns.
        to_argument: Converts the value of the control to the value of the argument.
        from_field: Converts the value of the event field to the value of the control.
    """

    group: str
    path: str
    argument: str
    make: Callable[[Binding], Any]
    label: str
    help: str = ""
    hint: str = ""
    values: Choices = ()
    name: str = ""
    to_argument: Callable[[Any], Any] = lambda value: value
    from_field: Callable[[Any], Any] = lambda value: value

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the event fields that the control sets, or the name of the query parameter."""
        return tuple(path.partition(".")[0] for path in self.path.split())

    def covers(self, path: str) -> bool:
        """Return whether an argument name or event path, such as gadget or gadget.title, belongs to this control."""
        return path == self.argument or any(re.match(rf"{re.escape(own)}($|[.\[])", path) for own in self.path.split())


def free_text(row: Binding) -> ui.SingleField:
    return ui.SingleField(ui.text_field(row.label, row.help))


def short_text(row: Binding) -> ui.SingleField:
    """Create a text field whose value is the text without surrounding spaces, or None if the text is empty."""
    return ui.SingleField(ui.text_field(row.label, row.help, hint=row.hint), read=lambda text: text.strip() or None)


def number(row: Binding) -> ui.SingleField:
    """Create a field for a whole number. Its value is an int, any other text for the validation, or None if empty."""
    control = ui.text_field(row.label, row.help, hint=row.hint)
    control.add_class("svc-number")
    return ui.SingleField(control, read=whole_number, write=lambda value: str(require_whole_number(value)))


def require_whole_number(value: Any) -> int | None:
    """Return an int or None unchanged. Raises TypeError for any other value."""
    if isinstance(value, bool) or not isinstance(value, int | None):
        raise TypeError("expected a whole number")
    return value


def whole_number(text: str) -> int | str | None:
    """Convert a text to an int. Return any other text without surrounding spaces, and None for an empty text.

    >>> whole_number(" 3 "), whole_number("three"), whole_number("")
    (3, 'three', None)
    """
    text = text.strip()
    try:
        return int(text) if text else None
    except ValueError:
        return text


def switch(row: Binding) -> ui.SingleField:
    """Create a checkbox whose text is the hint of the row. Its value is True if it is checked, otherwise None."""
    control = ui.checkbox(row.hint, row.help)
    return ui.SingleField(control, ui.heading(row.label), read=lambda on: on or None, write=bool)


def selection(row: Binding) -> ui.SingleField:
    """Create a list of values. Its value is None while the first one, which is the default, is selected."""
    return _selection(ui.dropdown(row.label, row.help, row.values))


def _selection(control: Any) -> ui.SingleField:
    default, known = control.value, [value for _, value in control.options]
    return ui.SingleField(
        control,
        read=lambda value: None if value == default else value,
        write=lambda value: value if value in known else default,
    )


class PropertyLines(ui.Field):
    """A text area with a property as name=value in each line. `value` has the values by name."""

    def __init__(self, row: Binding) -> None:
        self.text = ui.text_area(row.label, row.help, hint="name=value", rows=2)
        super().__init__(self.text)

    @property
    def value(self) -> dict[str, str]:
        return {name: value for name, value in self._pairs() if name}

    @value.setter
    def value(self, value: Mapping[str, Any] | None) -> None:
        """Set the lines. Raises ValueError for a name or a value that a line cannot have."""
        self.text.value = "\n".join(f"{name}={text}" for name, text in (value or {}).items())
        if self.value != (value or {}):
            raise ValueError("a line cannot have this name or value")

    def own_problems(self) -> Iterator[tuple[ui.Field, str]]:
        """Yield a problem if a line has no name, or the name of another line."""
        names = [name for name, _ in self._pairs()]
        if "" in names:
            yield self, "Enter each property as name=value in a line of its own."
        if repeated := next((name for name in names if name and names.count(name) > 1), None):
            yield self, f"{repeated} has several lines. Remove all but one of them."

    def _pairs(self) -> list[tuple[str, str]]:
        """Return the name and the value of each line. The name is empty if the line has none."""
        parts = [line.partition("=") for line in self.text.value.splitlines() if line.strip()]
        return [(name.strip() if equals else "", value) for name, equals, value in parts]


def permission(row: Binding) -> ui.SingleField:
    """Create a checkbox for a permission of guests. Its value is None for the default, which the row has."""
    [(_, default)] = row.values
    control = ui.checkbox(row.hint, row.help, value=default)
    return ui.SingleField(control, ui.heading(row.label), read=lambda on: None if on == default else on, write=bool)


def color_picker(row: Binding) -> ui.SingleField:
    """Create a choice of the event color. Arrow keys and screen readers work, because it has radio buttons."""
    colors = [("Default", ""), *((color.name, key) for key, color in EVENT_COLORS.items())]
    layout = {"width": "auto"}
    field = _selection(
        ui.radio_buttons(row.label, row.help, colors, "svc-colours", orientation="horizontal", layout=layout)
    )
    field.add_class("svc-wide")
    return field


def chip_styles() -> str:
    """Return the CSS rules of the color picker. The first button is the default and has no color."""
    chip = ".svc-event .svc-colours .widget-radio-box label:nth-of-type"
    colors = enumerate(EVENT_COLORS.values(), start=2)
    return "\n".join(f"{chip}({n}) {{ --svc-chip: {color.background}; }}" for n, color in colors)


class CalendarChoice(ui.Field):
    """A list of the calendars that the user can write to. `value` is None for the primary calendar."""

    def __init__(self, row: Binding) -> None:
        self._zones: dict[str, str] = {}
        self.chooser = ui.dropdown(row.label, row.help, [("Primary", PRIMARY)])
        super().__init__(self.chooser)

    @property
    def value(self) -> str | None:
        selected = str(self.chooser.value)
        return None if selected == PRIMARY else selected

    @property
    def time_zone(self) -> str:
        """The time zone of the selected calendar, or UTC if the calendars were not read."""
        return self._zones.get(str(self.chooser.value), UTC_NAME)

    def read(self, session: Session) -> None:
        """Fill the list of calendars, and keep the selection. Show a service error as a hint."""
        try:
            rows = [calendar for calendar in list_calendars(session) if calendar.get("accessRole") in _WRITABLE]
        except SvcError as error:
            self.show_hint(f"The calendars cannot be listed: {error}")
            return
        calendars = {PRIMARY if row.get("primary") else str(row["id"]): row for row in rows}
        self._zones = {key: str(row.get("timeZone") or UTC_NAME) for key, row in calendars.items()}
        others = [(str(row.get("summary") or row["id"]), key) for key, row in calendars.items() if key != PRIMARY]
        ui.replace_options(self.chooser, [("Primary", PRIMARY), *others])
