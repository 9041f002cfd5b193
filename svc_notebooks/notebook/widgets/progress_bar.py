"""A progress bar that is a labelled native `<progress>` and a line that screen readers announce.

The bar of ipywidgets has neither a role nor a value for screen readers.
"""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets

from ..byte_sizes import progress_text
from .html import Markup, tag

_ANNOUNCED_STEP = 10  # percent; screen readers never finish a line that changes with every chunk


class ProgressBar(widgets.VBox):  # type: ignore[misc]
    """The progress of one transfer. `report(done, total)` moves it.

    >>> bar = ProgressBar("Upload survey.csv", 100)
    >>> bar.report(50, 100); bar.status
    '50 bytes of 100 bytes (50 %)'
    """

    def __init__(self, label: str, total: int | None = None) -> None:
        self._bar, self._line = widgets.HTML(), widgets.HTML()
        super().__init__([self._bar, self._line])
        self.begin(label, total)

    def begin(self, label: str, total: int | None) -> None:
        """Start again for another transfer."""
        self.label = label
        self._drawn = self._announced = -1
        self.report(0, total)

    @property
    def status(self) -> str:
        """The progress as text."""
        return progress_text(self.done, self.total)

    def report(self, done: int, total: int | None) -> None:
        """Show `done` of `total` bytes, at most once for each percent."""
        self.done, self.total = done, total
        percent = 100 * done // total if total else done
        if percent == self._drawn:
            return
        self._drawn = percent
        self._bar.value = self._bar_html()
        if self._announced < 0 or not total or percent - self._announced >= _ANNOUNCED_STEP:
            self._announced = percent
            self.show_text(self.status)

    def finish(self, word: str = "Done") -> None:
        """Show the end of the transfer."""
        self._bar.value = self._bar_html()
        self.show_text(f"{word}: {self.status}")

    def stop(self, word: str) -> None:
        """Show that the transfer stopped before its end."""
        self.show_text(f"{word} at {self.status}")

    def complete(self, text: str, *, succeeded: bool = True) -> None:
        """Show the end of work without a byte count."""
        self.done, self.total = int(succeeded), 1
        self._bar.value = self._bar_html()
        self.show_text(text)

    def reset(self, label: str) -> None:
        """Show that nothing runs. The status of the previous transfer is removed."""
        self.begin(label, 1)
        self.show_text("Idle")

    def _bar_html(self) -> Markup:
        unknown = self.total is None
        bar = tag(
            "progress",
            progress_text(self.done, self.total),
            value=None if unknown else self.done if self.total else 1,
            max=None if unknown else self.total or 1,
            style="width: 24em; vertical-align: middle",
        )
        return tag("label", self.label, " ", bar)

    def show_text(self, text: str) -> None:
        """Show a text in the line below the bar."""
        self.text = text
        self._line.value = tag("span", text, role="status", aria_live="polite")

    def __repr__(self) -> str:
        return f"<ProgressBar: {self.label}>"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        bundle = dict(super()._repr_mimebundle_(**options))
        bundle["text/plain"] = repr(self)
        bundle["text/html"] = tag("p", self.label, " …")
        return bundle
