"""Writes the results of submissions as JSON after each submission, and reads them to resume an interrupted run."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...course.catalogue import DEFINITIONS
from ...course.definition import Verdict
from ...local.saving import DEVICE, existing
from ..options import write_report

if TYPE_CHECKING:
    from ...course.grading import SubmissionResult


class SavedMarks:
    """The JSON file of a run, which is replaced after each submission. A path of None saves nothing.

    An existing file is replaced only with `overwrite`. If another program changes the file during the run, the marks
    are written to a free name in the same folder.
    """

    def __init__(self, path: Path | None, seed: str, *, overwrite: bool) -> None:
        self._path, self._seed, self._overwrite = path, seed, overwrite
        self._written: str | None = None

    def save(self, marks: Iterable[SubmissionResult], *, complete: bool) -> None:
        """Write the marks. A device, such as /dev/stdout, receives only the complete marks."""
        existing_file = existing(self._path) if self._path else None
        if self._path is None or (existing_file and existing_file.kind == DEVICE and not complete):
            return
        report = {
            "seed": self._seed,
            "complete": complete,
            "submissions": [_record(mark) for mark in marks],
        }
        text = json.dumps(report, indent=2, ensure_ascii=False) + "\n"
        overwrite = self._overwrite if self._written is None else self._is_unchanged(self._path)
        self._path = write_report(self._path, text, overwrite=overwrite)
        self._written = text

    def _is_unchanged(self, path: Path) -> bool:
        try:
            return path.read_text(encoding="utf-8") == self._written
        except (OSError, ValueError):
            return False


def read_marks(path: Path) -> tuple[str, dict[str, SubmissionResult]]:
    """Read the file of an earlier run, and return its seed and its results by student.

    Results for other exercises than those of this version are left out. Raises ValueError for any other file.
    """
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
        marks = [_result(record) for record in report["submissions"]]
        return str(report["seed"]), {mark.student: mark for mark in marks if mark.results.keys() == DEFINITIONS.keys()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise ValueError(f"{path} cannot be read as the JSON file of an earlier run of this command") from None


def _record(mark: SubmissionResult) -> dict[str, object]:
    return {
        "student": mark.student,
        "solved": mark.solved,
        "happened": list(mark.happened),
        "exercises": {
            name: {"outcome": str(result.outcome), "saw": result.message, "parts": result.to_json()["parts"]}
            for name, result in mark.results.items()
        },
        "remarks": list(mark.remarks),
        "errors": list(mark.errors),
        "notes": list(mark.notes),
        "isolation": mark.isolation,
        "sha256": mark.digest,
    }


def _result(record: dict[str, Any]) -> SubmissionResult:
    from ...course.grading import SubmissionResult

    results = {
        str(name): Verdict.from_json({**verdict, "message": verdict["saw"], "parts": verdict.get("parts", ())})
        for name, verdict in record["exercises"].items()
    }
    remarks, errors, notes = (tuple(map(str, record.get(key, ()))) for key in ("remarks", "errors", "notes"))
    digest, isolation = str(record["sha256"]), str(record.get("isolation", ""))
    return SubmissionResult(str(record["student"]), results, remarks, errors, digest, notes, isolation)
