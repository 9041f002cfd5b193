"""Reads OpenDocument presentations (odp)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from ...input.detect import OLE
from ...input.zip_file import open_archive
from ...job import ConversionError, Job, TooLarge
from .. import clean
from ..image_store import ImageStore
from ..model import MAX_SLIDES, Box, Deck, Shape, Slide, SlidePicture, clamp_page_size
from .namespaces import length, name
from .shapes import ArchiveFiles, OdpShapeReader
from .styles import OdpStyles
from .text import is_color

_DRAWING_PAGE = "drawing-page/"


def read(source: bytes, job: Job) -> Deck:
    """Read an odp file as a deck. Raises ConversionError if the file is not valid, and TooLarge above a size limit."""
    if source.startswith(OLE):
        raise ConversionError("the file is a presentation in an older format, not an OpenDocument presentation.")
    with open_archive(source, job.limits) as archive:
        files = ArchiveFiles(archive)
        if b"encryption-data" in files.data("META-INF/manifest.xml", b""):
            raise ConversionError("the file is encrypted; save the file without a password.")
        return OdpReader(files, job).deck()


class OdpReader:
    """Reads the slides of one presentation."""

    def __init__(self, files: ArchiveFiles, job: Job) -> None:
        self._files, self._job, self._image_store = files, job, ImageStore(job)
        self._content = files.xml("content.xml")
        self._styles = files.xml("styles.xml", b"<none/>")
        common = self._styles.findall(name("office:styles"))
        self._content_styles = OdpStyles([*common, *self._content.findall(name("office:automatic-styles"))])
        self._master_styles = OdpStyles([*common, *self._styles.findall(name("office:automatic-styles"))])
        self._background_shapes_by_master: dict[str, tuple[Shape, ...]] = {}

    def deck(self) -> Deck:
        """Read all slides, the page size and the title. Raises ConversionError if the file is not a presentation."""
        body = self._content.find(f"{name('office:body')}/{name('office:presentation')}")
        if body is None:
            raise ConversionError("the file is an OpenDocument file, but not a presentation.")
        pages = body.findall(name("draw:page"))
        if len(pages) > MAX_SLIDES:
            raise TooLarge(f"the presentation has more than {MAX_SLIDES} slides.")
        slides = tuple(self._slide(element) for element in pages)
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

    def _slide(self, element: Any) -> Slide:
        master = self._master(element)
        properties = self._content_styles.properties("drawing-page", element.get(name("draw:style-name")))
        shapes = tuple(self._reader(self._content_styles, master).shapes(element))
        fill_color, background_shapes = self._background(properties, master)
        if (
            master is not None
            and properties.get(_DRAWING_PAGE + name("presentation:background-objects-visible")) != "false"
        ):
            background_shapes += self._background_shapes(master)
        hidden = properties.get(_DRAWING_PAGE + name("presentation:visibility")) == "hidden"
        return Slide(shapes, background_shapes, fill_color, self._notes(element), hidden)

    def _reader(self, styles: OdpStyles, master: Any) -> OdpShapeReader:
        return OdpShapeReader(styles, self._files, self._image_store, self._job, self._page, master)

    def _background_shapes(self, master: Any) -> tuple[Shape, ...]:
        key = master.get(name("style:name"), "")
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

    def _notes(self, element: Any) -> str:
        frames = element.iterfind(f"{name('presentation:notes')}/{name('draw:frame')}")
        reader = self._reader(self._content_styles, None)
        notes = [reader.plain_text(frame) for frame in frames if frame.get(name("presentation:class")) == "notes"]
        return "\n".join(notes).strip()
