"""Finds late submissions by the deadline of the class or of a student, and the share of the points that they keep."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...course.submissions import Submission

_MOODLE_TIMES = ("%A, %d %B %Y, %I:%M %p", "%A, %B %d, %Y, %I:%M %p", "%A, %d %B %Y, %H:%M")
"""The formats of times in Moodle's grading worksheet, with Moodle in English or in US English."""

_DATE_LENGTH = len("2026-11-30")


@dataclass(frozen=True, slots=True)
class SubmissionDeadline:
    """The deadline of a class, None for no deadline, and the share of the points that a late submission keeps."""

    time: datetime | None = None
    late_share: float = 1.0

    def lateness(self, submission: Submission, own: datetime | None, submitted: datetime | None = None) -> str:
        """Return a sentence about a late submission, or "" for one in time. `own` is the student's own deadline.

        `submitted` is the time of the submission, None for that of the newest notebook.
        Canvas marks late submissions in the names of files. This mark counts unless the student has an own deadline.
        """
        deadline = own or self.time
        kept = "" if self.late_share == 1 else f"; late submissions keep {self.late_share:.0%} of the points"
        if submission.late and own is None:
            return f"was handed in late, as Canvas says{kept}"
        moment = submitted or submission.modified
        if deadline is None or moment is None or moment <= deadline:
            return ""
        return f"was handed in late: {moment:%Y-%m-%d %H:%M}, after {deadline:%Y-%m-%d %H:%M}{kept}"


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


def parse_moodle_time(text: str) -> datetime | None:
    """Return a time of Moodle's grading worksheet as an aware datetime in local time, or None for "-" and "".

    Raises ValueError for another text, such as a time in another language than English.

    >>> parse_moodle_time("Wednesday, 10 June 2026, 2:14 PM").replace(tzinfo=None).isoformat()
    '2026-06-10T14:14:00'
    """
    if text in ("", "-"):
        return None
    for form in _MOODLE_TIMES:
        with suppress(ValueError):
            return datetime.strptime(text, form).astimezone()
    raise ValueError(
        f"{text!r} in the column Last modified (submission) is not a time such as 'Wednesday, 10 June 2026, 2:14 PM';"
        " download the worksheet with Moodle in English, or delete the column"
    )
