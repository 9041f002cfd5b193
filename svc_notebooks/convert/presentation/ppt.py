"""Reads presentations of PowerPoint 97 to 2003 after LibreOffice has converted them to pptx."""

from __future__ import annotations

from ..engines.libreoffice import convert
from ..job import Job
from .model import Deck
from .pptx import read as read_pptx


def read(source: bytes, job: Job) -> Deck:
    """Read a ppt, pot or pps file.

    Raises:
        ConversionError: LibreOffice is not installed, or cannot read it.
    """
    return read_pptx(convert(source, "ppt", "pptx", job), job)
