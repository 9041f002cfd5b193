"""The section "More options" of the event form. Its controls are made when they are first needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import ipywidgets as widgets

from ...widgets.field import Field, set_visible
from ...widgets.html import tag
from ...widgets.more_options import MoreOptions
from .options import CONTROLS, GROUPS, OPTIONS, Option
from .other_fields import OtherFields
from .property_rows import PropertyRows
from .time.optional_time import TimeChoice

_BY_PATH = {option.path: option for option in OPTIONS}


class EventMoreOptions(MoreOptions):
    """The controls of `OPTIONS` in their groups, and the JSON of all other fields."""

    def __init__(self) -> None:
        self._changed: list[Callable[[], None]] = []
        self._controls: dict[str, Any] = {}
        self.other_fields = OtherFields()
        super().__init__(_heading("Other fields"), self.other_fields)

    # -- what is shown

    def reveal(self) -> None:
        """Show the controls if one of them is set or marked as wrong."""
        if self._count_set() or self.other_fields.text.value or any(field.problems for field in self.fields()):
            self.shown = True

    def _count_set(self) -> int:
        return sum(self.value(option.path) is not None for option in OPTIONS) + len(self.other_fields.names)

    def show_option(self, path: str, shown: bool) -> None:
        """Show or hide one control."""
        if self._controls:
            set_visible(self._controls[path], shown)

    # -- what is set

    def option(self, path: str) -> Any:
        """The control of this path."""
        self._build_controls()
        return self._controls[path]

    def value(self, path: str) -> Any:
        """What a control is set to; None for nothing."""
        value = self._controls[path].value if self._controls else None
        return None if value in ("", {}) else value

    def set(self, path: str, value: Any) -> None:
        """Set a control; None: to nothing."""
        if value is not None or self._controls:
            self.option(path).value = "" if value is None and _BY_PATH[path].kind == "zone" else value

    def arguments(self) -> dict[str, Any]:
        """The arguments of `create_event` that one control or one dict of controls is."""
        arguments: dict[str, Any] = {}
        for option in OPTIONS:
            value, (name, _, key) = self.value(option.path), option.argument.partition(".")
            if value is None or not name:
                continue
            if key:
                arguments.setdefault(name, {})[key] = value
            else:
                arguments[name] = value
        return arguments

    def read(self, field: str, value: Any) -> None:
        """Set the controls below a field of the event. Raises TypeError, ValueError, TraitError where they cannot."""
        for option in OPTIONS:
            if option.field == field:
                self.set(option.path, _value_at(value, option))

    # -- what is wrong

    def problems(self) -> Iterator[tuple[Field, str]]:
        """What the controls know to be wrong before there is an event to check."""
        for control in self._controls.values():
            if isinstance(control, PropertyRows | TimeChoice):
                yield from control.problems()

    def field_of(self, path: str) -> Field | None:
        """The field that a problem at this path of the event, or with this parameter, belongs to."""
        for option in OPTIONS:
            is_match = path in (option.path, option.argument) or path.startswith(f"{option.path}.")
            if is_match and (option.kind != "zone" or self._has_zone(option.path)):
                return _field_in(self.option(option.path), path)
        below = (option for option in OPTIONS if option.argument and path == option.field)
        return next((_field_in(self.option(option.path), path) for option in below), None)

    def _has_zone(self, path: str) -> bool:
        """Whether this zone is sent: without it, the zone of the start is."""
        return self.value(path) is not None and self._controls[path].layout.display is None

    def fields(self) -> Iterator[Field]:
        """Every field in which something can be wrong."""
        yield self.other_fields
        for control in self._controls.values():
            yield from fields_in(control)

    # -- how it is made

    def watch(self, changed: Callable[[], None]) -> None:
        """Call this whenever a control has another value."""
        self._changed.append(changed)
        self.other_fields.watch(changed)
        for control in self._controls.values():
            control.watch(changed)

    def _build_controls(self) -> None:
        if self._controls:
            return
        self._controls = {option.path: CONTROLS[option.kind](option) for option in OPTIONS}
        for control in self._controls.values():
            for changed in self._changed:
                control.watch(changed)
        groups = [part for group in GROUPS for part in (_heading(group), self._group(group))]
        self.box.children = [*groups, *self.box.children]

    def _group(self, group: str) -> widgets.VBox:
        box = widgets.VBox([self._controls[option.path] for option in OPTIONS if option.group == group])
        box.add_class("svc-group")
        for part in box.children:
            if isinstance(part, PropertyRows):
                part.add_class("svc-wide")
        return box


def fields_in(part: widgets.Widget) -> Iterator[Field]:
    """The part itself or every field below it."""
    if isinstance(part, Field):
        yield part
        return
    for child in getattr(part, "children", ()):
        yield from fields_in(child)


def _field_in(control: Any, path: str) -> Field:
    if isinstance(control, PropertyRows):
        return control.field_of(path)
    if isinstance(control, TimeChoice):
        return control.zone if path.endswith(".timeZone") else control.field
    return control  # type: ignore[no-any-return]


def _value_at(value: Any, option: Option) -> Any:
    """The value of the option in the value of its field; None where there is none. Raises TypeError."""
    for key in option.path.split(".")[1:]:
        if value is None:
            return None
        if not isinstance(value, dict):
            raise TypeError("expected an object")
        value = value.get(key)
    return value


def _heading(words: str) -> widgets.HTML:
    return widgets.HTML(tag("h4", words, class_="svc-head"))
