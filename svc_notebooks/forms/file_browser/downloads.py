"""Downloads files, and asks for confirmation before a local file is replaced or a flagged file is downloaded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import ipywidgets as widgets

from ...core.errors.caller_warning import suppress_abuse_warning
from ...core.errors.errors import NotAllowed, PathExists
from ...local.saving import REPLACED, SAVED, UNCHANGED
from ...notebook.files.downloads.downloads import download, read
from ..widgets.background_task import Report
from ..widgets.dialogs.confirmation import Confirmation
from ..widgets.dialogs.replace_question import CANCEL, REPLACE, Conflict, ReplaceQuestion
from .actions import FileAction, file_count
from .details import is_folder, minute_text, owner

if TYPE_CHECKING:
    from ...client.session import Session
    from ...core.resources.files import File
    from .browser import FileBrowser


_REASON = "cannotDownloadAbusiveFile"
_WARNING = (
    "The service found malware or spam in it. Opening it can harm this computer and its data.",
    "Only the owner can download it. Continue only if you know its content.",
)


def is_flagged(error: Exception) -> bool:
    """Return whether the service has refused to send a file because the file is flagged as abusive."""
    return isinstance(error, NotAllowed) and error.reason == _REASON


def is_owned(facts: File) -> bool:
    """Return whether the user of the session owns the file. Only the owner can download a flagged file."""
    return facts.get("ownedByMe") is not False


def refusal_message(facts: File) -> str:
    """Return the error message for a user who does not own the flagged file."""
    words = f"{facts.get('name')} was flagged as abusive, because the service found malware or spam in it."
    return f"{words} Only its owner, {owner(facts)}, can download it."


def ask_about_abuse(
    question: Confirmation,
    files: Sequence[File],
    verb: str,
    *,
    confirmed: Callable[[], None],
    cancelled: Callable[[], None],
) -> None:
    """Ask about the download of flagged files, then call `confirmed` or `cancelled`. `verb` is a button label."""
    names = ", ".join(str(facts.get("name")) for facts in files)
    title = (
        f"{len(files)} files were flagged as abusive: {names}" if len(files) > 1 else f"{names} was flagged as abusive"
    )
    question.ask(f"{title}.", verb, *_WARNING, confirmed=confirmed, cancelled=cancelled)


@dataclass(frozen=True, slots=True)
class Download:
    """A request to download files. `to` is the target path or folder, `byte_range` is a range such as `bytes=0-99`."""

    files: tuple[File, ...]
    to: str | None = None
    byte_range: str | None = None
    overwrite: bool = False
    acknowledge_abuse: bool = False

    @property
    def ids(self) -> list[str]:
        return [str(facts["id"]) for facts in self.files]

    def for_file(self, facts: File, to: str | None = None) -> Download:
        """Return the same download for one of the files, optionally to another destination."""
        return replace(self, files=(facts,), to=to or self.to)

    @property
    def save_code(self) -> str:
        """The `download` call that saves the files.

        >>> Download(({"id": "a"},), "b.txt", "bytes=0-9", acknowledge_abuse=True).save_code
        "svc.download('a', 'b.txt', byte_range='bytes=0-9', acknowledge_abuse=True)"
        """
        these = repr(self.ids[0] if len(self.ids) == 1 else self.ids)
        return _call_code("svc.download", these, repr(self.to) if self.to else "", *self._options())

    @property
    def read_code(self) -> str:
        """The Python code that reads the files into memory."""
        options = self._options()
        if len(self.ids) == 1:
            return _call_code("svc.read", repr(self.ids[0]), *options)
        return f"[{_call_code('svc.read', 'file', *options)} for file in {self.ids!r}]"

    def _options(self) -> tuple[str, ...]:
        return (
            f"byte_range={self.byte_range!r}" if self.byte_range else "",
            "acknowledge_abuse=True" if self.acknowledge_abuse else "",
            "overwrite=True" if self.overwrite else "",
        )


def _call_code(function: str, *arguments: str) -> str:
    return f"{function}({', '.join(filter(None, arguments))})"


@dataclass(frozen=True, slots=True)
class DownloadResult:
    """The result of one or more downloads.

    `outcomes` has a word such as saved or unchanged for each saved file. `conflicts` are existing paths with different
    content, and `blocked` the downloads to these paths. `flagged` are downloads of files that are flagged as abusive.
    `error` is the first error with another cause. `bodies` has the content for the browser.
    """

    outcomes: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    blocked: tuple[Download, ...] = ()
    flagged: tuple[Download, ...] = ()
    error: Exception | None = None
    bodies: tuple[tuple[File, bytes], ...] = ()

    @property
    def summary(self) -> str:
        """The numbers of saved, replaced, unchanged, sent and unsaved files as text.

        >>> DownloadResult(("saved", "unchanged", "saved")).summary
        'Saved 2 files. Unchanged: 1 file.'
        """
        count = Counter(self.outcomes)
        counts = {
            "Saved ": count[SAVED],
            "Replaced ": count[REPLACED],
            "Unchanged: ": count[UNCHANGED],
            "Sent to the browser: ": len(self.bodies),
            "Not saved: ": len(self.conflicts) + len(self.flagged),
        }
        return " ".join(f"{label}{file_count([''] * number)}." for label, number in counts.items() if number)


def save_action(session: Session, downloads: Sequence[Download], code: str = "") -> FileAction:
    """Return the action that saves files in the notebook folder. Its `run` returns a DownloadResult."""

    def run(report: Report) -> DownloadResult:
        return _merge([_save(session, download_request, report) for download_request in downloads])

    return FileAction(
        code or "\n".join(download_request.save_code for download_request in downloads), run, "", in_thread=True
    )


def fetch_action(session: Session, downloads: Sequence[Download], code: str = "") -> FileAction:
    """Return the action that reads files for the browser. Its `run` returns a DownloadResult."""
    requests = [download_request.for_file(facts) for download_request in downloads for facts in download_request.files]

    def run(report: Report) -> DownloadResult:
        attempts: list[DownloadResult] = []
        for download_request in requests:
            report(len(attempts), len(requests))
            attempts.append(_read(session, download_request))
        return _merge(attempts)

    return FileAction(
        code or "\n".join(download_request.read_code for download_request in downloads), run, "", in_thread=True
    )


@suppress_abuse_warning()
def _save(session: Session, request: Download, report: Report) -> DownloadResult:
    try:
        rows = download(
            request.ids,
            request.to,
            byte_range=request.byte_range,
            acknowledge_abuse=request.acknowledge_abuse,
            overwrite=request.overwrite,
            progress=report,
            errors="raise",
            session=session,
        )
    except Exception as error:
        failed: Mapping[int, Exception] = getattr(error, "failed", {})
        if error not in failed.values():
            raise
        return _partial_result(error, failed, request)
    return DownloadResult(tuple(rows["outcome"]))


def _partial_result(error: Exception, failed: Mapping[int, Exception], request: Download) -> DownloadResult:
    selected = {str(facts["id"]): facts for facts in request.files}

    def facts_of(cause: Exception) -> File:
        """Return the metadata of the file that failed, which can be below a selected folder."""
        file: File = vars(cause)["file"]
        return selected.get(file["id"], file)

    causes = list(failed.values())
    conflicts = [  # not exports, which `download` makes only for a whole folder
        cause
        for cause in causes
        if isinstance(cause, PathExists) and cause.replaceable and facts_of(cause).get("size") is not None
    ]
    flagged = [cause for cause in causes if is_flagged(cause)]
    saved_rows = getattr(error, "result", None)  # also has the rows that failed
    return DownloadResult(
        () if saved_rows is None else tuple(saved_rows["outcome"]),
        tuple(_conflict(cause, facts_of(cause)) for cause in conflicts),
        tuple(request.for_file(facts_of(cause)) for cause in conflicts),
        tuple(request.for_file(facts_of(cause)) for cause in flagged),
        next((cause for cause in causes if cause not in conflicts and cause not in flagged), None),
    )


@suppress_abuse_warning()
def _read(session: Session, request: Download) -> DownloadResult:
    (facts,) = request.files
    try:
        body = read(
            request.ids[0],
            byte_range=request.byte_range,
            acknowledge_abuse=request.acknowledge_abuse,
            session=session,
        )
    except Exception as error:
        if is_flagged(error):
            return DownloadResult(flagged=(request,))
        raise
    return DownloadResult(bodies=((facts, body),))


def _merge(attempts: Sequence[DownloadResult]) -> DownloadResult:
    return DownloadResult(
        tuple(outcome for attempt in attempts for outcome in attempt.outcomes),
        tuple(conflict for attempt in attempts for conflict in attempt.conflicts),
        tuple(blocked for attempt in attempts for blocked in attempt.blocked),
        tuple(flagged for attempt in attempts for flagged in attempt.flagged),
        next((attempt.error for attempt in attempts if attempt.error), None),
        tuple(body for attempt in attempts for body in attempt.bodies),
    )


def _conflict(error: PathExists, facts: File) -> Conflict:
    size = facts.get("size")
    return Conflict(
        error,
        name=str(facts.get("name")),
        size=None if size is None else int(str(size)),
        modified=f"{minute_text(facts.get('modifiedTime'))} UTC",
        media_type=str(facts.get("mimeType") or ""),
    )


class FileDownloads(widgets.VBox):  # type: ignore[misc]
    """Runs downloads, and asks about existing files or flagged files. The answer starts another download or cancels."""

    def __init__(self, browser: FileBrowser) -> None:
        self._browser = browser
        self._request: Download | None = None
        self._make_action: Callable[..., FileAction] = save_action
        self._result = DownloadResult()
        self._deferred: tuple[Download, ...] = ()
        self.replace = ReplaceQuestion(lambda answer: browser._guard(lambda: self._on_replace_answer(answer)))
        self.abuse = Confirmation(browser._guard)
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
        names = self._browser._session_now().names
        if folders := [str(facts.get("name")) for facts in request.files if is_folder(facts, names)]:
            raise ValueError(f"{', '.join(folders)}: a folder is saved in the notebook folder only. Change Save as.")
        self._begin(request, fetch_action)

    def ask_to_preview(self, facts: File, confirmed: Callable[[], None]) -> None:
        """Ask before the preview of a flagged file. Raises ValueError if the user does not own the file."""
        if not is_owned(facts):
            raise ValueError(refusal_message(facts))
        kept = f"Cancelled. {facts.get('name')} was not fetched."
        ask_about_abuse(
            self.abuse, [facts], "Show anyway", confirmed=confirmed, cancelled=lambda: self._browser._show_status(kept)
        )

    def _begin(self, request: Download, make_action: Callable[..., FileAction]) -> None:
        self._request, self._make_action, self._deferred = request, make_action, ()
        self._run([request])

    def _run(self, downloads: Sequence[Download]) -> None:
        """Run downloads, and show the equivalent call unless several calls would be necessary."""
        code = ""
        if self._request:
            code = self._request.save_code if self._make_action is save_action else self._request.read_code
        self._browser._run_action(self._make_action(self._browser._session_now(), downloads, code), self._on_finish)

    def _on_finish(self, attempt: DownloadResult) -> str:
        for facts, body in attempt.bodies:
            self._browser.browser_download.save(str(facts.get("name")), str(facts.get("mimeType")), body)
        if attempt.error:
            self._browser._show_error(attempt.error)
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
        self._browser._focus_button()
        if answer == CANCEL:
            self._browser._show_status("Cancelled. The existing files are unchanged.")
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
            self._browser._show_error(ValueError(" ".join(map(refusal_message, others))))
        if mine:
            ask_about_abuse(
                self.abuse,
                [download.files[0] for download in mine],
                "Download anyway",
                confirmed=lambda: self._download_anyway(mine),
                cancelled=self._on_decline,
            )

    def _download_anyway(self, flagged: Sequence[Download]) -> None:
        self._browser._focus_button()
        self._request = replace(self._request, acknowledge_abuse=True) if self._request else None
        self._run([replace(download, acknowledge_abuse=True) for download in flagged])

    def _on_decline(self) -> None:
        self._browser._focus_button()
        self._browser._show_status("Cancelled. The flagged files were not downloaded.")
