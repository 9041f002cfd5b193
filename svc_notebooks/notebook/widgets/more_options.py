"""A button that shows and hides the rarely used controls of a form."""

from __future__ import annotations

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
