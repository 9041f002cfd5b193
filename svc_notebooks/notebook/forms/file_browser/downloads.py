"""Downloads files, and asks for confirmation before a local file is replaced or a flagged file is downloaded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import ipywidgets as widgets

from ...widgets.dialogs.confirmation import Confirmation
from ...widgets.dialogs.replace_question import CANCEL, REPLACE, ReplaceQuestion
from .actions import FileAction
from .details import is_folder
from .download_results import (
    Download,
    DownloadResult,
    ask_about_abuse,
    fetch_action,
    is_owned,
    refusal_message,
    save_action,
)

if TYPE_CHECKING:
    from ....client.session import Session
    from ....core.resources.files import File


@dataclass(frozen=True, slots=True)
class Actions:
    """The functions of the file browser that FileDownloads calls.

    `do` runs an action and shows the text that its second argument returns for the DownloadResult. `guarded` calls a
    function and shows an exception, `say` shows a status text, and `warn` an error. `focus_button` focuses the button
    that started the download.
    """

    session: Callable[[], Session]
    guarded: Callable[[Callable[[], None]], None]
    do: Callable[[FileAction, Callable[[DownloadResult], str]], None]
    say: Callable[[str], None]
    warn: Callable[[Exception], None]
    save_in_browser: Callable[[str, str, bytes], object]
    focus_button: Callable[[], None]


class FileDownloads(widgets.VBox):  # type: ignore[misc]
    """Runs downloads, and asks about existing files or flagged files. The answer starts another download or cancels."""

    def __init__(self, actions: Actions) -> None:
        self._actions = actions
        self._request: Download | None = None
        self._make_action: Callable[..., FileAction] = save_action
        self._result = DownloadResult()
        self._deferred: tuple[Download, ...] = ()
        self.replace = ReplaceQuestion(lambda answer: actions.guarded(lambda: self._on_replace_answer(answer)))
        self.abuse = Confirmation(actions.guarded)
        super().__init__([self.replace, self.abuse])

    @property
    def is_open(self) -> bool:
        return bool(self.replace.conflicts) or self.abuse.is_open

    def dismiss(self) -> None:
        self.replace.dismiss()
        self.abuse.dismiss()
        self._deferred = ()

    def save(self, request: Download) -> None:
        """Download files to the notebook folder."""
        self._begin(request, save_action)

    def fetch(self, request: Download) -> None:
        """Download files to the person's browser. Raises ValueError for a folder."""
        names = self._actions.session().names
        if folders := [str(facts.get("name")) for facts in request.files if is_folder(facts, names)]:
            raise ValueError(f"{', '.join(folders)}: a folder is saved in the notebook folder only. Change Save as.")
        self._begin(request, fetch_action)

    def ask_to_preview(self, facts: File, confirmed: Callable[[], None]) -> None:
        """Ask before the preview of a flagged file. Raises ValueError if the user does not own the file."""
        if not is_owned(facts):
            raise ValueError(refusal_message(facts))
        kept = f"Cancelled. {facts.get('name')} was not fetched."
        ask_about_abuse(
            self.abuse, [facts], "Show anyway", confirmed=confirmed, cancelled=lambda: self._actions.say(kept)
        )

    def _begin(self, request: Download, make_action: Callable[..., FileAction]) -> None:
        self._request, self._make_action, self._deferred = request, make_action, ()
        self._run([request])

    def _run(self, downloads: Sequence[Download]) -> None:
        """Run downloads, and show the equivalent call unless several calls would be necessary."""
        code = ""
        if self._request:
            code = self._request.save_code if self._make_action is save_action else self._request.read_code
        self._actions.do(self._make_action(self._actions.session(), downloads, code), self._on_finish)

    def _on_finish(self, attempt: DownloadResult) -> str:
        for facts, body in attempt.bodies:
            self._actions.save_in_browser(str(facts.get("name")), str(facts.get("mimeType")), body)
        if attempt.error:
            self._actions.warn(attempt.error)
        self._result = replace(attempt, flagged=(*self._deferred, *attempt.flagged))
        self._deferred = ()
        if attempt.conflicts:
            self.replace.ask(attempt.conflicts)
        else:
            self._ask_about_abuse()
        return attempt.summary

    def _on_replace_answer(self, answer: str) -> None:
        attempt, free = self._result, self.replace.alternative_paths
        self.replace.dismiss()
        self._actions.focus_button()
        if answer == CANCEL:
            self._actions.say("Cancelled. The existing files are unchanged.")
            self._ask_about_abuse()
            return
        self._deferred = attempt.flagged
        overwrite = answer == REPLACE
        self._request = replace(self._request, overwrite=True) if self._request and overwrite else None
        paths = [conflict.path for conflict in attempt.conflicts] if overwrite else free
        pairs = zip(attempt.blocked, paths, strict=True)
        self._run([replace(download, to=str(path), overwrite=overwrite) for download, path in pairs])

    def _ask_about_abuse(self) -> None:
        mine = [download for download in self._result.flagged if is_owned(download.files[0])]
        others = [download.files[0] for download in self._result.flagged if not is_owned(download.files[0])]
        if others:
            self._actions.warn(ValueError(" ".join(map(refusal_message, others))))
        if mine:
            ask_about_abuse(
                self.abuse,
                [download.files[0] for download in mine],
                "Download anyway",
                confirmed=lambda: self._download_anyway(mine),
                cancelled=self._on_decline,
            )

    def _download_anyway(self, flagged: Sequence[Download]) -> None:
        self._actions.focus_button()
        self._request = replace(self._request, acknowledge_abuse=True) if self._request else None
        self._run([replace(download, acknowledge_abuse=True) for download in flagged])

    def _on_decline(self) -> None:
        self._actions.focus_button()
        self._actions.say("Cancelled. The flagged files were not downloaded.")
