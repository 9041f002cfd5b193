"""Shows the possible answers to a question of a lesson, and says why the chosen one is right or wrong."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Thread
from typing import Any

import ipywidgets as widgets

from ..core.platform import capabilities
from ..notebook.display import join_html, tag
from .widgets import ui


@dataclass(frozen=True, slots=True)
class Option:
    """A possible answer. `why` is the reason for which it is right, or the misconception behind a wrong one."""

    text: str
    why: str
    right: bool = False


class Prediction(widgets.VBox):  # type: ignore[misc]
    """A question with radio buttons. `first` is the first chosen option, which is the prediction, or None.

    A thread calls `report` with the name of the question, and the text and the rightness of this option.
    """

    def __init__(self, name: str, options: Sequence[Option], report: Callable[[str, str, bool], None]) -> None:
        self.name, self.options = name, tuple(options)
        self.first: Option | None = None
        self._report = report
        self.choice = ui.radio_buttons(
            "Your prediction",
            "Choose one answer; then a text says why it is right or wrong",
            [(option.text, option) for option in self.options],
            value=None,
            layout={"width": "auto"},
        )
        self.reason = widgets.HTML()
        ui.on_change(self._show, self.choice)
        super().__init__([ui.style_sheet("form.css"), self.choice, self.reason])
        self.add_class("svc-form")

    def _show(self) -> None:
        chosen: Option = self.choice.value
        if self.first is None:
            self.first = chosen
            self.reporter = Thread(target=self._report, args=(self.name, chosen.text, chosen.right), daemon=True)
            if capabilities().threads:
                self.reporter.start()
        verdict = tag("strong", "✔ Right. " if chosen.right else "✘ Not quite. ")
        self.reason.value = tag("p", verdict, chosen.why, role="status", class_="svc-indented")

    def __repr__(self) -> str:
        return f"<Prediction {self.name}: {self.first.text if self.first else 'not chosen yet'}>"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        bundle = dict(super()._repr_mimebundle_(**options))
        answers = tag("ul", *(tag("li", option.text) for option in self.options))
        static = join_html(tag("p", "Possible answers (run the cell to choose one):"), answers)
        return bundle | {"text/plain": repr(self), "text/html": str(static)}
