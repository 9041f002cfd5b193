"""Writes an OpenDocument presentation with nothing but the standard library."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Mapping

from ...input.native_package import zip_timestamp
from ...job import Job
from ..crops import with_cropped_pictures
from ..model import Deck, Shape, Slide, SlidePicture
from .master_page import lists, manifest, meta, styles
from .namespaces import MIMETYPE
from .write_shapes import OdpPageWriter
from .xml import AutomaticStyles, document, tag, text_content

_NOTES = {"svg:width": "16.9cm", "svg:height": "11.4cm", "svg:x": "1.9cm", "svg:y": "12cm"}


def write(deck: Deck, job: Job) -> bytes:
    """An odp file. One of no slides has a blank one, as every program expects."""
    deck = with_cropped_pictures(deck, job)
    files = {
        "content.xml": _content(deck),
        "styles.xml": styles(deck.width, deck.height),
        "meta.xml": meta(deck.title or job.name, job.now),
    }
    files |= {f"Pictures/{name}": data for name, data in _ascii_pictures(deck).items()}
    return _zipped(files, job)


def _ascii_pictures(deck: Deck) -> Mapping[str, bytes]:
    return {name: data for name, data in deck.pictures.items() if name.isascii()}


def _zipped(files: Mapping[str, bytes], job: Job) -> bytes:
    """`mimetype` first and as it is, so that the file can be told from its first bytes (ODF 1.2 part 3, 3.3)."""
    target = io.BytesIO()
    timestamp = zip_timestamp(job.now)
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
    shapes = "".join(map(OdpPageWriter(automatic_styles).shape, _drawable((*slide.behind, *slide.shapes), deck)))
    return tag("draw:page", attributes, shapes, _notes(slide.notes) if slide.notes else "")


def _drawable(shapes: Iterable[Shape], deck: Deck) -> Iterable[Shape]:
    return (shape for shape in shapes if not isinstance(shape, SlidePicture) or shape.name in deck.pictures)


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
