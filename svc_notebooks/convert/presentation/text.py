"""Writes the text and the notes of each slide as plain text."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator

from ..job import Job
from .model import Deck, Shape, Slide, SlidePicture, SlideTable, Text, label, with_numbers

_ORDER = {"title": 0, "footer": 2}


def write(deck: Deck, job: Job) -> bytes:
    """Return the text of all slides in UTF-8 with a byte order mark, CRLF line ends, and empty lines between slides."""
    text = "\r\n\r\n\r\n".join("\r\n".join(_slide(slide)) for slide in deck.slides)
    return BOM_UTF8 + (text + "\r\n" if text else "").encode()


def _slide(slide: Slide) -> Iterator[str]:
    for shape in sorted(slide.shapes, key=lambda shape: _ORDER.get(getattr(shape, "role", ""), 1)):
        yield from _shape(shape)
    for shape in slide.behind:
        if not isinstance(shape, SlidePicture):
            yield from _shape(shape)
    if slide.notes:
        yield from ("", "Notes:", *slide.notes.splitlines())


def _shape(shape: Shape) -> Iterator[str]:
    match shape:
        case Text():
            for paragraph, number in with_numbers(shape.paragraphs):
                marker = {"bullet": "* ", "number": f"{label(paragraph, number)} ", "": ""}[paragraph.marker]
                first, *others = paragraph.text.split("\n")
                indent = "  " * paragraph.level
                yield from (indent + marker + first, *(indent + " " * len(marker) + line for line in others))
        case SlideTable():
            for row in shape.rows:
                yield "\t".join(" ".join(cell.text.split()) if cell else "" for cell in row)
        case SlidePicture() if shape.alt:
            yield f"[{' '.join(shape.alt.split())}]"
