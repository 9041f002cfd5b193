"""Writes an OpenDocument presentation with nothing but the standard library."""

from __future__ import annotations

import io
import zipfile

from ...input.native_package import zip_timestamp
from ...job import Job
from ..crops import with_cropped_pictures
from ..model import Deck, Slide, SlidePicture
from .master_page import lists, manifest, meta, styles
from .namespaces import MIMETYPE
from .write_shapes import OdpPageWriter
from .xml import AutomaticStyles, document, tag, text_content

_NOTES = {"svg:width": "16.9cm", "svg:height": "11.4cm", "svg:x": "1.9cm", "svg:y": "12cm"}


def write(deck: Deck, job: Job) -> bytes:
    """Return an odp file, with a blank slide if there are none, as programs expect."""
    deck = with_cropped_pictures(deck, job)
    files = {
        "content.xml": _content(deck),
        "styles.xml": styles(deck.width, deck.height),
        "meta.xml": meta(deck.title or job.name, job.now),
    }
    files |= {f"Pictures/{name}": data for name, data in deck.pictures.items() if name.isascii()}
    target = io.BytesIO()
    timestamp = zip_timestamp(job.now)
    # `mimetype` is first and not compressed, so that the first bytes show the type (ODF 1.2 part 3, 3.3).
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr(zipfile.ZipInfo("mimetype", timestamp), MIMETYPE, zipfile.ZIP_STORED)
        for path, data in {**files, "META-INF/manifest.xml": manifest(list(files))}.items():
            compression = zipfile.ZIP_DEFLATED if path.endswith(".xml") else zipfile.ZIP_STORED
            archive.writestr(zipfile.ZipInfo(path, timestamp), data, compression)
    return target.getvalue()


def _content(deck: Deck) -> bytes:
    automatic_styles = AutomaticStyles()
    slides = "".join(_slide(slide, n, deck, automatic_styles) for n, slide in enumerate(deck.slides or (Slide(),), 1))
    return document(
        "office:document-content",
        tag("office:automatic-styles", None, automatic_styles.styles(), lists()),
        tag("office:body", None, tag("office:presentation", None, slides)),
    )


def _slide(slide: Slide, number: int, deck: Deck, automatic_styles: AutomaticStyles) -> str:
    attributes = {"draw:name": f"page{number}", "draw:master-page-name": "Default"}
    attributes["draw:style-name"] = automatic_styles.name("drawing-page", [_background(slide)])
    writer = OdpPageWriter(automatic_styles)
    shapes = (
        writer.shape(shape)
        for shape in (*slide.behind, *slide.shapes)
        if not isinstance(shape, SlidePicture) or shape.name in deck.pictures
    )
    return tag("draw:page", attributes, *shapes, _notes(slide.notes) if slide.notes else "")


def _background(slide: Slide) -> str:
    attributes = {"presentation:background-visible": "true", "presentation:background-objects-visible": "true"}
    if slide.background:
        attributes |= {"draw:fill": "solid", "draw:fill-color": f"#{slide.background}"}
    if slide.hidden:
        attributes["presentation:visibility"] = "hidden"
    return tag("style:drawing-page-properties", attributes)


def _notes(notes: str) -> str:
    paragraphs = (tag("text:p", None, text_content(line)) for line in notes.split("\n"))
    frame = _NOTES | {"presentation:style-name": "Default-notes", "presentation:class": "notes"}
    return tag("presentation:notes", None, tag("draw:frame", frame, tag("draw:text-box", None, *paragraphs)))
