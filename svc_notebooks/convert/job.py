"""A conversion job: its options, its folder, its limits and its notes; and the errors of conversions."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

MIB = 1024 * 1024


class ConversionError(Exception):
    """The source cannot be converted; the text says why, for the person who sent it."""


class TooLarge(ConversionError):
    """It would need more time, memory or disk space than a conversion may use."""


@dataclass(frozen=True, slots=True)
class JobLimits:
    """How much one conversion may use; sizes in bytes."""

    seconds: float = 60.0
    memory: int = 1536 * MIB
    output: int = 256 * MIB
    unpacked: int = 300 * MIB  # of a zip, all members together
    ratio: int = 200  # of a zip's unpacked size to its own
    entries: int = 10_000
    pixels: int = 64_000_000  # of one picture
    pages: int = 200  # of a PDF that is read
    cells: int = 5_000_000  # of a spreadsheet that is read
    pdf_cells: int = 20_000  # of a spreadsheet that is printed


@dataclass(frozen=True, slots=True)
class Job:
    """What is asked for beside the bytes.

    media_type: the essence of the source's type when reading, of the target's when writing.
    folder: an empty folder that is deleted afterwards.
    name: the file's name, a title where a format wants one.
    charset: what the source's Content-Type declares.
    ocr_language: a BCP 47 tag that is well-formed, or None.
    now: the date to write into formats that keep one: the service's time when reading, the document's last change
        when writing (so that outputs can be reproduced).
    office: prefer LibreOffice where it is installed.
    """

    media_type: str
    folder: Path
    name: str = ""
    charset: str | None = None
    ocr_language: str | None = None
    now: datetime = datetime(2026, 1, 1, tzinfo=UTC)
    office: bool = False
    limits: JobLimits = JobLimits()
    notes: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        """Leave a word for the journal: something was left out or done in another way."""
        if text not in self.notes:
            self.notes.append(text)
