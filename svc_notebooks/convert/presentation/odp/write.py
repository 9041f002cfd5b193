"""Writes OpenDocument presentations (odp) with the standard library. Only the cropping of pictures needs Pillow."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace

from ...input.native_package import resource_name, zip_timestamp
from ...input.odf.namespaces import MIMETYPE
from ...job import ConversionError, Job
from ..model import Deck, Shape, Slide, SlidePicture
from .master_page import manifest, meta, styles
from .write_shapes import OdpPageWriter
from .xml import AutomaticStyles, document, tag, text_content

_NOTES = {"svg:width": "16.9cm", "svg:height": "11.4cm", "svg:x": "1.9cm", "svg:y": "12cm"}

_NO_CROP = (0.0, 0.0, 0.0, 0.0)


def write(deck: Deck, job: Job) -> bytes:
    """Return a deck as an odp file. If the deck has no slides, add a blank slide, since programs expect a slide."""
    deck = _with_cropped_pictures(deck, job)
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
        tag("office:automatic-styles", None, automatic_styles.styles()),
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


def _with_cropped_pictures(deck: Deck, job: Job) -> Deck:
    pictures = dict(deck.pictures)

    def crop(shape: Shape) -> Shape:
        if not isinstance(shape, SlidePicture) or shape.crop == _NO_CROP or shape.name not in deck.pictures:
            return shape
        data = _crop_png(deck.pictures[shape.name], shape.crop, job)
        if data is None:
            return shape
        name = resource_name(data, "png")
        pictures[name] = data
        return replace(shape, name=name, crop=_NO_CROP)

    slides = tuple(
        replace(slide, shapes=tuple(map(crop, slide.shapes)), behind=tuple(map(crop, slide.behind)))
        for slide in deck.slides
    )
    return replace(deck, slides=slides, pictures=pictures)


def _crop_png(data: bytes, crop: tuple[float, float, float, float], job: Job) -> bytes | None:
    """Return the visible area of a picture as PNG. Return None and add a note if the picture cannot be decoded."""
    try:
        from ...engines.images import encode_image, load_pixels, open_image

        image = load_pixels(open_image(data, job.limits))
    except (ImportError, ConversionError):
        job.note("the crop of a picture was removed.")
        return None
    left, top, right, bottom = crop
    width, height = image.size
    x, y = round(left * width), round(top * height)
    corner = max(x + 1, round((1 - right) * width)), max(y + 1, round((1 - bottom) * height))
    image = image.convert("RGBA") if image.mode not in ("1", "L", "RGB") else image
    return encode_image(image.crop((x, y, *corner)), "PNG").data
