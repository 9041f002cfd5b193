"""Finds late submissions by the deadline of the class or of a student, and the share of the points that they keep."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...course.submissions import Submission

_DATE_LENGTH = len("2026-11-30")


@dataclass(frozen=True, slots=True)
class SubmissionDeadline:
    """The deadline of a class, None for no deadline, and the share of the points that a late submission keeps."""

    time: datetime | None = None
    late_share: float = 1.0

    def lateness(self, submission: Submission, own: datetime | None) -> str:
        """Return a sentence about a late submission, or "" for one in time. `own` is the student's own deadline.

        Canvas marks late submissions in the names of files. This mark counts unless the student has an own deadline.
        """
        deadline = own or self.time
        kept = "" if self.late_share == 1 else f"; late submissions keep {self.late_share:.0%} of the points"
        if submission.late and own is None:
            return f"was handed in late, as Canvas says{kept}"
        if deadline is None or submission.modified is None or submission.modified <= deadline:
            return ""
        return f"was handed in late: {submission.modified:%Y-%m-%d %H:%M}, after {deadline:%Y-%m-%d %H:%M}{kept}"


def parse_deadline(text: str) -> datetime:
    """Return a time as an aware datetime. A time without an offset is local, and a date is the end of this day.

    Raises ValueError for another text.

    >>> parse_deadline("2026-11-30T23:59+01:00").isoformat()
    '2026-11-30T23:59:00+01:00'
    """
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise ValueError(f"{text!r} is not a time such as 2026-11-30 or 2026-11-30T18:00+01:00") from None
    if len(text.strip()) <= _DATE_LENGTH:
        moment = datetime.combine(moment.date(), time(23, 59, 59))
    return moment if moment.tzinfo else moment.astimezone()
