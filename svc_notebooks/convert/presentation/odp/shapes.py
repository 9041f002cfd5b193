"""Reads the shapes of an odp page. The members of a group become separate shapes."""

from __future__ import annotations

import base64
import binascii
import re
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from math import cos, degrees, sin
from typing import Any

from lxml import etree

from ...job import MIB, ConversionError, Job, TooLarge
from .. import clean
from ..image_store import ImageStore
from ..model import Anchor, Box, Outline, Role, Shape, SlidePicture, SlideTable, Text
from .namespaces import length, name
from .styles import OdpStyles, StyleProperties
from .tables import table_of
from .text import OdpTextReader, is_color

_ROLES: dict[str, Role] = {
    "title": "title", "subtitle": "subtitle", "outline": "body",
    "footer": "footer", "header": "footer", "date-time": "footer", "page-number": "footer",
}  # fmt: skip
_ANCHORS: dict[str, Anchor] = {"middle": "middle", "bottom": "bottom"}
_OUTLINES: dict[str, Outline] = {"ellipse": "ellipse", "circle": "ellipse", "round-rectangle": "round"}
_FREEFORM_SHAPES = ("path", "polygon", "polyline", "line", "connector", "regular-polygon", "measure", "control")
_TRANSFORM = re.compile(r"(\w+)\s*\(([^)]{0,200})\)")
_GRAPHIC = "graphic/"
_MAX_DEPTH = 200
_MAX_PART = 50 * MIB
_DAMAGED = "the file is damaged: {0} is missing or broken."


@dataclass(frozen=True, slots=True)
class ArchiveFiles:
    """Reads the files in the zip archive of a presentation as bytes or as XML."""

    archive: zipfile.ZipFile

    def data(self, path: str, otherwise: bytes | None = None) -> bytes:
        """Return a file in the archive, or `otherwise` if the file is missing. Raises ConversionError or TooLarge."""
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
        """Return the root of an XML file, or of `otherwise` for a missing file. Raises ConversionError or TooLarge."""
        parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True)
        try:
            return etree.fromstring(self.data(path, otherwise), parser)
        except etree.XMLSyntaxError as error:
            raise ConversionError(_DAMAGED.format(path)) from error


@dataclass(frozen=True, slots=True)
class OdpShapeReader:
    """Reads the shapes of a page. A placeholder without a size takes its box from the master page."""

    styles: OdpStyles
    files: ArchiveFiles
    image_store: ImageStore
    job: Job
    page: tuple[int, int]
    master: Any

    def shapes(self, root: Any, *, placeholders: bool = True) -> Iterator[Shape]:
        """Yield the shapes of a page from back to front. If `placeholders` is false, skip placeholders."""
        for element in root:
            if placeholders or element.get(name("presentation:class")) is None:
                yield from self._shape(element, 0)

    def _shape(self, element: Any, depth: int) -> Iterator[Shape]:
        if element.get(name("presentation:placeholder")) == "true" or depth > _MAX_DEPTH:
            return
        kind = str(element.tag)
        if kind in (name("draw:g"), name("draw:a")):
            for child in element:
                yield from self._shape(child, depth + 1)
        elif kind == name("draw:frame"):
            yield from self._frame(element)
        elif kind.startswith(name("draw:")):
            yield from self._drawn_shape(element, kind.rpartition("}")[2])

    def _frame(self, element: Any) -> Iterator[Shape]:
        box = self._box(element)
        for child in element:
            match str(child.tag):
                case tag if tag == name("draw:text-box"):
                    yield from self._text(element, child, box)
                case tag if tag == name("table:table"):
                    table = table_of(child, box, self.styles, _alt(element))
                    if table is not None:
                        yield table
                case tag if tag == name("draw:object"):
                    chart = self._chart(child, box)
                    if chart is None:  # the next child is a picture of the object
                        continue
                    yield chart
                case tag if tag in (name("draw:image"), name("draw:plugin")):
                    picture = self.image_name(child)
                    if picture is None:
                        continue
                    if re.search("[1-9]", self._properties(element).get(_GRAPHIC + name("fo:clip"), "")):
                        self.job.note("the crop of a picture was removed.")
                    yield SlidePicture(box, picture, _alt(element))
                case _:
                    continue
            return

    def _text(self, element: Any, body: Any, box: Box, outline: Outline = "") -> Iterator[Shape]:
        properties = self._properties(element)
        outline_style = None
        if element.get(name("presentation:class")) == "outline":  # the parent style formats the first level
            parent = self.styles.parent("presentation", element.get(name("presentation:style-name"), ""))
            outline_style = parent.removesuffix("1") if parent.endswith("outline1") else None
        paragraphs = OdpTextReader(self.styles).paragraphs(body, properties, outline_style)
        fill, line = _color(properties, "fill"), _color(properties, "stroke")
        if not paragraphs and not fill and not line:
            return
        role = _ROLES.get(element.get(name("presentation:class"), ""), "")
        anchor = _ANCHORS.get(properties.get(_GRAPHIC + name("draw:textarea-vertical-align"), ""), "top")
        form: Outline = (outline or "rectangle") if fill or line else ""
        yield Text(box, paragraphs, role, anchor, form, fill, line, _alt(element))

    def _drawn_shape(self, element: Any, kind: str) -> Iterator[Shape]:
        if kind in _FREEFORM_SHAPES:
            self.job.note("lines and freehand shapes were left out; their text was kept.")
            paragraphs = OdpTextReader(self.styles).paragraphs(element, self._properties(element))
            if paragraphs:
                yield Text(self._box(element), paragraphs)
            return
        geometry = element.find(name("draw:enhanced-geometry"))
        form = kind if geometry is None else geometry.get(name("draw:type"), "")
        outline = "round" if element.get(name("draw:corner-radius")) else _OUTLINES.get(form, "")
        yield from self._text(element, element, self._box(element), outline)

    def _properties(self, element: Any) -> StyleProperties:
        placeholder = element.get(name("presentation:style-name"))
        family = "presentation" if placeholder else "graphic"
        properties = self.styles.properties(family, placeholder or element.get(name("draw:style-name")))
        return properties | self.styles.properties("paragraph", element.get(name("draw:text-style-name")))

    def _chart(self, element: Any, box: Box) -> Shape | None:
        path = element.get(name("xlink:href"), "").removeprefix("./").strip("/")
        try:
            root = self.files.xml(f"{path}/content.xml", b"<none/>")
        except ConversionError:
            return None
        table = next(root.iter(name("table:table")), None)
        if table is None:
            return None
        self.job.note("a chart is kept as a table.")
        table_shape = table_of(table, box, self.styles, "")
        title = next((self.plain_text(it) for it in root.iter(_CHART_TITLE)), "")
        return table_shape.with_corner(title) if isinstance(table_shape, SlideTable) and title else table_shape

    def image_name(self, image: Any) -> str | None:
        """Store the picture of an image element, and return its name. Returns None for unusable pictures."""
        path = image.get(name("xlink:href"), "").removeprefix("./")
        data = self.files.data(path, b"") if path and ":" not in path else b""
        inline = image.find(name("office:binary-data"))
        if not data and inline is not None:
            with suppress(binascii.Error, ValueError):
                path, data = f"inline {id(image)}", base64.b64decode(inline.text or "")
        if data:
            return self.image_store.name_of(path, data)
        self.job.note("a picture that is not in the file itself was left out.")
        return None

    def plain_text(self, element: Any) -> str:
        """Return the text of all paragraphs inside an element, separated by newlines."""
        text_reader = OdpTextReader(self.styles)
        return "\n".join(text_reader.line(it) for it in element.iter(name("text:p"), name("text:h")))

    def _box(self, element: Any) -> Box:
        sizes = [length(element.get(name(f"svg:{it}"))) for it in ("width", "height")]
        if None in sizes:
            return self._box_on_master(element)
        width, height = (max(0.0, size or 0.0) for size in sizes)
        x, y = (length(element.get(name(f"svg:{it}"))) or 0.0 for it in "xy")
        transform = element.get(name("draw:transform"))
        return _apply_transform(transform, x, y, width, height) if transform else Box.of(x, y, width, height)

    def _box_on_master(self, element: Any) -> Box:
        placeholder_class = element.get(name("presentation:class"))
        for other in () if self.master is None or not placeholder_class else self.master.iter(name("draw:frame")):
            if other.get(name("presentation:class")) == placeholder_class and length(other.get(name("svg:width"))):
                return OdpShapeReader(self.styles, self.files, self.image_store, self.job, self.page, None)._box(other)
        return Box(self.page[0] // 12, self.page[1] // 6, self.page[0] * 10 // 12, self.page[1] * 4 // 6)


_CHART_TITLE = "{urn:oasis:names:tc:opendocument:xmlns:chart:1.0}title"


def _apply_transform(text: str, x: float, y: float, width: float, height: float) -> Box:
    """Apply `rotate (angle) translate (x y)` to a box. The angle is in radians and counterclockwise."""
    angle = 0.0
    for function, arguments in _TRANSFORM.findall(text[:1000]):
        parts = arguments.replace(",", " ").split()
        if function == "rotate" and parts:
            angle += _float(parts[0])
        elif function == "translate" and parts:
            x += length(parts[0]) or 0.0
            y += (length(parts[1]) or 0.0) if len(parts) > 1 else 0.0
    middle_x = x + cos(angle) * width / 2 + sin(angle) * height / 2
    middle_y = y - sin(angle) * width / 2 + cos(angle) * height / 2
    return Box.of(middle_x - width / 2, middle_y - height / 2, width, height, -degrees(angle))


def _float(text: str) -> float:
    try:
        return max(-100.0, min(100.0, float(text)))
    except ValueError:
        return 0.0


def _color(properties: StyleProperties, property_name: str) -> str | None:
    """Return the "fill" or "stroke" colour of a shape as six hexadecimal digits, or None without a colour."""
    kind = properties.get(_GRAPHIC + name(f"draw:{property_name}"), "none")
    prefix = "svg" if property_name == "stroke" else "draw"
    color = properties.get(_GRAPHIC + name(f"{prefix}:{property_name}-color"), "").lstrip("#").lower()
    return color if kind not in ("none", "bitmap") and is_color(color) else None


def _alt(element: Any) -> str:
    texts = (element.findtext(name(f"svg:{kind}")) for kind in ("desc", "title"))
    return clean.text(next((text for text in texts if text), ""))
