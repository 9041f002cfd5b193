"""What a watch panel asks: what to watch, for how long, and what the receiver answers; and the call that says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import ipywidgets as widgets

from .field import entry
from .labels import LABEL, labelled
from .look import row
from .stored_files import file_line, latest_files

if TYPE_CHECKING:
    from ..client.session import Session

CHANGES = ""
"""What the chooser has for the change log."""

_LIVES = (
    ("as the service decides", ""),
    ("1 minute", "1m"),
    ("10 minutes", "10m"),
    ("2 hours", "2h"),
    ("1 day", "1d"),
)


class Answering(NamedTuple):
    """A way of answering: `plan` has the arguments of `answer_with`, one after the other."""

    words: str
    plan: tuple[tuple[int, int | None, float], ...]


ANSWERS = (
    Answering("200, delivered", ((200, None, 0),)),
    Answering("503 twice, then 200", ((200, None, 0), (503, 2, 0))),
    Answering("503 always, given up", ((503, None, 0),)),
    Answering("404, a failure", ((404, None, 0),)),
    Answering("102 alone, delivered", ((102, None, 0),)),
    Answering("200 after 3 seconds", ((200, None, 3),)),
)


class WatchControls(widgets.VBox):  # type: ignore[misc]
    """The controls, with a label and a tooltip each."""

    def __init__(self) -> None:
        self.what = widgets.Dropdown(
            options=[("the change log: all of my files", CHANGES)],
            **labelled("Watch", "The change log, or one file; those that were changed last come first"),
            style=LABEL,
        )
        self.refresh = widgets.Button(description="Refresh", tooltip="See which files and channels there are now")
        self.lives = widgets.Dropdown(
            options=_LIVES,
            **labelled("For", "When the channel ends; the service may end it sooner"),
            style=LABEL,
        )
        self.address = entry(
            "Address",
            "Where the service reaches a receiver: https, and a domain registered there",
            hint="https://hooks.example.com/notifications",
        )
        self.answers = widgets.RadioButtons(
            options=[(one.words, one) for one in ANSWERS],
            **labelled("The receiver answers", "What the receiver of this kernel answers to the next messages"),
            style=LABEL,
        )
        first = row(self.what, self.refresh)
        super().__init__([first, self.lives, self.address, self.answers])

    def watch(self, changed: Callable[[], None]) -> None:
        """Call this whenever a control has another value."""
        for control in (self.what, self.lives, self.address, self.answers):
            control.observe(lambda _change: changed(), "value")

    def read(self, session: Session, *, in_kernel: bool) -> dict[str, str]:
        """Fill the list of files; `in_kernel`: the receiver is ours, and nobody is asked for an address.

        Returns:
            Their names by their ids.
        """
        found = latest_files(session)
        before = self.what.value
        self.what.options = [self.what.options[0], *((file_line(one), str(one["id"])) for one in found)]
        if before in [value for _, value in self.what.options]:
            self.what.value = before
        self.address.layout.display = "none" if in_kernel else None
        self.answers.layout.display = None if in_kernel else "none"
        return {str(one["id"]): str(one.get("name")) for one in found}

    def code(self, *, in_kernel: bool) -> str:
        """The cell that does the same."""
        lines, to = (
            ["rx = svc.receiver()"] if in_kernel else [],
            "rx" if in_kernel else repr(self.address.value.strip()),
        )
        if in_kernel and self.answers.value is not ANSWERS[0]:
            lines += [_answer_call(*one) for one in self.answers.value.plan if one != (200, None, 0)]
        lives = f", expires_in={self.lives.value!r}" if self.lives.value else ""
        if self.what.value == CHANGES:
            lines.append(f"channel = svc.watch_changes({to}{lives})")
        else:
            lines.append(f"channel = svc.watch_file({self.what.value!r}, {to}{lives})")
        return "\n".join(lines)


def _answer_call(status: int, times: int | None, delay: float) -> str:
    more = (f", times={times}" if times else "") + (f", delay={delay:g}" if delay else "")
    return f"rx.answer_with({status}{more})"
