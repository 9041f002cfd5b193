"""The details of the chosen file, with a switch for whether viewers may copy it (A6-05)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets as widgets

from ....core.brand_names import Names
from ...widgets.copy_restriction import is_restricted, may_edit, viewers_switch
from ...widgets.field import set_visible
from ...widgets.html import Markup
from .details import details_view, is_folder


class FileDetails(widgets.VBox):  # type: ignore[misc]
    """The details of a file and the switch. `changed` is called with the file and the new state of the switch."""

    def __init__(self, changed: Callable[[Mapping[str, Any], bool], None]) -> None:
        self._changed = changed
        self._file: Mapping[str, Any] | None = None
        self.facts, self.viewers = widgets.HTML(), viewers_switch()
        self.viewers.observe(lambda _change: self._set(), "value")
        super().__init__([self.facts, self.viewers])
        self.clear()

    def clear(self, words: str | Markup = "") -> None:
        """Show no file, but this text."""
        self._file = None
        self.facts.value = words
        set_visible(self.viewers, False)

    def show(self, file: Mapping[str, Any], names: Names) -> None:
        """Show the details of a file."""
        self._file = None
        self.viewers.value = not is_restricted(file)
        self._file = file
        self.facts.value = details_view(file, names)
        set_visible(self.viewers, may_edit(file) and not is_folder(file, names))

    def _set(self) -> None:
        if self._file is not None and self.viewers.value == is_restricted(self._file):
            self._changed(self._file, self.viewers.value)
