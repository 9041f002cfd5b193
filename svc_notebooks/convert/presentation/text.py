"""Writes a presentation as plain text: the text of each slide, and its notes."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator

from ..job import Job
from .model import Deck, Paragraph, Shape, Slide, SlidePicture, SlideTable, Text
from .paragraphs import with_numbers

_BETWEEN = "\r\n\r\n\r\n"
_STEP = "  "


def write(deck: Deck, job: Job) -> bytes:
    """UTF-8 with its mark and the line ends of Windows, as documents are exported; two empty lines between slides."""
    slides = ("\r\n".join(_slide(slide)) for slide in deck.slides)
    text = _BETWEEN.join(slides)
    return BOM_UTF8 + (text + "\r\n" if text else "").encode()


def _slide(slide: Slide) -> Iterator[str]:
    """The title first, wherever it lies; then everything from the back to the front."""
    for shape in sorted(slide.shapes, key=lambda shape: not (isinstance(shape, Text) and shape.role == "title")):
        yield from _shape(shape)
    if slide.notes:
        yield from ("", "Notes:", *slide.notes.splitlines())


def _shape(shape: Shape) -> Iterator[str]:
    match shape:
        case Text(role="footer"):
            return
        case Text():
            for paragraph, number in with_numbers(shape.paragraphs):
                yield from _paragraph(paragraph, number)
        case SlideTable():
            for row in shape.rows:
                yield "\t".join(" ".join(cell.text.split()) if cell else "" for cell in row)
        case SlidePicture() if shape.alt:
            yield f"[{' '.join(shape.alt.split())}]"


def _paragraph(paragraph: Paragraph, number: int) -> Iterator[str]:
    marker = {"bullet": "* ", "number": f"{number}. ", "": ""}[paragraph.marker]
    first, *others = paragraph.text.split("\n")
    yield _STEP * paragraph.level + marker + first
    for line in others:
        yield _STEP * paragraph.level + " " * len(marker) + line
