"""Opens zip files of unknown origin: checks sizes before unpacking and forbids document type declarations."""

from __future__ import annotations

import io
import zipfile

from ..job import ConversionError, JobLimits, TooLarge

_DECLARATION = b"<!DOCTYPE"
_MARKUP = (".xml", ".rels", ".vml", ".rdf", ".opf", ".ncx")
_HEAD_SIZE = 4096
_MAX_COMMENT = 1024 * 1024


def open_archive(source: bytes, limits: JobLimits) -> zipfile.ZipFile:
    """A zip that may be unpacked. Raises ConversionError for one that is damaged, encrypted or a bomb."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(source))
        entries = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError, EOFError) as error:
        raise ConversionError("the file is damaged: it is no zip archive, as this format must be.") from error
    _check_sizes(entries, len(source), limits)
    for entry in entries:
        if entry.flag_bits & 1:
            raise ConversionError("the file is encrypted; send it without a password.")
        if entry.filename.lower().endswith(_MARKUP):
            _check_markup(archive, entry)
    return archive


def _check_sizes(entries: list[zipfile.ZipInfo], packed: int, limits: JobLimits) -> None:
    if len(entries) > limits.entries:
        raise TooLarge(f"the archive has more than {limits.entries} entries.")
    unpacked = sum(entry.file_size for entry in entries)
    if unpacked > limits.unpacked or unpacked > max(packed, 100_000) * limits.ratio:
        raise TooLarge(f"unpacked, the archive would have {unpacked} bytes.")


def _check_markup(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> None:
    """No document type declaration, and so no entities: none of these formats needs one."""
    try:
        with archive.open(entry) as file:
            head = file.read(_HEAD_SIZE)
            if b"<!--" in head.replace(b"\0", b""):  # a comment may be long, and hide what follows it
                head += file.read(_MAX_COMMENT)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, OSError) as error:
        raise ConversionError(f"the file is damaged at {entry.filename[:80]!r}.") from error
    # UTF-16 is read as well: its ASCII letters have zeros between them.
    if _DECLARATION in head.replace(b"\0", b"").upper():
        raise ConversionError(f"{entry.filename[:80]!r} declares a document type, which this format may not.")
