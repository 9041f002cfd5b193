"""A panel that asks a person to confirm an action that cannot be undone or can cause harm."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets as widgets

from ....notebook.html import Markup, tag
from ..field import set_visible
from ..styles import row


class Confirmation(widgets.VBox):  # type: ignore[misc]
    """A panel with a question and two buttons. A click calls `answered` with `confirmed` or `cancelled` of `ask`.

    >>> question = Confirmation(lambda act: act())
    >>> question.ask("Delete plan.txt?", "Delete", confirmed=lambda: print("deleted"), cancelled=lambda: print("kept"))
    >>> question.no.click()
    kept
    >>> question.is_open
    False
    """

    def __init__(self, answered: Callable[[Callable[[], None]], None]) -> None:
        self._run_answer = answered
        self._callbacks: tuple[Callable[[], None], Callable[[], None]] | None = None
        self.head, self.facts = widgets.HTML(), widgets.HTML()
        self.yes = widgets.Button(description="Continue", tooltip="Confirm", button_style="danger")
        self.no = widgets.Button(description="Cancel", tooltip="Close the dialog")
        self.no.add_class("svc-cancel")
        self.yes.on_click(lambda _button: self._answer(0))
        self.no.on_click(lambda _button: self._answer(1))
        super().__init__([self.head, self.facts, row(self.yes, self.no)])
        self.add_class("svc-question")
        set_visible(self, False)

    @property
    def is_open(self) -> bool:
        return self._callbacks is not None

    def ask(
        self,
        title: str,
        verb: str,
        *paragraphs: str,
        facts: Markup | None = None,
        confirmed: Callable[[], None],
        cancelled: Callable[[], None],
    ) -> None:
        """Show the question and focus Cancel. `verb` labels the other button, and `facts` is HTML below the text."""
        self._callbacks = (confirmed, cancelled)
        lines = [tag("p", line) for line in paragraphs]
        self.head.value = tag("div", tag("p", tag("strong", title)), *lines, role="alert", class_="svc-asked")
        self.facts.value = facts or ""
        set_visible(self.facts, bool(facts))
        self.yes.description = verb
        set_visible(self, True)
        self.no.focus()

    def dismiss(self) -> None:
        self._callbacks = None
        set_visible(self, False)

    def _answer(self, index: int) -> None:
        callbacks = self._callbacks
        if callbacks is not None:
            self.dismiss()
            self._run_answer(callbacks[index])
