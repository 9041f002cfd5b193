"""The section "More options" of the event form. Its controls are created when they are first needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import ipywidgets as widgets

from ...widgets.field import Field, set_visible
from ...widgets.html import tag
from ...widgets.more_options import MoreOptions
from .bindings import BINDINGS
from .other_fields import OtherFields
from .property_rows import PropertyRows
from .time.start_and_end import TimeChoice

_ROWS = {row.path: row for row in BINDINGS if not row.name}


class EventMoreOptions(MoreOptions):
    """The rarely used controls of `BINDINGS` in groups, and the JSON text field for all other event fields."""

    def __init__(self) -> None:
        self._changed: list[Callable[[], None]] = []
        self._controls: dict[str, Any] = {}
        self.other_fields = OtherFields()
        super().__init__(_heading("Other fields"), self.other_fields)

    def reveal(self) -> None:
        if self._count_set() or self.other_fields.text.value or any(field.problems for field in self.fields()):
            self.shown = True

    def _count_set(self) -> int:
        return sum(self.value(path) is not None for path in _ROWS) + len(self.other_fields.names)

    def show_option(self, path: str, shown: bool) -> None:
        """Show or hide the control of an event path, if the controls exist."""
        if self._controls:
            set_visible(self._controls[path], shown)

    def option(self, path: str) -> Any:
        """Return the control of an event path. Create all controls first if necessary."""
        self._build_controls()
        return self._controls[path]

    def value(self, path: str) -> Any:
        """Return the control value of an event path, or None if the control is not set."""
        value = self._controls[path].value if self._controls else None
        return None if value in ("", {}) else value

    def set(self, path: str, value: Any) -> None:
        """Set a control to a value or None. Raises TypeError, ValueError or TraitError for an unsuitable value."""
        if value is not None or self._controls:
            self.option(path).value = value

    def has_zone(self, path: str) -> bool:
        """Return whether the time zone control of an event path is set and visible."""
        return self.value(path) is not None and self._controls[path].layout.display is None

    def problems(self) -> Iterator[tuple[Field, str]]:
        for control in self._controls.values():
            if isinstance(control, PropertyRows | TimeChoice):
                yield from control.problems()

    def fields(self) -> Iterator[Field]:
        yield self.other_fields
        for control in self._controls.values():
            yield from fields_in(control)

    def watch(self, changed: Callable[[], None]) -> None:
        self._changed.append(changed)
        for control in (self.other_fields, *self._controls.values()):
            control.watch(changed)

    def _build_controls(self) -> None:
        if self._controls:
            return
        self._controls = {path: row.make(row) for path, row in _ROWS.items()}
        for control in self._controls.values():
            for changed in self._changed:
                control.watch(changed)
        groups: dict[str, list[widgets.Widget]] = {}
        for path, row in _ROWS.items():
            groups.setdefault(row.group, []).append(self._controls[path])
        sections = [part for group, parts in groups.items() for part in (_heading(group), _box(parts))]
        self.box.children = [*sections, *self.box.children]


def fields_in(part: widgets.Widget) -> Iterator[Field]:
    """Yield `part` itself if `part` is a field, otherwise all fields inside `part`."""
    if isinstance(part, Field):
        yield part
        return
    for child in getattr(part, "children", ()):
        yield from fields_in(child)


def _box(parts: list[widgets.Widget]) -> widgets.VBox:
    box = widgets.VBox(parts)
    box.add_class("svc-group")
    for part in parts:
        if isinstance(part, PropertyRows):
            part.add_class("svc-wide")
    return box


def _heading(text: str) -> widgets.HTML:
    return widgets.HTML(tag("h4", text, class_="svc-head"))
