"""A row of `BINDINGS` and the simple controls of the event form, which are made of it.

Each control has `value`, which is None while nothing is set, and `watch`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from ....core.errors.errors import SvcError
from ....core.events.colors import EVENT_COLORS
from ....core.time_zones import UTC_NAME
from ...widgets.field import (
    LABEL,
    Field,
    SingleField,
    checkbox,
    describe,
    heading,
    on_change,
    text_area,
    text_field,
)

if TYPE_CHECKING:
    from ....client.session import Session

PRIMARY = "primary"
_WRITABLE = ("owner", "writer", "writerWithoutPrivateAccess")
Choices = tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Binding:
    """A control of the event form.

    Attributes:
        group: FIRST or SECOND for the two columns of the form, otherwise a heading under "More options".
        path: The field of the event or the query parameter; several fields are separated by spaces.
        argument: The argument of `create_event`. "source.url" is the key `url` of the dict `source`, "metadata.x" a
            field without an argument, and "*" stands for a value that is a dict of arguments. Empty for a control
            that makes an argument only together with others.
        make: Creates the control.
        label, help, hint: The label, the tooltip and the placeholder.
        values: Texts and values to select from, the default first.
        name: The attribute of `EventControls`, for the two columns.
        to_argument: Converts the value of the control to that of the argument.
        from_field: Converts the value of the field to that of the control.
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
        """The fields of the event that the control sets, or its query parameter."""
        return tuple(path.partition(".")[0] for path in self.path.split())

    def covers(self, path: str) -> bool:
        """Return whether a path of the event or the name of an argument is this control's, or lies below it."""
        return path == self.argument or any(re.match(rf"{re.escape(own)}($|[.\[])", path) for own in self.path.split())


def free_text(row: Binding) -> SingleField:
    """Return a line of text that keeps its spaces."""
    return SingleField(text_field(row.label, row.help))


def long_text(row: Binding) -> SingleField:
    """Return a text of several lines."""
    return SingleField(text_area(row.label, row.help))


class TextInput(Field):
    """A line of text without the spaces around it. `value` is None while it is empty."""

    def __init__(self, row: Binding) -> None:
        self.text = text_field(row.label, row.help, hint=row.hint)
        super().__init__(self.text)

    @property
    def value(self) -> Any:
        """The text, or None."""
        return self.text.value.strip() or None

    @value.setter
    def value(self, value: Any) -> None:
        self.text.value = "" if value is None else value


class NumberInput(TextInput):
    """A whole number. Other text is kept, so that the checks of the service can report it."""

    def __init__(self, row: Binding) -> None:
        super().__init__(row)
        self.text.add_class("svc-number")

    @property
    def value(self) -> Any:
        """The number, the text if it is not a number, or None."""
        return whole_number(self.text.value)

    @value.setter
    def value(self, value: Any) -> None:
        if isinstance(value, bool) or not isinstance(value, int | None):
            raise TypeError("expected a whole number")
        self.text.value = "" if value is None else str(value)


def whole_number(text: str) -> int | str | None:
    """Return the whole number in a text, the text itself if it has none, or None for an empty text.

    >>> whole_number(" 3 "), whole_number("three"), whole_number("")
    (3, 'three', None)
    """
    text = text.strip()
    try:
        return int(text) if text else None
    except ValueError:
        return text


class SwitchInput(Field):
    """A checkbox with the hint of the row beside it. `value` is True, or None while it is off."""

    def __init__(self, row: Binding) -> None:
        self.switch = checkbox(row.hint, row.help)
        super().__init__(heading(row.label), self.switch)

    @property
    def value(self) -> bool | None:
        """True or None."""
        return True if self.switch.value else None

    @value.setter
    def value(self, value: bool | None) -> None:
        self.switch.value = bool(value)


class Choice(Field):
    """A list of a few values. The first is the default, and `value` is then None."""

    def __init__(self, row: Binding) -> None:
        self._default, self._known = row.values[0][1], {value for _, value in row.values}
        self.chooser = widgets.Dropdown(options=row.values, **describe(row.label, row.help), style=LABEL)
        super().__init__(self.chooser)

    @property
    def value(self) -> Any:
        """The selected value, or None for the default."""
        selected = self.chooser.value
        return None if selected == self._default else selected

    @value.setter
    def value(self, value: Any) -> None:
        self.chooser.value = value if value in self._known else self._default


class GuestSwitches(Field):
    """The permissions of guests. `value` has only those that differ from the defaults of the interface."""

    def __init__(self, row: Binding) -> None:
        self._defaults = {name: default for name, (_, default) in zip(row.fields, row.values, strict=True)}
        self.switches = {
            name: checkbox(text, f"{row.label} {text}", value=default)
            for name, (text, default) in zip(row.fields, row.values, strict=True)
        }
        super().__init__(heading(row.label), *self.switches.values())

    @property
    def value(self) -> dict[str, bool]:
        """The fields of the event."""
        return {name: switch.value for name, switch in self.switches.items() if switch.value != self._defaults[name]}

    @value.setter
    def value(self, event: Mapping[str, Any] | None) -> None:
        for name, default in self._defaults.items():
            value = (event or {}).get(name)
            self.switches[name].value = default if value is None else bool(value)

    def watch(self, changed: Callable[[], None]) -> None:
        """Call `changed` whenever a switch changes."""
        on_change(changed, *self.switches.values())


class ColorPicker(Field):
    """Radio buttons for the colors of events, so that arrow keys and screen readers work. `value` is a `colorId`."""

    def __init__(self, row: Binding) -> None:
        self.chips = widgets.RadioButtons(
            options=[("Default", ""), *((color.name, key) for key, color in EVENT_COLORS.items())],
            orientation="horizontal",
            **describe(row.label, row.help),
            style=LABEL,
            layout={"width": "auto"},
        )
        self.chips.add_class("svc-colours")
        super().__init__(self.chips)

    @property
    def value(self) -> str | None:
        """The `colorId` of the event, or None for the color of the calendar."""
        return str(self.chips.value) or None

    @value.setter
    def value(self, color: str | None) -> None:
        self.chips.value = color if color in EVENT_COLORS else ""


def chip_styles() -> str:
    """Return the style sheet of the color picker. Its first button, the default, has no color."""
    chip = ".svc-event .svc-colours .widget-radio-box label:nth-of-type"
    colors = enumerate(EVENT_COLORS.values(), start=2)
    return "\n".join(f"{chip}({n}) {{ --svc-chip: {color.background}; }}" for n, color in colors)


class CalendarChoice(Field):
    """The calendars that the user can write to. `value` is None for the primary one."""

    def __init__(self, row: Binding) -> None:
        self._zones: dict[str, str] = {}
        self.chooser = widgets.Dropdown(options=[("Primary", PRIMARY)], **describe(row.label, row.help), style=LABEL)
        super().__init__(self.chooser)

    @property
    def value(self) -> str | None:
        """The id of the calendar, or None."""
        selected = str(self.chooser.value)
        return None if selected == PRIMARY else selected

    @property
    def time_zone(self) -> str:
        """The time zone of the calendar, or UTC until the list was read."""
        return self._zones.get(str(self.chooser.value), UTC_NAME)

    def read(self, session: Session) -> None:
        """Fill the list. The selected calendar stays selected if it still exists."""
        from ....client.events.events import list_calendars

        try:
            rows = [calendar for calendar in list_calendars(session) if calendar.get("accessRole") in _WRITABLE]
        except SvcError as error:
            self.show_hint(f"The calendars cannot be listed: {error}")
            return
        calendars = {PRIMARY if row.get("primary") else str(row["id"]): row for row in rows}
        before = self.chooser.value
        self._zones = {key: str(row.get("timeZone") or UTC_NAME) for key, row in calendars.items()}
        others = [(str(row.get("summary") or row["id"]), key) for key, row in calendars.items() if key != PRIMARY]
        self.chooser.options = [("Primary", PRIMARY), *others]
        self.chooser.value = before if before in self._zones else PRIMARY
