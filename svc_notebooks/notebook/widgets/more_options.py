"""A button that shows and hides the rarely used controls of a form, and a menu of rarely used buttons."""

from __future__ import annotations

from collections.abc import Sequence

import ipywidgets as widgets

from .field import set_visible, small_button

_MORE, _FEWER = "More options", "Fewer options"


class MoreOptions(widgets.VBox):  # type: ignore[misc]
    """A button that shows and hides controls. The form uses the values of hidden controls, too.

    >>> more = MoreOptions(widgets.Text(description="Place"))
    >>> more.shown
    False
    >>> more.button.click(); more.shown, more.button.description
    (True, 'Fewer options')
    """

    def __init__(self, *controls: widgets.Widget) -> None:
        self.button = small_button(_MORE, "Show or hide the rarely used options", self._toggle)
        self.box = widgets.VBox(controls)
        super().__init__([self.button, self.box])
        self.add_class("svc-more")
        self.shown = False

    @property
    def shown(self) -> bool:
        return self.box.layout.display is None

    @shown.setter
    def shown(self, shown: bool) -> None:
        if shown:
            self._build_controls()
        set_visible(self.box, shown)
        self.update_label()

    def update_label(self) -> None:
        """Update the button label, which shows the number of hidden controls that are set."""
        count = self._count_set()
        self.button.description = _FEWER if self.shown else f"{_MORE} ({count} set)" if count else _MORE

    def _build_controls(self) -> None:
        """Create the controls before they are shown. Subclasses with many controls override this method."""

    def _count_set(self) -> int:
        """Return the number of controls that are set."""
        return 0

    def _toggle(self) -> None:
        self.shown = not self.shown


class Menu(widgets.VBox):  # type: ignore[misc]
    """A button that opens a list of buttons. A click on one of them closes the list and focuses the menu again.

    `keyboard.js` also closes the list on Escape and on a click elsewhere.

    >>> menu = Menu("More", "Further actions", [widgets.Button(description="Copy")])
    >>> menu.button.click(); menu.shown
    True
    """

    def __init__(self, text: str, tooltip: str, items: Sequence[widgets.Button]) -> None:
        self.items, self.shown = items, False
        self.button = widgets.Button(description=text, icon="ellipsis-h", tooltip=tooltip)
        self.button.on_click(lambda _button: self._show(not self.shown))
        for item in items:
            item.on_click(lambda _button: self._leave())
        box = widgets.VBox(items)
        box.add_class("svc-menu-items")
        super().__init__([self.button, box])
        self.add_class("svc-menu")

    def _show(self, shown: bool) -> None:
        self.shown = shown
        (self.add_class if shown else self.remove_class)("svc-open")

    def _leave(self) -> None:
        self._show(False)
        self.button.focus()
