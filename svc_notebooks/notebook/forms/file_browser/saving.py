"""Downloads of the file browser: what was saved, which paths have other content, and which files are flagged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ....core.errors.abuse_warning import confirmed_by_person
from ....core.errors.errors import PathExists
from ....local.saving import REPLACED, SAVED, UNCHANGED
from ...files.content import download, read
from ...widgets.background_task import Report
from ...widgets.dialogs.replace_question import Conflict
from .abuse_question import is_flagged
from .actions import FileAction, counted
from .details import moment

if TYPE_CHECKING:
    from ....client.session import Session
    from ....core.http.messages import JSONObject


@dataclass(frozen=True, slots=True)
class Download:
    """Files to download: `to` is a path or a folder beside the kernel, `byte_range` is as `bytes=0-99`."""

    files: tuple[JSONObject, ...]
    to: str | None = None
    byte_range: str | None = None
    overwrite: bool = False
    acknowledge_abuse: bool = False

    @property
    def ids(self) -> list[str]:
        """The ids of the files."""
        return [str(facts["id"]) for facts in self.files]

    def one(self, facts: JSONObject, to: str | None = None) -> Download:
        """The same for one of the files."""
        return replace(self, files=(facts,), to=to or self.to)

    @property
    def saving(self) -> str:
        """The call that saves the files.

        >>> Download(({"id": "a"},), "b.txt", "bytes=0-9", acknowledge_abuse=True).saving
        "svc.download('a', 'b.txt', byte_range='bytes=0-9', acknowledge_abuse=True)"
        """
        these = repr(self.ids[0] if len(self.ids) == 1 else self.ids)
        return _call("svc.download", these, repr(self.to) if self.to else "", *self._options())

    @property
    def reading(self) -> str:
        """The call that reads the files."""
        options = self._options()
        if len(self.ids) == 1:
            return _call("svc.read", repr(self.ids[0]), *options)
        return f"[{_call('svc.read', 'file', *options)} for file in {self.ids!r}]"

    def _options(self) -> tuple[str, ...]:
        return (
            f"byte_range={self.byte_range!r}" if self.byte_range else "",
            "acknowledge_abuse=True" if self.acknowledge_abuse else "",
            "overwrite=True" if self.overwrite else "",
        )


def _call(function: str, *arguments: str) -> str:
    return f"{function}({', '.join(filter(None, arguments))})"


@dataclass(frozen=True, slots=True)
class DownloadResult:
    """What downloads came to.

    Of each file that was not saved there is either a conflict, with its download in `blocked`, or its download in
    `flagged`; `error` is the first that is neither. `bodies` has what is for the browser.
    """

    outcomes: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    blocked: tuple[Download, ...] = ()
    flagged: tuple[Download, ...] = ()
    error: Exception | None = None
    bodies: tuple[tuple[JSONObject, bytes], ...] = ()

    @property
    def words(self) -> str:
        """What came of it, for people.

        >>> DownloadResult(("saved", "unchanged", "saved")).words
        'Saved 2 files. Unchanged: 1 file.'
        """
        count = Counter(self.outcomes)
        told = {
            "Saved ": count[SAVED],
            "Replaced ": count[REPLACED],
            "Unchanged: ": count[UNCHANGED],
            "Handed to the browser: ": len(self.bodies),
            "Not saved: ": len(self.conflicts) + len(self.flagged),
        }
        return " ".join(f"{words}{counted([''] * number)}." for words, number in told.items() if number)


def saved(session: Session, downloads: Sequence[Download], code: str = "") -> FileAction:
    """Save files beside the kernel; what `run` gives is an Attempt."""

    def run(report: Report) -> DownloadResult:
        return _sum([_save(session, one, report) for one in downloads])

    return FileAction(code or "\n".join(one.saving for one in downloads), run, "", long=True)


def fetched(session: Session, downloads: Sequence[Download], code: str = "") -> FileAction:
    """Read files into memory, for the browser; what `run` gives is an Attempt."""
    each = [one.one(facts) for one in downloads for facts in one.files]

    def run(report: Report) -> DownloadResult:
        attempts: list[DownloadResult] = []
        for one in each:
            report(len(attempts), len(each))
            attempts.append(_read(session, one))
        return _sum(attempts)

    return FileAction(code or "\n".join(one.reading for one in downloads), run, "", long=True)


@confirmed_by_person()
def _save(session: Session, wanted: Download, report: Report) -> DownloadResult:
    try:
        rows = download(
            wanted.ids,
            wanted.to,
            byte_range=wanted.byte_range,
            acknowledge_abuse=wanted.acknowledge_abuse,
            overwrite=wanted.overwrite,
            progress=report,
            session=session,
        )
    except Exception as error:
        failed: dict[int, Exception] = getattr(error, "failed", {})
        if error not in failed.values():
            raise
        return _attempt(error, failed, wanted)
    return DownloadResult(tuple(rows["outcome"]))


def _attempt(error: Exception, failed: dict[int, Exception], wanted: Download) -> DownloadResult:
    conflicts = {n: one for n, one in failed.items() if isinstance(one, PathExists) and one.replaceable}
    flagged = [n for n, one in failed.items() if is_flagged(one)]
    result = getattr(error, "result", None)  # of several files those that were saved
    return DownloadResult(
        () if result is None else tuple(result["outcome"]),
        tuple(_conflict(one, wanted.files[n]) for n, one in conflicts.items()),
        tuple(wanted.one(wanted.files[n]) for n in conflicts),
        tuple(wanted.one(wanted.files[n]) for n in flagged),
        next((one for n, one in failed.items() if n not in conflicts and n not in flagged), None),
    )


@confirmed_by_person()
def _read(session: Session, wanted: Download) -> DownloadResult:
    (facts,) = wanted.files
    try:
        body = read(
            wanted.ids[0],
            byte_range=wanted.byte_range,
            acknowledge_abuse=wanted.acknowledge_abuse,
            session=session,
        )
    except Exception as error:
        if is_flagged(error):
            return DownloadResult(flagged=(wanted,))
        raise
    return DownloadResult(bodies=((facts, body),))


def _sum(attempts: Sequence[DownloadResult]) -> DownloadResult:
    return DownloadResult(
        tuple(one for attempt in attempts for one in attempt.outcomes),
        tuple(one for attempt in attempts for one in attempt.conflicts),
        tuple(one for attempt in attempts for one in attempt.blocked),
        tuple(one for attempt in attempts for one in attempt.flagged),
        next((attempt.error for attempt in attempts if attempt.error), None),
        tuple(one for attempt in attempts for one in attempt.bodies),
    )


def _conflict(error: PathExists, facts: JSONObject) -> Conflict:
    size = facts.get("size")
    return Conflict(
        error,
        name=str(facts.get("name")),
        size=None if size is None else int(str(size)),
        modified=f"{moment(facts.get('modifiedTime'))} UTC",
        media_type=str(facts.get("mimeType") or ""),
    )
