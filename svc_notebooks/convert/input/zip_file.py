"""Opens untrusted zip files, and refuses zip bombs, encrypted files and XML with a document type declaration."""

from __future__ import annotations

import io
import zipfile

from ..job import ConversionError, JobLimits, TooLarge

_DECLARATION = b"<!DOCTYPE"
_MARKUP = (".xml", ".rels", ".vml", ".rdf", ".opf", ".ncx")
_HEAD_SIZE = 4096
_MAX_COMMENT = 1024 * 1024


def open_archive(source: bytes, limits: JobLimits) -> zipfile.ZipFile:
    """Open an untrusted zip file.

    Raises ConversionError if the file is damaged or encrypted, or if an XML member declares a document type. Raises
    TooLarge if the number of members, the unpacked size or the compression ratio exceeds a limit.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(source))
        entries = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError, EOFError) as error:
        raise ConversionError(
            "the file is damaged: files of this format are zip archives, and this file is not."
        ) from error
    if len(entries) > limits.entries:
        raise TooLarge(f"the archive has more than {limits.entries} entries.")
    unpacked = sum(entry.file_size for entry in entries)
    if unpacked > limits.unpacked or unpacked > max(len(source), 100_000) * limits.ratio:
        raise TooLarge(f"unpacked, the archive would have {unpacked} bytes.")
    for entry in entries:
        if entry.flag_bits & 1:
            raise ConversionError("the file is encrypted; save the file without a password.")
        if entry.filename.lower().endswith(_MARKUP):
            _check_markup(archive, entry)
    return archive


def _check_markup(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> None:
    """Raise ConversionError if an XML member declares a document type, which can define entities."""
    try:
        with archive.open(entry) as file:
            head = file.read(_HEAD_SIZE)
            if b"<!--" in head.replace(b"\0", b""):  # a declaration may follow a long comment
                head += file.read(_MAX_COMMENT)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, OSError) as error:
        raise ConversionError(f"the file is damaged at {entry.filename[:80]!r}.") from error
    # UTF-16 has zeros between ASCII letters.
    if _DECLARATION in head.replace(b"\0", b"").upper():
        raise ConversionError(f"{entry.filename[:80]!r} declares a document type, which this format does not allow.")
