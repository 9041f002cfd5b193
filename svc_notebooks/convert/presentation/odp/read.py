"""Reads an OpenDocument presentation."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lxml import etree

from ...input.detect import OLE
from ...input.zip_file import open_archive
from ...job import MIB, ConversionError, Job, TooLarge
from .. import clean
from ..image_store import ImageStore
from ..model import MAX_SLIDES, Box, Deck, Shape, Slide, SlidePicture, clamp_page_size
from .namespaces import length, name
from .shapes import OdpShapeReader
from .styles import OdpStyles
from .text import is_color

_MAX_PART = 50 * MIB
_DAMAGED = "the file is damaged: {0} is missing or broken."
_DRAWING_PAGE = "drawing-page/"


def read(source: bytes, job: Job) -> Deck:
    """A deck out of an odp.

    Raises:
        ConversionError: it is damaged, encrypted or no presentation; TooLarge: it would need too much.
    """
    if source.startswith(OLE):
        raise ConversionError("the file is no OpenDocument presentation, but one of an older kind.")
    with open_archive(source, job.limits) as archive:
        files = ArchiveFiles(archive)
        if b"encryption-data" in files.data("META-INF/manifest.xml", b""):
            raise ConversionError("the file is encrypted; send it without a password.")
        return OdpReader(files, job).deck()


@dataclass(frozen=True, slots=True)
class ArchiveFiles:
    """What is in the archive, as bytes or as XML."""

    archive: zipfile.ZipFile

    def data(self, path: str, otherwise: bytes | None = None) -> bytes:
        """A member's bytes, or `otherwise` where there is none."""
        try:
            if self.archive.getinfo(path).file_size > _MAX_PART and path.endswith(".xml"):
                raise TooLarge(f"{path} has more than {_MAX_PART} bytes.")
            return self.archive.read(path)
        except KeyError:
            if otherwise is not None:
                return otherwise
            raise ConversionError(_DAMAGED.format(path)) from None
        except (zipfile.BadZipFile, EOFError, NotImplementedError, OSError, RuntimeError) as error:
            raise ConversionError(_DAMAGED.format(path)) from error

    def xml(self, path: str, otherwise: bytes | None = None) -> Any:
        """A member's XML: no entities, nothing fetched."""
        parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True)
        try:
            return etree.fromstring(self.data(path, otherwise), parser)
        except etree.XMLSyntaxError as error:
            raise ConversionError(_DAMAGED.format(path)) from error


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
        """All of it."""
        body = self._content.find(f"{name('office:body')}/{name('office:presentation')}")
        if body is None:
            raise ConversionError("the file is an OpenDocument file, but no presentation.")
        pages = body.findall(name("draw:page"))
        if len(pages) > MAX_SLIDES:
            raise TooLarge(f"the presentation has more than {MAX_SLIDES} slides.")
        slides = tuple(self._slide(element) for element in pages)
        return Deck(*self._page, slides, self._title(), self._image_store.pictures)

    @cached_property
    def _masters(self) -> Mapping[str, Any]:
        return {it.get(name("style:name"), ""): it for it in self._styles.iter(name("style:master-page"))}

    @cached_property
    def _page(self) -> tuple[int, int]:
        """The size of the first slide's page: a deck has one size."""
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
        """The colour of the page, or the picture on it: the slide's own or its master's."""
        if _DRAWING_PAGE + name("draw:fill") not in properties and master is not None:
            properties = self._master_styles.properties("drawing-page", master.get(name("draw:style-name")))
        kind = properties.get(_DRAWING_PAGE + name("draw:fill"), "none")
        color = properties.get(_DRAWING_PAGE + name("draw:fill-color"), "").lstrip("#").lower()
        if kind in ("solid", "gradient", "hatch") and is_color(color) and color != "ffffff":
            return color, ()
        return None, self._background_picture(
            properties.get(_DRAWING_PAGE + name("draw:fill-image-name")) if kind == "bitmap" else None
        )

    def _background_picture(self, image_name: str | None) -> tuple[Shape, ...]:
        for image in self._styles.iter(name("draw:fill-image")) if image_name else ():
            if image.get(name("draw:name")) == image_name:
                picture = self._reader(self._content_styles, None).image_name(image)
                return (SlidePicture(Box(0, 0, *self._page), picture),) if picture else ()
        return ()

    def _notes(self, element: Any) -> str:
        frames = element.iterfind(f"{name('presentation:notes')}/{name('draw:frame')}")
        reader = self._reader(self._content_styles, None)
        notes = [reader.plain_text(frame) for frame in frames if frame.get(name("presentation:class")) == "notes"]
        return "\n".join(notes).strip()

    def _title(self) -> str:
        meta = self._files.xml("meta.xml", b"<none/>")
        return clean.text(next((it.text or "" for it in meta.iter(name("dc:title"))), ""))
