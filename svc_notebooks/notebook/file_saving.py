"""Downloads of the file browser to the notebook's folder: what was saved, and which paths have other content."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.errors import PathExists
from ..local.saving import REPLACED, SAVED, UNCHANGED
from .content import download
from .file_deeds import Deed, counted
from .file_facts import moment
from .replace_question import REPLACE, Conflict
from .work import Report

if TYPE_CHECKING:
    from ..client.session import Session
    from ..core.wire import JSONObject


@dataclass(frozen=True, slots=True)
class Attempt:
    """What a download of several files came to: outcomes, conflicts, and the first error that is no conflict."""

    outcomes: tuple[str, ...]
    conflicts: tuple[Conflict, ...] = ()
    error: Exception | None = None

    @property
    def words(self) -> str:
        """What came of it, for people.

        >>> Attempt(("saved", "unchanged", "saved")).words
        'Saved 2 files. Unchanged: 1 file.'
        """
        count = Counter(self.outcomes)
        told = {
            "Saved ": count[SAVED],
            "Replaced ": count[REPLACED],
            "Unchanged: ": count[UNCHANGED],
            "Not saved: ": len(self.conflicts),
        }
        return " ".join(f"{words}{counted([''] * number)}." for words, number in told.items() if number)


def saved(session: Session, files: Sequence[JSONObject], path: str) -> Deed:
    """Save files under a path or with their own names; what `run` gives is an Attempt."""
    ids, to = [str(one["id"]) for one in files], path.strip() or None

    def run(report: Report) -> Attempt:
        try:
            return Attempt(tuple(download(ids, to, progress=report, session=session)["outcome"]))
        except Exception as error:
            failed: dict[int, Exception] = getattr(error, "failed", {})
            if error not in failed.values():
                raise
            return _attempt(error, failed, files)

    return Deed(_call(ids, to), run, "", long=True)


def _attempt(error: Exception, failed: dict[int, Exception], files: Sequence[JSONObject]) -> Attempt:
    conflicts = {n: one for n, one in failed.items() if isinstance(one, PathExists) and one.replaceable}
    result = getattr(error, "result", None)  # of several files those that were saved
    return Attempt(
        () if result is None else tuple(result["outcome"]),
        tuple(_conflict(one, files[n]) for n, one in conflicts.items()),
        next((one for n, one in failed.items() if n not in conflicts), None),
    )


def _conflict(error: PathExists, facts: JSONObject) -> Conflict:
    size = facts.get("size")
    return Conflict(
        error,
        name=str(facts.get("name")),
        size=None if size is None else int(str(size)),
        modified=f"{moment(facts.get('modifiedTime'))} UTC",
        media_type=str(facts.get("mimeType") or ""),
        file_id=str(facts["id"]),
    )


def saved_again(session: Session, conflicts: Sequence[Conflict], free: Sequence[Path], answer: str, code: str) -> Deed:
    """Save files that met other content, over it or at the free paths; `code` is the call that met it."""
    overwrite = answer == REPLACE
    pairs = list(zip(conflicts, [one.path for one in conflicts] if overwrite else free, strict=True))

    def run(report: Report) -> Attempt:
        outcomes: list[str] = []
        again: list[Conflict] = []
        for conflict, path in pairs:
            try:
                rows = download(conflict.file_id, path, overwrite=overwrite, progress=report, session=session)
                outcomes.extend(rows["outcome"])
            except PathExists as error:
                again.append(replace(conflict, error=error))
        return Attempt(tuple(outcomes), tuple(again))

    apart = "\n".join(_call([conflict.file_id], str(path)) for conflict, path in pairs)
    return Deed(f"{code.removesuffix(')')}, overwrite=True)" if overwrite else apart, run, "", long=True)


def _call(ids: Sequence[str], to: str | None) -> str:
    these = repr(ids[0]) if len(ids) == 1 else repr(list(ids))
    return f"svc.download({these}{f', {to!r}' if to else ''})"
