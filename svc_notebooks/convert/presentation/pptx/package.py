"""Opens PowerPoint presentations, templates and slide shows with python-pptx."""

from __future__ import annotations

import io
import re
import zipfile

import pptx
from pptx.presentation import Presentation

from ...input.detect import OLE
from ...input.zip_file import open_archive
from ...job import MIB, ConversionError, Job, TooLarge
from ..model import MAX_SLIDES

_MAX_PART = 50 * MIB
_TYPES = "[Content_Types].xml"
_PRESENTATION_TYPE = b"application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml"
_OTHER_TYPES = re.compile(
    rb"application/vnd\.(?:openxmlformats-officedocument\.presentationml\.(?:template|slideshow)"
    rb"|ms-powerpoint\.(?:presentation|slideshow|template)\.macroEnabled)\.main\+xml"
)


def open_package(source: bytes, job: Job) -> Presentation:
    """Open a file with python-pptx. Raises ConversionError if the file is invalid, and TooLarge above a limit."""
    if source.startswith(OLE):
        raise ConversionError(
            "the file is encrypted or from PowerPoint 97 to 2003; save the file as pptx, without a password."
        )
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
    """Return the file with the content type that python-pptx requires. Raises ConversionError for other files."""
    try:
        types = archive.read(_TYPES)
        if _PRESENTATION_TYPE in types:
            return source
        patched, count = _OTHER_TYPES.subn(_PRESENTATION_TYPE, types)
        if not count:
            raise ConversionError("the file is not a PowerPoint presentation.")
        target = io.BytesIO()
        with zipfile.ZipFile(target, "w") as copy:
            for entry in archive.infolist():
                copy.writestr(entry.filename, patched if entry.filename == _TYPES else archive.read(entry))
        return target.getvalue()
    except (zipfile.BadZipFile, EOFError, NotImplementedError, OSError) as error:
        raise ConversionError("the file is damaged.") from error
