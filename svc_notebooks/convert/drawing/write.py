"""Writes a drawing as SVG, PNG, JPEG or PDF."""

from __future__ import annotations

import io
import re

from ..engines.typst import render
from ..job import Job
from .model import Drawing

_TEMPLATE = "drawing/page.typ"
_PPI = 96.0
_QUALITY = 92
_TAG = re.compile("<[^>]*>")


def svg(drawing: Drawing, job: Job) -> bytes:
    """The drawing as it is kept."""
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + drawing.svg.encode()


def pdf(drawing: Drawing, job: Job) -> bytes:
    """One page of the drawing's size: lines stay lines, text stays text."""
    return _render(drawing, job, "pdf")


def png(drawing: Drawing, job: Job) -> bytes:
    """A pixel for a pixel; what is not drawn on is seen through."""
    return _render(drawing, job, "png")


def jpeg(drawing: Drawing, job: Job) -> bytes:
    """A pixel for a pixel, on white."""
    from PIL import Image

    picture = Image.open(io.BytesIO(png(drawing, job)), formats=["PNG"]).convert("RGBA")
    paper = Image.new("RGB", picture.size, "white")
    paper.paste(picture, mask=picture.getchannel("A"))
    target = io.BytesIO()
    paper.save(target, "JPEG", quality=_QUALITY)
    return target.getvalue()


def _render(drawing: Drawing, job: Job, format: str) -> bytes:
    visible_text = _TAG.sub(" ", drawing.svg)  # not set from here: `render` looks whether there are fonts for them
    data = {"width": drawing.width, "height": drawing.height, "title": job.name, "words": visible_text}
    resources = {"drawing.svg": drawing.svg.encode()}
    return render(job, _TEMPLATE, data, resources, format, ppi=_PPI)  # type: ignore[arg-type]
