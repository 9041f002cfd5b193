"""Defines a conversion job (its options, work folder, limits and notes) and the exceptions that conversions raise."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

MIB = 1024 * 1024


class ConversionError(Exception):
    """Raised when a source cannot be converted. The message tells the user the reason."""


class TooLarge(ConversionError):
    """Raised when a conversion exceeds a limit in `JobLimits`, such as time, memory, size or number of pages."""


_OF_DOCUMENT = (TooLarge, MemoryError, RecursionError, ImportError)


@dataclass(frozen=True, slots=True)
class JobLimits:
    """The limits of one conversion. Sizes (memory, output, unpacked) are in bytes."""

    seconds: float = 60.0
    memory: int = 768 * MIB  # of the worker process and the program that it runs together
    output: int = 256 * MIB
    unpacked: int = 300 * MIB  # all members of a zip file together
    ratio: int = 200  # unpacked size of a zip file, divided by its compressed size
    entries: int = 10_000  # members of a zip file
    pixels: int = 64_000_000  # of each picture
    pages: int = 200  # of a source PDF
    cells: int = 5_000_000  # of a source spreadsheet
    pdf_cells: int = 20_000  # of a spreadsheet that is written as PDF


@dataclass(frozen=True, slots=True)
class Job:
    """The options, limits and notes of one conversion.

    media_type: the media type of a reader's source or of a writer's target, without parameters.
    folder: the work folder, which is empty at first. The converter deletes the folder after the conversion.
    name: the file name, which writers use as the title if a format requires a title.
    charset: the charset parameter in the source's Content-Type, or None.
    ocr_language: the language of text in pictures as a BCP 47 tag, several tags such as "de+en", or None.
    now: the date to store, for writers the document's last change, so that equal documents give equal files.
    office: if true, LibreOffice reads and writes Office, OpenDocument and PDF files, where it is installed.
    notes: texts for the journal about content that was left out or changed.
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
        """Add a note for the journal about content that was left out or changed. An equal note is not added again."""
        if text not in self.notes:
            self.notes.append(text)

    def leaving_out(self, what: str) -> LeavingOut:
        """Return a context that leaves out an element, such as "A chart", whose conversion raises an error in it.

        The job gets a note. Errors about the whole document, such as TooLarge, are raised.
        """
        return LeavingOut(self, what)


class LeavingOut:
    """A context, which can be entered many times, for the conversion of one element of a document."""

    def __init__(self, job: Job, what: str) -> None:
        self._job, self._what = job, what

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, _: object, error: BaseException | None, traceback: object) -> bool:
        """Add a note about an error that is about the element only."""
        is_of_element = isinstance(error, Exception) and not isinstance(error, _OF_DOCUMENT)
        if is_of_element:
            self._job.note(f"{self._what} could not be converted: {str(error)[:100] or type(error).__name__}")
        return is_of_element
