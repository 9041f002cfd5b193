"""Reads OpenDocument presentations (odp)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from ...input.odf_file import OdfPackage, OdfStyles, length, name, open_package
from ...job import ConversionError, Job, TooLarge
from .. import clean
from ..clean import ImageStore
from ..model import MAX_SLIDES, Box, Deck, Shape, Slide, SlidePicture, clamp_page_size, mix
from .shapes import OdpShapeReader, is_color

_DRAWING_PAGE = "drawing-page/"
_CLASS = name("presentation:class")
_NUMBER = name("text:page-number")
_FIELDS = (_NUMBER, name("presentation:footer"), name("presentation:date-time"))
_FOOTERS = ("footer", "date-time", "page-number")
_GRADIENT = name("draw:gradient")


def read(source: bytes, job: Job) -> Deck:
    """Read an odp file as a deck. Raises ConversionError if the file is not valid, and TooLarge above a size limit."""
    with open_package(source, job) as package:
        return OdpReader(package, job).deck()


class OdpReader:
    """Reads the slides of one presentation."""

    def __init__(self, files: OdfPackage, job: Job) -> None:
        self._files, self._job, self._image_store = files, job, ImageStore(job)
        self._content = files.xml("content.xml")
        self._styles = files.xml("styles.xml", b"<none/>")
        common = self._styles.findall(name("office:styles"))
        self._content_styles = OdfStyles([*common, *self._content.findall(name("office:automatic-styles"))])
        self._master_styles = OdfStyles([*common, *self._styles.findall(name("office:automatic-styles"))])
        self._gradients = {
            gradient.get(name("draw:name"), ""): _middle_color(gradient) for gradient in self._styles.iter(_GRADIENT)
        }
        self._background_shapes_by_master: dict[tuple[str, ...], tuple[Shape, ...]] = {}

    def deck(self) -> Deck:
        """Read all slides, the page size and the title. Raises ConversionError if the file is not a presentation."""
        body = self._content.find(f"{name('office:body')}/{name('office:presentation')}")
        if body is None:
            raise ConversionError("the file is an OpenDocument file, but not a presentation.")
        pages = body.findall(name("draw:page"))
        if len(pages) > MAX_SLIDES:
            raise TooLarge(f"the presentation has more than {MAX_SLIDES} slides.")
        slides = tuple(self._slide(element, number) for number, element in enumerate(pages, 1))
        meta = self._files.xml("meta.xml", b"<none/>")
        title = clean.text(next((element.text or "" for element in meta.iter(name("dc:title"))), ""))
        return Deck(*self._page, slides, title, self._image_store.pictures)

    @cached_property
    def _masters(self) -> Mapping[str, Any]:
        masters = self._styles.iter(name("style:master-page"))
        return {master.get(name("style:name"), ""): master for master in masters}

    @cached_property
    def _page(self) -> tuple[int, int]:
        """The width and height of the first slide in EMU, which apply to all slides of a deck."""
        first = next(self._content.iter(name("draw:page")), None)
        master = None if first is None else self._master(first)
        layout_name = None if master is None else master.get(name("style:page-layout-name"))
        for layout in self._styles.iter(name("style:page-layout")):
            properties = layout.find(name("style:page-layout-properties"))
            if layout.get(name("style:name")) == layout_name and properties is not None:
                sizes = (length(properties.get(name(f"fo:page-{side}"))) for side in ("width", "height"))
                width, height = (size or 0 for size in sizes)
                if width and height:
                    return clamp_page_size(width, height)
        return Deck().width, Deck().height

    def _master(self, element: Any) -> Any:
        return self._masters.get(element.get(name("draw:master-page-name"), ""))

    def _slide(self, element: Any, number: int) -> Slide:
        master = self._master(element)
        self._fill_fields(element, number, master)
        properties = self._content_styles.properties("drawing-page", element.get(name("draw:style-name")))
        shapes = tuple(self._reader(self._content_styles, master).shapes(element))
        fill_color, background_shapes = self._background(properties, master)
        if (
            master is not None
            and properties.get(_DRAWING_PAGE + name("presentation:background-objects-visible")) != "false"
        ):
            background_shapes += self._background_shapes(master)
        if master is not None:
            shapes += tuple(self._footers(master, properties))
        hidden = properties.get(_DRAWING_PAGE + name("presentation:visibility")) == "hidden"
        return Slide(shapes, background_shapes, fill_color, self._notes(element), hidden)

    def _reader(self, styles: OdfStyles, master: Any) -> OdpShapeReader:
        return OdpShapeReader(styles, self._files, self._image_store, self._job, self._page, master, self._gradients)

    def _background_shapes(self, master: Any) -> tuple[Shape, ...]:
        texts = (it.text or "" for shape in master if not shape.get(_CLASS) for it in shape.iter(*_FIELDS))
        key = (master.get(name("style:name"), ""), *texts)
        if key not in self._background_shapes_by_master:
            self._background_shapes_by_master[key] = tuple(
                self._reader(self._master_styles, None).shapes(master, placeholders=False)
            )
        return self._background_shapes_by_master[key]

    def _background(self, properties: Mapping[str, str], master: Any) -> tuple[str | None, tuple[Shape, ...]]:
        """Return the background colour and a tuple with the background picture of a slide or of its master.

        The colour is None if the background is white or has no colour. The tuple is empty without a picture.
        """
        if _DRAWING_PAGE + name("draw:fill") not in properties and master is not None:
            properties = self._master_styles.properties("drawing-page", master.get(name("draw:style-name")))
        kind = properties.get(_DRAWING_PAGE + name("draw:fill"), "none")
        color = properties.get(_DRAWING_PAGE + name("draw:fill-color"), "").lstrip("#").lower()
        if kind in ("solid", "gradient", "hatch") and is_color(color) and color != "ffffff":
            return color, ()
        image_name = properties.get(_DRAWING_PAGE + name("draw:fill-image-name")) if kind == "bitmap" else None
        for image in self._styles.iter(name("draw:fill-image")) if image_name else ():
            if image.get(name("draw:name")) == image_name:
                picture = self._reader(self._content_styles, None).image_name(image)
                return None, (SlidePicture(Box(0, 0, *self._page), picture),) if picture else ()
        return None, ()

    def _fill_fields(self, element: Any, number: int, master: Any) -> None:
        """Write the number, the footer and the date of a slide into its fields and those of its master page."""
        declared = (
            self._declarations.get((f"{kind}-decl", element.get(name(f"presentation:use-{kind}-name"))), "")
            for kind in ("footer", "date-time")
        )
        texts = dict(zip(_FIELDS, (str(number), *declared), strict=True))
        for field in (*element.iter(_NUMBER), *(() if master is None else master.iter(*_FIELDS))):
            field.text = texts[field.tag]

    def _footers(self, master: Any, properties: Mapping[str, str]) -> Iterator[Shape]:
        """Yield the footers of the master page that the slide shows."""
        for frame in master.iterchildren(name("draw:frame")):
            kind = frame.get(_CLASS)
            if kind in _FOOTERS and properties.get(_DRAWING_PAGE + name(f"presentation:display-{kind}")) == "true":
                yield from self._reader(self._master_styles, None).shapes([frame])

    @cached_property
    def _declarations(self) -> Mapping[tuple[str, str | None], str]:
        elements = self._content.iter(*(name(f"presentation:{kind}-decl") for kind in ("footer", "date-time")))
        texts = ((it.tag.rpartition("}")[2], it.get(name("presentation:name")), it.text or "") for it in elements)
        return {(kind, declared): text for kind, declared, text in texts}

    def _notes(self, element: Any) -> str:
        """Return the text of the notes page, without the page number."""
        shapes = element.iterfind(f"{name('presentation:notes')}/*")
        reader = self._reader(self._content_styles, None)
        notes = [reader.plain_text(shape) for shape in shapes if shape.find(f".//{_NUMBER}") is None]
        return "\n".join(notes).strip()


def _middle_color(gradient: Any) -> str:
    """Return the colour in the middle of a gradient, or "" if it has no colours."""
    start, end = (gradient.get(name(f"draw:{it}-color"), "").lstrip("#").lower() for it in ("start", "end"))
    return mix(start, end, 0.5) if is_color(start) and is_color(end) else ""
