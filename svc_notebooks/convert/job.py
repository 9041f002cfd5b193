"""The options, the folder, the limits and the notes of a conversion job, and the errors of conversions."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

MIB = 1024 * 1024


class ConversionError(Exception):
    """The source cannot be converted. The text is the reason, for the user."""


class TooLarge(ConversionError):
    """The conversion needs more time, memory or disk space than its limits."""


@dataclass(frozen=True, slots=True)
class JobLimits:
    """The limits of one conversion, with sizes in bytes."""

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
    """The options of one conversion.

    media_type: the media type, without parameters, of the source when reading and of the target when writing.
    folder: an empty folder that is deleted afterwards.
    name: the name of the file, which is the title in formats that need one.
    charset: the charset in the Content-Type of the source.
    ocr_language: a well-formed BCP 47 tag, or None.
    now: the date for formats that store one, which is the service's time when reading and the time of the last change
        when writing (so that outputs can be reproduced).
    office: whether to prefer LibreOffice if it is installed.
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
        """Add a note for the journal about content that was left out or changed."""
        if text not in self.notes:
            self.notes.append(text)
