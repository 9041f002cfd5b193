"""Reads PowerPoint 97 to 2003 presentations (ppt), which LibreOffice converts to pptx first."""

from __future__ import annotations

from ..engines.libreoffice import convert
from ..job import Job
from .model import Deck
from .pptx import read as read_pptx


def read(source: bytes, job: Job) -> Deck:
    """Read a ppt, pot or pps file. Raises ConversionError if LibreOffice fails, and TooLarge above a limit."""
    return read_pptx(convert(source, "ppt", "pptx", job), job)
