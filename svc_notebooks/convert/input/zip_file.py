"""Opens untrusted zip files, and refuses zip bombs, encrypted files, document type declarations and too many tags."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from typing import IO, Any
from xml.parsers import expat

from ..job import MIB, ConversionError, JobLimits, TooLarge

_MAX_TAGS = 1_000_000
_MAX_ATTRIBUTES = 5_000
_LONG_TAG = re.compile(rb"""<[A-Za-z](?:[^<>"']|"[^"]*+"|'[^']*+'){5000,}+""")
_VALUES = re.compile(rb""""[^"]*"|'[^']*'""")
_NAMES = re.compile(rb"[^\s/]+")


def check_tags(markup: bytes) -> None:
    """Raise TooLarge if markup has more than `_MAX_TAGS` tags, or an element more than `_MAX_ATTRIBUTES` attributes.

    >>> check_tags(b"<p " + b'a="1" ' * 6_000 + b">")
    Traceback (most recent call last):
    svc_notebooks.convert.job.TooLarge: an element has more than 5000 attributes.
    """
    if markup.count(b"<") > _MAX_TAGS:
        raise TooLarge(f"the file has more than {_MAX_TAGS} tags.")
    for tag in _LONG_TAG.finditer(markup):
        if sum(1 for _ in _NAMES.finditer(_VALUES.sub(b" ", tag[0]))) > _MAX_ATTRIBUTES:
            raise TooLarge(f"an element has more than {_MAX_ATTRIBUTES} attributes.")


_MARKUP = (".xml", ".rels", ".vml", ".rdf", ".opf", ".ncx")
_BLOCK = 8192
_MAX_PROLOG = MIB  # bytes before the root element of an XML member


def open_archive(source: bytes, limits: JobLimits, *, checks_markup: bool = True) -> zipfile.ZipFile:
    """Open an untrusted zip file, and check the start of all XML members unless `checks_markup` is false.

    Raises ConversionError if the file is damaged or encrypted, or if such a member declares a document type. Raises
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
        if checks_markup and entry.filename.lower().endswith(_MARKUP):
            check_markup(archive, entry)
    return archive


def check_markup(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> None:
    """Check the start of an XML member of a zip file, up to its root element.

    Raises ConversionError if the member is not XML or declares a document type, which can define entities. Raises
    TooLarge if the root element comes too late.
    """
    member = repr(entry.filename[:80])
    elements: list[str] = []

    def refuse(*_: object) -> None:
        raise ConversionError(f"{member} declares a document type, which this format does not allow.")

    parser = expat.ParserCreate()
    if hasattr(parser, "SetReparseDeferralEnabled"):  # expat 2.6 delays the events of a token that arrives in blocks
        parser.SetReparseDeferralEnabled(False)
    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = lambda name, _: elements.append(name)
    try:
        with archive.open(entry) as file:
            while not elements and (block := file.read(_BLOCK)):
                if file.tell() > _MAX_PROLOG:
                    raise TooLarge(f"{member} has more than {_MAX_PROLOG} bytes before its first element.")
                # Some programs write blanks before the XML declaration.
                parser.Parse(block if file.tell() > _BLOCK else block.lstrip())
            parser.Parse(b"", True)  # an error after the first element is that of the cut
    except expat.ExpatError as error:
        if not elements and expat.ErrorString(error.code) != expat.errors.XML_ERROR_NO_ELEMENTS:  # not an empty member
            raise ConversionError(f"the file is damaged at {member}.") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError) as error:
        raise ConversionError(f"the file is damaged at {member}.") from error


def open_markup(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> IO[bytes]:
    """Open an XML member for parsers that would expand entities, such as ElementTree. Raises as `check_markup`."""
    check_markup(archive, entry)
    return archive.open(entry)


def refuse_entities(root: Any) -> None:
    """Raise ConversionError if the document of an lxml element declares entities."""
    declared = root.getroottree().docinfo.internalDTD
    if declared is not None and any(True for _ in declared.iterentities()):
        raise ConversionError("the file declares entities, which are not allowed.")
