"""Opens OpenDocument files, resolves their names, lengths and styles, and packs their parts."""

from __future__ import annotations

import base64
import binascii
import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from html import escape
from typing import Any

from ..job import MIB, ConversionError, Job, TooLarge
from .native_package import zip_timestamp, zipped
from .numerals import integer
from .zip_file import check_markup, open_archive, refuse_entities

_ODF = "urn:oasis:names:tc:opendocument:xmlns:"
NAMESPACES = {
    prefix: f"{_ODF}{path}:1.0"
    for prefix, path in (
        ("office", "office"), ("style", "style"), ("text", "text"), ("table", "table"), ("draw", "drawing"),
        ("presentation", "presentation"), ("fo", "xsl-fo-compatible"), ("svg", "svg-compatible"), ("meta", "meta"),
        ("number", "datastyle"),
    )
} | {
    "of": f"{_ODF}of:1.2", "xlink": "http://www.w3.org/1999/xlink", "dc": "http://purl.org/dc/elements/1.1/",
    "loext": "urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0",
}  # fmt: skip
READ_NAMESPACES = NAMESPACES | {
    "calcext": "urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0",
    "chart": f"{_ODF}chart:1.0", "form": f"{_ODF}form:1.0", "script": f"{_ODF}script:1.0",
    "field": "urn:openoffice:names:experimental:ooo-ms-interop:xmlns:field:1.0",
    "xforms": "http://www.w3.org/2002/xforms", "math": "http://www.w3.org/1998/Math/MathML",
    "xml": "http://www.w3.org/XML/1998/namespace",
}  # fmt: skip

_CM = 360_000
_UNITS = {
    "cm": _CM, "mm": _CM / 10, "in": 914_400, "inch": 914_400, "pt": 12_700, "pc": 152_400, "pi": 152_400, "px": 9_525,
}  # fmt: skip
_COLOR_DIGITS = re.compile("#[0-9a-f]{6}")
_LENGTH = re.compile(r"\s*(-?[0-9]*\.?[0-9]+)\s*([a-z]+)\s*")


@cache
def name(short: str) -> str:
    """Replace the prefix of an XML name by the namespace in braces, as lxml writes names.

    >>> name("dc:title")
    '{http://purl.org/dc/elements/1.1/}title'
    """
    prefix, _, local = short.partition(":")
    return f"{{{READ_NAMESPACES[prefix]}}}{local}"


def length(text: str | None) -> float | None:
    """Convert a length with a unit, such as "2cm", to EMU. Return None if the text is not a length.

    >>> length("2.54cm"), length("72pt"), length("50%")
    (914400.0, 914400.0, None)
    """
    match = _LENGTH.fullmatch(text or "")
    if not match or match[2] not in _UNITS:
        return None
    return round(float(match[1][:20]) * _UNITS[match[2]], 3)


def count_of(element: Any, key: str, maximum: int = 1_000, minimum: int = 1) -> int:
    """Return the number in an attribute within limits. Returns 1 if there is no valid number."""
    return max(minimum, min(maximum, integer(element.get(name(key)), 1)))


def color_of(text: str | None, default: str = "") -> str:
    """Return a colour as "#rrggbb" in lower case, or "" for the default and for another text.

    >>> color_of("#FF0000"), color_of("#ffffff", "#ffffff"), color_of("transparent")
    ('#ff0000', '', '')
    """
    color = (text or "").lower()
    return color if _COLOR_DIGITS.fullmatch(color) and color != default else ""


def cm(emu: float) -> str:
    """Format a length in EMU as a length in centimetres.

    >>> cm(914_400)
    '2.54cm'
    """
    return f"{round(emu / _CM, 4):g}cm"


def chart_kind(root: Any) -> str:
    """Return the kind of the chart in an embedded document, as `chart_kind` of zip_file.py does for OPC files."""
    chart = next(root.iter(name("chart:chart")), None)
    kind = "" if chart is None else chart.get(name("chart:class"), "").removeprefix("chart:")
    if kind == "bar":
        plots = root.iter(name("style:chart-properties"))
        return "bar" if any(plot.get(name("chart:vertical")) == "true" for plot in plots) else "column"
    return {"line": "line", "area": "line", "circle": "pie", "ring": "pie", "scatter": "scatter"}.get(kind, "")


_SPACES = re.compile("^ | $|(?<=[ \t]) ")


def text_content(text: str) -> str:
    """Convert text to the XML content of a paragraph. Tabs, line ends, and spaces that programs drop become elements.

    >>> text_content("a  <b>")
    'a <text:s/>&lt;b&gt;'
    """
    lines = (_SPACES.sub("<text:s/>", escape(line, quote=False)) for line in text.split("\n"))
    return "<text:line-break/>".join(lines).replace("\t", "<text:tab/>")


_DECLARED = " ".join(f'xmlns:{prefix}="{uri}"' for prefix, uri in NAMESPACES.items())
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'


def tag(name: str, attributes: Mapping[str, str] | None = None, *inside: str) -> str:
    """Return an XML element as text. Attribute values are escaped, but `inside` must already be valid XML.

    >>> tag("text:p", {"text:style-name": "P1"}, text_content("a & b"))
    '<text:p text:style-name="P1">a &amp; b</text:p>'
    """
    attribute_text = "".join(f' {key}="{escape(value)}"' for key, value in (attributes or {}).items())
    body = "".join(inside)
    return f"<{name}{attribute_text}>{body}</{name}>" if body else f"<{name}{attribute_text}/>"


def odf_document(root: str, *inside: str) -> bytes:
    """Return an XML document with the root element `root`, which declares all namespaces. `inside` is XML."""
    return f'{_HEAD}<{root} {_DECLARED} office:version="1.3">{"".join(inside)}</{root}>'.encode("utf-8", "replace")


def odf_archive(
    kind: str, content: bytes, styles: bytes, title: str, now: datetime, pictures: Mapping[str, bytes]
) -> bytes:
    """Return an OpenDocument file of a kind such as "spreadsheet", with a title, and `now` as its dates."""
    media_type, when = f"application/vnd.oasis.opendocument.{kind}", now.strftime("%Y-%m-%dT%H:%M:%S")
    dates = tag("meta:creation-date", None, when), tag("dc:date", None, when)
    meta = odf_document("office:document-meta", tag("office:meta", None, tag("dc:title", None, escape(title)), *dates))
    files = {"content.xml": content, "styles.xml": styles, "meta.xml": meta, **pictures}
    extensions = ((path, path.rpartition(".")[2].replace("jpg", "jpeg")) for path in files)
    types = {path: "text/xml" if extension == "xml" else f"image/{extension}" for path, extension in extensions}
    listed = ({"/": media_type} | types).items()
    names = ({"manifest:full-path": path, "manifest:media-type": type_of_part} for path, type_of_part in listed)
    entries = (tag("manifest:file-entry", attributes) for attributes in names)
    space = {"xmlns:manifest": f"{_ODF}manifest:1.0", "manifest:version": "1.3"}
    # `mimetype` is first and not compressed, so that the first bytes show the type (ODF 1.2 part 3, 3.3).
    manifest = _HEAD + tag("manifest:manifest", space, *entries)
    return zipped({"mimetype": media_type.encode(), **files, _MANIFEST: manifest.encode()}, zip_timestamp(now))


_MAX_PARENTS = 30
_PROPERTY_KINDS = ("graphic", "paragraph", "text", "drawing-page", "table", "table-cell", "table-column", "table-row")
_PROPERTIES = {name(f"style:{kind}-properties"): kind for kind in _PROPERTY_KINDS}
_PROPERTIES[name("loext:graphic-properties")] = "graphic"
MASTER_PAGE = "master-page"  # the key of the master page that begins before a paragraph or a table
_FONT_SIZE, _COLOR = "text/" + name("fo:font-size"), "text/" + name("fo:color")
_AUTOMATIC_COLOR = "text/" + name("style:use-window-font-color")
StyleProperties = Mapping[str, str]  # by property group and attribute, such as `text/{...}font-size`


class OdfStyles:
    """The styles of an OpenDocument file by family and name. A later definition in `roots` replaces an earlier one."""

    def __init__(self, roots: Iterable[Any]) -> None:
        self._styles: dict[tuple[str, str], Any] = {}
        self.lists: dict[str, Any] = {}  # by name
        self._known: dict[tuple[str, str], dict[str, str]] = {}
        for root in roots:
            for style in (*root.iter(name("style:default-style")), *root.iter(name("style:style"))):
                key = (style.get(name("style:family"), ""), style.get(name("style:name"), ""))
                self._styles[key] = style
            for style in root.iter(name("text:list-style")):
                self.lists[style.get(name("style:name"), "")] = style

    def properties(self, family: str, style: str | None) -> dict[str, str]:
        """Return the own and inherited properties of a style, or the family's defaults if `style` is None."""
        key = (family, style or "")
        if key not in self._known:
            merged: dict[str, str] = {}
            for element in reversed(self._ancestry(key)):
                own: dict[str, str] = {}
                for child in (child for child in element if child.tag in _PROPERTIES):
                    own |= {f"{_PROPERTIES[child.tag]}/{key}": value for key, value in child.attrib.items()}
                if (master := element.get(name("style:master-page-name"))) is not None:
                    own[MASTER_PAGE] = master
                merged = inherited(merged, own)
            self._known[key] = merged
        return self._known[key]

    def _ancestry(self, key: tuple[str, str]) -> list[Any]:
        elements: list[Any] = []
        while key in self._styles and len(elements) < _MAX_PARENTS:
            element = self._styles[key]
            elements.append(element)
            parent = element.get(name("style:parent-style-name"))
            key = (key[0], parent) if parent else (key[0], "")
            if element in elements[:-1]:
                break
        return elements

    def derives(self, family: str, style: str | None, base: str) -> bool:
        """Return whether a style is the style `base`, or inherits from it."""
        names = (element.get(name("style:name")) for element in self._ancestry((family, style or "")))
        return style == base or base in names

    def attribute(self, family: str, style: str, short: str) -> str:
        """Return the attribute `short` of a style or of its nearest ancestor with this attribute, or ""."""
        return next((value for element in self._ancestry((family, style)) if (value := element.get(name(short)))), "")

    def list_level(self, style: str | None, level: int) -> Any:
        """Return the element that formats a level (from 1) of a list style, or None if there is none."""
        elements = self.lists.get(style or "", ())
        return next((element for element in elements if element.get(name("text:level")) == str(level)), None)


def inherited(outer: StyleProperties, own: StyleProperties) -> dict[str, str]:
    """Return the properties of an element with its own properties inside `outer`. A font size in % becomes absolute."""
    merged = {**outer, **own}
    size, share = length(outer.get(_FONT_SIZE)), own.get(_FONT_SIZE, "").removesuffix("%")
    if size and merged.get(_FONT_SIZE) == f"{share}%":
        merged[_FONT_SIZE] = f"{size * float(share) / 100 / 12_700:.2f}pt" if share.isdecimal() else outer[_FONT_SIZE]
    if _COLOR in own and _AUTOMATIC_COLOR not in own:
        merged.pop(_AUTOMATIC_COLOR, None)
    return merged


_MAX_PART = 50 * MIB
_MANIFEST = "META-INF/manifest.xml"
_READ_PARTS = ("content.xml", "styles.xml", "meta.xml")
_DAMAGED = "the file is damaged: {0} is missing or broken."


@dataclass(frozen=True, slots=True)
class OdfPackage:
    """Reads the parts of an OpenDocument file as bytes or as XML."""

    archive: zipfile.ZipFile

    def data(self, path: str, otherwise: bytes | None = None) -> bytes:
        """Return a part, or `otherwise` if the part is missing. Raises ConversionError or TooLarge."""
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
        """Return the root of an XML part, or of `otherwise` if the part is missing or empty.

        Raises ConversionError if the part is not XML, or if a required part is missing, and TooLarge above a limit.
        """
        from lxml import etree

        parser = etree.XMLParser(
            resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True, collect_ids=False
        )
        try:
            root = etree.fromstring(self.data(path, otherwise).lstrip() or otherwise or b"", parser)
        except etree.XMLSyntaxError as error:
            raise ConversionError(_DAMAGED.format(path)) from error
        refuse_entities(root)
        return root

    def embedded(self, element: Any) -> Any:
        """Return the root of the object that a `draw:object` contains or names, or `<none/>` if it cannot be read."""
        path = element.get(name("xlink:href"), "").removeprefix("./").strip("/")
        try:
            return element[0] if len(element) else self.xml(f"{path}/content.xml", b"<none/>")
        except ConversionError:
            return self.xml("", b"<none/>")

    def picture(self, image: Any) -> tuple[str, bytes]:
        """Return a name and the content of the picture of an image element. The content is b"" if it is missing."""
        path = image.get(name("xlink:href"), "").removeprefix("./")
        data = self.data(path, b"") if path and ":" not in path else b""
        inline = image.find(name("office:binary-data"))
        if not data and inline is not None:
            with suppress(binascii.Error, ValueError):
                path, data = f"inline {id(image)}", base64.b64decode(inline.text or "")
        return path, data


@contextmanager
def open_package(source: bytes, job: Job) -> Iterator[OdfPackage]:
    """Open an OpenDocument file, which may be a template or flat XML.

    Raises ConversionError if the file is encrypted, damaged or not OpenDocument, and TooLarge above a limit.
    """
    with open_archive(_zipped(source), job.limits, checks_markup=False) as archive:
        package = OdfPackage(archive)
        if b"encryption-data" in package.data(_MANIFEST, b""):
            raise ConversionError("the file is encrypted; save the file without a password.")
        if "content.xml" not in archive.namelist():
            raise ConversionError("the file does not match its media type: content.xml is missing.")
        for entry in archive.infolist():
            if entry.filename in _READ_PARTS:
                check_markup(archive, entry)
        yield package


def _zipped(source: bytes) -> bytes:
    """Return flat OpenDocument XML as a zip file, in which the same XML is content, styles and metadata."""
    if not source[:4096].replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n").startswith(b"<"):
        return source
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for path in _READ_PARTS:
            archive.writestr(path, source)
    return target.getvalue()
