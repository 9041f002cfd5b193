"""Downloads of the file browser, with a question before a path is overwritten or flagged content is fetched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import ipywidgets as widgets

from ...widgets.dialogs.confirmation import Confirmation
from ...widgets.dialogs.replace_question import CANCEL, REPLACE, ReplaceQuestion
from .abuse_question import ask_about_abuse, owned, refusal
from .actions import FileAction
from .saving import Download, DownloadResult, fetched, saved

if TYPE_CHECKING:
    from ....client.session import Session
    from ....core.http.messages import JSONObject


@dataclass(frozen=True, slots=True)
class Actions:
    """What downloads need of the form that they are in.

    `do` does a deed and then shows the words that its second argument makes of what the deed gave; `back` brings the
    keyboard to where the download began.
    """

    session: Callable[[], Session]
    guarded: Callable[[Callable[[], None]], None]
    do: Callable[[FileAction, Callable[[DownloadResult], str]], None]
    say: Callable[[str], None]
    warn: Callable[[Exception], None]
    hand_over: Callable[[str, str, bytes], object]
    back: Callable[[], None]


class FileDownloads(widgets.VBox):  # type: ignore[misc]
    """The two questions, of which one at most is open, and what is done with their answers."""

    def __init__(self, actions: Actions) -> None:
        self._actions = actions
        self._whole: Download | None = None
        self._act: Callable[..., FileAction] = saved
        self._attempt = DownloadResult()
        self._waiting: tuple[Download, ...] = ()
        self.replace = ReplaceQuestion(lambda answer: actions.guarded(lambda: self._replace_answered(answer)))
        self.abuse = Confirmation(actions.guarded)
        super().__init__([self.replace, self.abuse])

    @property
    def asked(self) -> bool:
        """Whether a question is open."""
        return bool(self.replace.conflicts) or self.abuse.is_open

    def close_it(self) -> None:
        """Take the questions away."""
        self.replace.dismiss()
        self.abuse.dismiss()
        self._waiting = ()

    def save(self, wanted: Download) -> None:
        """Save files beside the kernel."""
        self._begin(wanted, saved)

    def fetch(self, wanted: Download) -> None:
        """Hand files to the browser of the person."""
        self._begin(wanted, fetched)

    def ask_to_look(self, facts: JSONObject, go_on: Callable[[], None]) -> None:
        """Ask before flagged content is previewed; `go_on` fetches it after the person agreed."""
        if not owned(facts):
            raise ValueError(refusal(facts))
        kept = f"Cancelled. Nothing of {facts.get('name')} was fetched."
        ask_about_abuse(self.abuse, [facts], "Show anyway", confirmed=go_on, cancelled=lambda: self._actions.say(kept))

    def _begin(self, wanted: Download, act: Callable[..., FileAction]) -> None:
        self._whole, self._act, self._waiting = wanted, act, ()
        self._go_on([wanted])

    def _go_on(self, downloads: Sequence[Download]) -> None:
        """`_whole` is the one call that does the same, where there is one."""
        code = ""
        if self._whole:
            code = self._whole.saving if self._act is saved else self._whole.reading
        self._actions.do(self._act(self._actions.session(), downloads, code), self._done)

    def _done(self, attempt: DownloadResult) -> str:
        for facts, body in attempt.bodies:
            self._actions.hand_over(str(facts.get("name")), str(facts.get("mimeType")), body)
        if attempt.error:
            self._actions.warn(attempt.error)
        self._attempt = replace(attempt, flagged=(*self._waiting, *attempt.flagged))
        self._waiting = ()
        if attempt.conflicts:
            self.replace.ask(attempt.conflicts)
        else:
            self._ask_about_flagged()
        return attempt.words

    def _replace_answered(self, answer: str) -> None:
        attempt, free = self._attempt, self.replace.alternative_paths
        self.replace.dismiss()
        self._actions.back()
        if answer == CANCEL:
            self._actions.say("Cancelled. The existing files are unchanged.")
            self._ask_about_flagged()
            return
        self._waiting = attempt.flagged
        overwrite = answer == REPLACE
        self._whole = replace(self._whole, overwrite=True) if self._whole and overwrite else None
        paths = [conflict.path for conflict in attempt.conflicts] if overwrite else free
        pairs = zip(attempt.blocked, paths, strict=True)
        self._go_on([replace(one, to=str(path), overwrite=overwrite) for one, path in pairs])

    def _ask_about_flagged(self) -> None:
        mine = [one for one in self._attempt.flagged if owned(one.files[0])]
        others = [one.files[0] for one in self._attempt.flagged if not owned(one.files[0])]
        if others:
            self._actions.warn(ValueError(" ".join(map(refusal, others))))
        if mine:
            ask_about_abuse(
                self.abuse,
                [one.files[0] for one in mine],
                "Download anyway",
                confirmed=lambda: self._acknowledged(mine),
                cancelled=self._left,
            )

    def _acknowledged(self, flagged: Sequence[Download]) -> None:
        self._actions.back()
        self._whole = replace(self._whole, acknowledge_abuse=True) if self._whole else None
        self._go_on([replace(one, acknowledge_abuse=True) for one in flagged])

    def _left(self) -> None:
        self._actions.back()
        self._actions.say("Cancelled. What is flagged was not downloaded.")
