"""The model of a native drawing, which contains safe SVG and the size of the page, and its writers."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass

from ..engines.typst import render
from ..input import native_package
from ..job import Job

WIDTH, HEIGHT = 960.0, 720.0  # the page size of a new drawing, in pixels of 1/96 inch
_EMPTY = '<svg xmlns="http://www.w3.org/2000/svg" width="960" height="720" viewBox="0 0 960 720"></svg>'


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawing as safe SVG. Sizes are in pixels of 1/96 inch. `Drawing()` is an empty page.

    >>> Drawing.unpack(Drawing().pack()) == Drawing()
    True
    """

    svg: str = _EMPTY
    width: float = WIDTH
    height: float = HEIGHT

    def pack(self) -> bytes:
        """Serialize the drawing to the bytes that the service stores."""
        return native_package.pack({"svg": self.svg, "width": self.width, "height": self.height}, {})

    @classmethod
    def unpack(cls, body: bytes) -> Drawing:
        """Restore the drawing from the bytes that `pack` returned."""
        value, _ = native_package.unpack(body)
        return cls(**value)


_TEMPLATE = "drawing/page.typ"
_PPI = 96.0
_QUALITY = 92
_TAG = re.compile("<[^>]*>")


def svg(drawing: Drawing, job: Job) -> bytes:
    """Return the drawing as an SVG file in UTF-8."""
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + drawing.svg.encode()


def pdf(drawing: Drawing, job: Job) -> bytes:
    """Return a PDF with one page of the drawing's size. Lines and text remain vector graphics and text."""
    return _render(drawing, job, "pdf")


def png(drawing: Drawing, job: Job) -> bytes:
    """Return a PNG of the drawing's size in pixels, with a transparent background."""
    return _render(drawing, job, "png")


def jpeg(drawing: Drawing, job: Job) -> bytes:
    """Return a JPEG of the drawing's size in pixels, with a white background."""
    from PIL import Image

    picture = Image.open(io.BytesIO(png(drawing, job)), formats=["PNG"]).convert("RGBA")
    paper = Image.new("RGB", picture.size, "white")
    paper.paste(picture, mask=picture.getchannel("A"))
    target = io.BytesIO()
    paper.save(target, "JPEG", quality=_QUALITY)
    return target.getvalue()


def _render(drawing: Drawing, job: Job, format: str) -> bytes:
    visible_text = _TAG.sub(" ", drawing.svg)  # `render` chooses fonts for this text
    data = {"width": drawing.width, "height": drawing.height, "title": job.name, "words": visible_text}
    resources = {"drawing.svg": drawing.svg.encode()}
    return render(job, _TEMPLATE, data, resources, format, ppi=_PPI)  # type: ignore[arg-type]
