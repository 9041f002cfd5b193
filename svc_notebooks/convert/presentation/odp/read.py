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
from ..image_store import Album
from ..model import MOST_SLIDES, Box, Deck, Shape, Slide, SlidePicture, page
from .namespaces import length, name
from .shapes import OdpShapeReader
from .styles import Looks
from .text import is_color

_PART = 50 * MIB
_DAMAGED = "the file is damaged: {0} is missing or broken."
_BACK = "drawing-page/"


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
            if self.archive.getinfo(path).file_size > _PART and path.endswith(".xml"):
                raise TooLarge(f"{path} has more than {_PART} bytes.")
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
        self._files, self._job, self._album = files, job, Album(job)
        self._content = files.xml("content.xml")
        self._styles = files.xml("styles.xml", b"<none/>")
        common = self._styles.findall(name("office:styles"))
        self._looks = Looks([*common, *self._content.findall(name("office:automatic-styles"))])
        self._master_looks = Looks([*common, *self._styles.findall(name("office:automatic-styles"))])
        self._behind: dict[str, tuple[Shape, ...]] = {}

    def deck(self) -> Deck:
        """All of it."""
        body = self._content.find(f"{name('office:body')}/{name('office:presentation')}")
        if body is None:
            raise ConversionError("the file is an OpenDocument file, but no presentation.")
        pages = body.findall(name("draw:page"))
        if len(pages) > MOST_SLIDES:
            raise TooLarge(f"the presentation has more than {MOST_SLIDES} slides.")
        slides = tuple(self._slide(element) for element in pages)
        return Deck(*self._page, slides, self._title(), self._album.pictures)

    @cached_property
    def _masters(self) -> Mapping[str, Any]:
        return {it.get(name("style:name"), ""): it for it in self._styles.iter(name("style:master-page"))}

    @cached_property
    def _page(self) -> tuple[int, int]:
        """The size of the first slide's page: a deck has one size."""
        first = next(self._content.iter(name("draw:page")), None)
        master = None if first is None else self._master(first)
        wanted = None if master is None else master.get(name("style:page-layout-name"))
        for layout in self._styles.iter(name("style:page-layout")):
            properties = layout.find(name("style:page-layout-properties"))
            if layout.get(name("style:name")) == wanted and properties is not None:
                sizes = (length(properties.get(name(f"fo:page-{side}"))) for side in ("width", "height"))
                width, height = (size or 0 for size in sizes)
                if width and height:
                    return page(width, height)
        return Deck().width, Deck().height

    def _master(self, element: Any) -> Any:
        return self._masters.get(element.get(name("draw:master-page-name"), ""))

    def _slide(self, element: Any) -> Slide:
        master = self._master(element)
        facts = self._looks.facts("drawing-page", element.get(name("draw:style-name")))
        shapes = tuple(self._reader(self._looks, master).shapes(element))
        shade, behind = self._background(facts, master)
        if master is not None and facts.get(_BACK + name("presentation:background-objects-visible")) != "false":
            behind += self._drawn_behind(master)
        hidden = facts.get(_BACK + name("presentation:visibility")) == "hidden"
        return Slide(shapes, behind, shade, self._notes(element), hidden)

    def _reader(self, looks: Looks, master: Any) -> OdpShapeReader:
        return OdpShapeReader(looks, self._files, self._album, self._job, self._page, master)

    def _drawn_behind(self, master: Any) -> tuple[Shape, ...]:
        key = master.get(name("style:name"), "")
        if key not in self._behind:
            self._behind[key] = tuple(self._reader(self._master_looks, None).shapes(master, placeholders=False))
        return self._behind[key]

    def _background(self, facts: Mapping[str, str], master: Any) -> tuple[str | None, tuple[Shape, ...]]:
        """The colour of the page, or the picture on it: the slide's own or its master's."""
        if _BACK + name("draw:fill") not in facts and master is not None:
            facts = self._master_looks.facts("drawing-page", master.get(name("draw:style-name")))
        kind = facts.get(_BACK + name("draw:fill"), "none")
        color = facts.get(_BACK + name("draw:fill-color"), "").lstrip("#").lower()
        if kind in ("solid", "gradient", "hatch") and is_color(color) and color != "ffffff":
            return color, ()
        return None, self._background_picture(
            facts.get(_BACK + name("draw:fill-image-name")) if kind == "bitmap" else None
        )

    def _background_picture(self, wanted: str | None) -> tuple[Shape, ...]:
        for image in self._styles.iter(name("draw:fill-image")) if wanted else ():
            if image.get(name("draw:name")) == wanted:
                found = self._reader(self._looks, None).named(image)
                return (SlidePicture(Box(0, 0, *self._page), found),) if found else ()
        return ()

    def _notes(self, element: Any) -> str:
        frames = element.iterfind(f"{name('presentation:notes')}/{name('draw:frame')}")
        reader = self._reader(self._looks, None)
        found = [reader.plain(frame) for frame in frames if frame.get(name("presentation:class")) == "notes"]
        return "\n".join(found).strip()

    def _title(self) -> str:
        meta = self._files.xml("meta.xml", b"<none/>")
        return clean.text(next((it.text or "" for it in meta.iter(name("dc:title"))), ""))
