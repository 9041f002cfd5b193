"""Reads slides of PowerPoint 97 to 2003: LibreOffice converts them to pptx."""

from __future__ import annotations

from ..engines.libreoffice import convert
from ..job import Job
from .model import Deck
from .pptx import read as read_pptx


def read(source: bytes, job: Job) -> Deck:
    """A deck out of a ppt, pot or pps.

    Raises:
        ConversionError: LibreOffice is not installed, or cannot read it.
    """
    return read_pptx(convert(source, "ppt", "pptx", job), job)
