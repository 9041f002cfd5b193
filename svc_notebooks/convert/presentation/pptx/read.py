"""Reads PowerPoint presentations (pptx)."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from typing import Any

import pptx
from pptx.presentation import Presentation

from ...engines import libreoffice
from ...input.zip_file import open_archive
from ...job import MIB, ConversionError, Job, TooLarge
from .. import clean
from ..clean import ImageStore
from ..model import MAX_SLIDES, Box, Deck, Shape, Slide, SlidePicture, clamp_page_size
from .shapes import PptxShapeReader
from .slide_theme import A, P, R, SlideTheme, color_map_override, fill, number, slide_theme_of, theme_color

_MAX_PART = 50 * MIB
_TYPES, _RELATIONSHIPS = "[Content_Types].xml", "_rels/.rels"
_PRESENTATION_TYPE = b"application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml"
_OTHER_TYPES = re.compile(
    rb"application/vnd\.(?:openxmlformats-officedocument\.presentationml\.(?:template|slideshow)"
    rb"|ms-powerpoint\.(?:presentation|slideshow|template)\.macroEnabled)\.main\+xml"
)

_STRICT = b"http://purl.oclc.org/ooxml/"
_NAMESPACES = tuple(
    (_STRICT + name, b"http://schemas.openxmlformats.org/" + name + b"2006/")
    for name in (b"officeDocument/", b"drawingml/", b"presentationml/")
)
"""The namespaces of strict files, and those of other files, which python-pptx requires."""


def open_package(source: bytes, job: Job) -> Presentation:
    """Open a file with python-pptx. Raises ConversionError if the file is invalid, and TooLarge above a limit."""
    with open_archive(source, job.limits) as archive:
        names = archive.namelist()
        if _TYPES not in names:
            raise ConversionError("the file is not a PowerPoint presentation: [Content_Types].xml is missing.")
        if sum(name.startswith("ppt/slides/slide") for name in names) > MAX_SLIDES:
            raise TooLarge(f"the presentation has more than {MAX_SLIDES} slides.")
        if any(entry.file_size > _MAX_PART and entry.filename.endswith(".xml") for entry in archive.infolist()):
            raise TooLarge(f"a part of the presentation has more than {_MAX_PART} bytes of XML.")
        plain = _as_presentation(source, archive)
    try:
        presentation = pptx.Presentation(io.BytesIO(plain))
    except Exception as error:  # python-pptx lets errors of all kinds through
        raise ConversionError("the file is damaged: required parts are missing or broken.") from error
    return presentation


def _as_presentation(source: bytes, archive: zipfile.ZipFile) -> bytes:
    """Return the file with the content type and namespaces of python-pptx. Raises ConversionError for other files."""
    try:
        types = archive.read(_TYPES)
        strict = _RELATIONSHIPS in archive.namelist() and _STRICT in archive.read(_RELATIONSHIPS)
        if _PRESENTATION_TYPE in types and not strict:
            return source
        patched = _OTHER_TYPES.sub(_PRESENTATION_TYPE, types)
        if _PRESENTATION_TYPE not in patched:
            raise ConversionError("the file is not a PowerPoint presentation.")
        target = io.BytesIO()
        with zipfile.ZipFile(target, "w") as copy:
            for entry in archive.infolist():
                part = patched if entry.filename == _TYPES else archive.read(entry)
                for own, other in _NAMESPACES if strict and entry.filename.endswith((".xml", ".rels")) else ():
                    part = part.replace(own, other)
                copy.writestr(entry.filename, part)
        return target.getvalue()
    except (zipfile.BadZipFile, EOFError, NotImplementedError, OSError) as error:
        raise ConversionError("the file is damaged.") from error


_WHITE = "ffffff"
_NO_TITLE = "PowerPoint Presentation"  # PowerPoint's default title


def read(source: bytes, job: Job) -> Deck:
    """Read a PowerPoint file (2007 or later). Raises ConversionError if the file is invalid, TooLarge above a limit."""
    return PptxReader(open_package(source, job), job).deck()


def read_ppt(source: bytes, job: Job) -> Deck:
    """Read a ppt, pot or pps file, which LibreOffice converts first. Raises the same exceptions as `read`."""
    return read(libreoffice.convert(source, "ppt", "pptx", job), job)


class PptxReader:
    """Reads the slides of one presentation. The shapes of a layout are read once for each theme."""

    def __init__(self, presentation: Any, job: Job) -> None:
        self._presentation, self._job = presentation, job
        self._root = presentation.part._element
        self._page = clamp_page_size(
            presentation.slide_width or Deck().width, presentation.slide_height or Deck().height
        )
        self._image_store = ImageStore(job)
        self._slide_themes: dict[str, SlideTheme] = {}
        self._background_shapes_by_theme: dict[str, tuple[Shape, ...]] = {}

    def deck(self) -> Deck:
        """Read all slides, the page size and the title. Raises ConversionError if a slide is missing in the file."""
        start = int(number(self._root.get("firstSlideNum"), 1))
        slides = tuple(self._slide(part, number) for number, part in enumerate(self._parts(), start))
        try:
            title = clean.text(str(self._presentation.core_properties.title or ""))
        except (KeyError, ValueError, AttributeError):
            title = ""
        title = "" if title == _NO_TITLE else title
        return Deck(*self._page, slides, title, self._image_store.pictures)

    def _parts(self) -> Iterator[Any]:
        for entry in self._root.iterfind(f"{P}sldIdLst/{P}sldId"):
            relationship = self._presentation.part.rels.get(entry.get(f"{R}id", ""))
            if relationship is None or relationship.is_external:
                raise ConversionError("the file is damaged: a slide is missing.")
            yield relationship.target_part

    def _slide(self, part: Any, number: int) -> Slide:
        root, slide_theme = part._element, self._slide_theme(part)
        shapes = tuple(self._reader(part, slide_theme, number).shapes(root, placeholders=True))
        fill_color, background_shapes = self._background(part, slide_theme)
        if root.get("showMasterSp", "1") not in ("0", "false"):
            background_shapes += self._background_shapes(slide_theme, number)
        return Slide(shapes, background_shapes, fill_color, self._notes(part), root.get("show", "1") in ("0", "false"))

    def _slide_theme(self, part: Any) -> SlideTheme:
        layout = next((r.target_part for r in part.rels.values() if r.reltype.endswith("/slideLayout")), None)
        key = "" if layout is None else str(layout.partname)
        if color_map_override(part) is not None:
            key += f" {part.partname}"
        if key not in self._slide_themes:
            self._slide_themes[key] = slide_theme_of(part, self._presentation.part)
        return self._slide_themes[key]

    def _reader(self, part: Any, slide_theme: SlideTheme, number: int | None = None) -> PptxShapeReader:
        return PptxShapeReader(part, slide_theme, self._image_store, self._job, self._page, number)

    def _background_shapes(self, slide_theme: SlideTheme, number: int) -> tuple[Shape, ...]:
        if slide_theme.layout is None:
            return ()
        parts = [slide_theme.layout_part]
        if slide_theme.layout.get("showMasterSp", "1") not in ("0", "false") and slide_theme.master is not None:
            parts.insert(0, slide_theme.master_part)
        key = str(id(slide_theme))  # which `_slide_themes` keeps
        if any(_has_slide_number(part._element) for part in parts):
            key += f" {number}"
        if key not in self._background_shapes_by_theme:
            shapes_of_parts = [
                self._reader(part, slide_theme, number).shapes(part._element, placeholders=False) for part in parts
            ]
            self._background_shapes_by_theme[key] = tuple(shape for shapes in shapes_of_parts for shape in shapes)
        return self._background_shapes_by_theme[key]

    def _background(self, part: Any, slide_theme: SlideTheme) -> tuple[str | None, tuple[Shape, ...]]:
        """Return the background colour and a tuple with the background picture of a slide, its layout or its master.

        The colour is None if the background is white or has no colour. The tuple is empty without a picture.
        """
        parts = [it for it in (part, slide_theme.layout_part, slide_theme.master_part) if it is not None]
        background = next(((it, bg) for it in parts if (bg := it._element.find(f"{P}cSld/{P}bg")) is not None), None)
        if background is None:
            return None, ()
        owner, element = background
        blip = element.find(f"{P}bgPr/{A}blipFill/{A}blip")
        name = None if blip is None else self._reader(owner, slide_theme).image_name(blip)
        colors = slide_theme.colors
        fill_color = fill(element.find(f"{P}bgPr"), colors)
        fill_color = fill_color or theme_color(slide_theme.formats, element.find(f"{P}bgRef"), colors) or ""
        picture = (SlidePicture(Box(0, 0, *self._page), name),) if name else ()
        return (None if fill_color in ("", _WHITE) else fill_color[:6]), picture

    def _notes(self, part: Any) -> str:
        notes = next((r.target_part for r in part.rels.values() if r.reltype.endswith("/notesSlide")), None)
        tree = () if notes is None else notes._element.iter(f"{P}sp")
        lines = [
            "".join(
                "\n" if part.tag == f"{A}br" else clean.ooxml_text(part.text or "")
                for part in paragraph.iter(f"{A}t", f"{A}br")
            )
            for shape in tree
            if shape.find(f"{P}nvSpPr/{P}nvPr/{P}ph[@type='body']") is not None
            for paragraph in shape.iterfind(f"{P}txBody/{A}p")
        ]
        return "\n".join(lines).strip()


def _has_slide_number(root: Any) -> bool:
    """Return whether a layout or master shows the slide number in a shape that is not a placeholder."""
    fields = root.iter(f"{A}fld")
    return any(
        field.get("type") == "slidenum" and next(field.iterancestors(f"{P}sp"), root).find(f".//{P}ph") is None
        for field in fields
    )
