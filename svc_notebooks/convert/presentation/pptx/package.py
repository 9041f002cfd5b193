"""Opens PowerPoint presentations, templates and slide shows with python-pptx."""

from __future__ import annotations

import io
import re
import zipfile

import pptx
from pptx.presentation import Presentation

from ...input.zip_file import open_archive
from ...job import MIB, ConversionError, Job, TooLarge
from ..model import MAX_SLIDES

_MAX_PART = 50 * MIB
_TYPES, _RELATIONSHIPS = "[Content_Types].xml", "_rels/.rels"
_PRESENTATION_TYPE = b"application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml"
_OTHER_TYPES = re.compile(
    rb"application/vnd\.(?:openxmlformats-officedocument\.presentationml\.(?:template|slideshow)"
    rb"|ms-powerpoint\.(?:presentation|slideshow|template)\.macroEnabled)\.main\+xml"
)

_STRICT = b"http://purl.oclc.org/ooxml/"
_NAMESPACES = tuple(
    (_STRICT + name, b"http://schemas.openxmlformats.org/" + name + b"2006/")
    for name in (b"officeDocument/", b"drawingml/", b"presentationml/")
)
"""The namespaces of strict files, and those of other files, which python-pptx requires."""


def open_package(source: bytes, job: Job) -> Presentation:
    """Open a file with python-pptx. Raises ConversionError if the file is invalid, and TooLarge above a limit."""
    with open_archive(source, job.limits) as archive:
        names = archive.namelist()
        if _TYPES not in names:
            raise ConversionError("the file is not a PowerPoint presentation: [Content_Types].xml is missing.")
        if sum(name.startswith("ppt/slides/slide") for name in names) > MAX_SLIDES:
            raise TooLarge(f"the presentation has more than {MAX_SLIDES} slides.")
        if any(entry.file_size > _MAX_PART and entry.filename.endswith(".xml") for entry in archive.infolist()):
            raise TooLarge(f"a part of the presentation has more than {_MAX_PART} bytes of XML.")
        plain = _as_presentation(source, archive)
    try:
        presentation = pptx.Presentation(io.BytesIO(plain))
    except Exception as error:  # python-pptx lets errors of all kinds through
        raise ConversionError("the file is damaged: required parts are missing or broken.") from error
    return presentation


def _as_presentation(source: bytes, archive: zipfile.ZipFile) -> bytes:
    """Return the file with the content type and namespaces of python-pptx. Raises ConversionError for other files."""
    try:
        types = archive.read(_TYPES)
        strict = _RELATIONSHIPS in archive.namelist() and _STRICT in archive.read(_RELATIONSHIPS)
        if _PRESENTATION_TYPE in types and not strict:
            return source
        patched = _OTHER_TYPES.sub(_PRESENTATION_TYPE, types)
        if _PRESENTATION_TYPE not in patched:
            raise ConversionError("the file is not a PowerPoint presentation.")
        target = io.BytesIO()
        with zipfile.ZipFile(target, "w") as copy:
            for entry in archive.infolist():
                part = patched if entry.filename == _TYPES else archive.read(entry)
                for own, other in _NAMESPACES if strict and entry.filename.endswith((".xml", ".rels")) else ():
                    part = part.replace(own, other)
                copy.writestr(entry.filename, part)
        return target.getvalue()
    except (zipfile.BadZipFile, EOFError, NotImplementedError, OSError) as error:
        raise ConversionError("the file is damaged.") from error
