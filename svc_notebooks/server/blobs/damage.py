"""Stored content that is not what was written, and the error that says so."""

from __future__ import annotations

from collections.abc import Mapping


class DamagedContent(OSError):
    """Parts of stored contents are missing, have another length, or other bytes than were written.

    `problems` has a sentence for each part, by its key; `files` names the files that the parts belong to.

    >>> str(DamagedContent({"ab12": "part ab12 is missing"}, ["notes.txt (file-1)"]))
    'the stored content of notes.txt (file-1) is damaged: part ab12 is missing'
    """

    def __init__(self, problems: Mapping[str, str], files: list[str] | None = None) -> None:
        super().__init__()
        self.problems = dict(problems)
        self.files = files or []

    def __str__(self) -> str:
        return f"the stored content of {self.owner} is damaged: {self.problem}"

    @property
    def owner(self) -> str:
        """The files that are affected, the first three by name."""
        return _enumerate(self.files, "files") or "a file or an upload"

    @property
    def problem(self) -> str:
        """What is wrong, for the first three parts."""
        return _enumerate(list(self.problems.values()), "parts")


def _enumerate(names: list[str], noun: str) -> str:
    shown = ", ".join(names[:3])
    return f"{shown} and {len(names) - 3:,} more {noun}" if len(names) > 3 else shown
