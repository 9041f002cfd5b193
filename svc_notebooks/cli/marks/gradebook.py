"""Writes the gradebook and the feedback pages that the options of `svc-notebooks grade` ask for."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ...core.printable_text import terminal_text
from ...course.catalogue import DEFINITIONS
from ..output_file import write_report
from .deadlines import SubmissionDeadline, parse_deadline
from .formats import FORMATS, feedback_page
from .roster import gradebook, read_points, read_roster

if TYPE_CHECKING:
    from ...course.grading import SubmissionResult
    from ...course.submissions import Submission


class Gradebook:
    """The options of a gradebook. The constructor raises ValueError for an invalid roster, points file or deadline."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._roster = read_roster(options.roster) if options.roster else None
        self._points = read_points(options.points) if options.points else dict.fromkeys(DEFINITIONS, 1.0)
        deadline = parse_deadline(options.deadline) if options.deadline else None
        self._deadline = SubmissionDeadline(deadline, options.late_points / 100)
        self._assignment = options.assignment or options.directory.resolve().name

    def write(self, marks: Sequence[SubmissionResult], handed_in: Sequence[Submission]) -> None:
        """Write the gradebook and the feedback pages, and name submissions that belong to no student of the roster."""
        rows, unknown = gradebook(self._roster, marks, handed_in, self._deadline)
        for row in rows:
            sys.stdout.write(terminal_text(f"{row.student.name}: {row.late}") + "\n" if row.late else "")
        for student in unknown:
            sys.stderr.write(
                f"svc-notebooks grade: {terminal_text(student)} is not in {self._options.roster}, or is there twice\n"
            )
        if self._options.output:
            text = FORMATS[self._options.format](rows, self._points, self._assignment)
            write_report(self._options.output, text, overwrite=self._options.overwrite)
        if self._options.feedback:
            self._options.feedback.mkdir(parents=True, exist_ok=True)
            for row in rows:
                path: Path = self._options.feedback / f"{_file_name(row.student.name)}.html"
                write_report(path, feedback_page(row, self._points, self._assignment), overwrite=False)


def _file_name(name: str) -> str:
    """Return a name that is safe on every system. `write_report` gives two students of one name two files."""
    return "".join(letter if letter.isalnum() or letter in " -_" else "_" for letter in name).strip()[:100] or "student"
