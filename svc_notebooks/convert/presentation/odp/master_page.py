"""Writes the styles, the master page, the metadata and the manifest of an odp file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from html import escape

from ...input.odf.namespaces import MIMETYPE, NAMESPACES, cm
from ..model import Paragraph

_DECLARED = " ".join(f'xmlns:{prefix}="{uri}"' for prefix, uri in NAMESPACES.items())
Attributes = Mapping[str, str]


def tag(name: str, attributes: Attributes | None = None, *inside: str) -> str:
    """Return an XML element as text. Attribute values are escaped, but `inside` must already be valid XML.

    >>> tag("text:p", {"text:style-name": "P1"}, text_content("a & b"))
    '<text:p text:style-name="P1">a &amp; b</text:p>'
    """
    attribute_text = "".join(f' {key}="{escape(value)}"' for key, value in (attributes or {}).items())
    body = "".join(inside)
    return f"<{name}{attribute_text}>{body}</{name}>" if body else f"<{name}{attribute_text}/>"


def text_content(text: str) -> str:
    """Convert text to the XML content of a paragraph. Tabs, line ends and repeated spaces become elements."""
    lines = (escape(line, quote=False).split("\t") for line in text.split("\n"))
    return "<text:line-break/>".join("<text:tab/>".join(map(_with_space_elements, parts)) for parts in lines)


def _with_space_elements(text: str) -> str:
    """Replace spaces at the ends and after another space, which programs may drop, by `<text:s/>`."""
    if text[:1] == " ":
        text = "\0" + text[1:]
    if text[-1:] == " ":
        text = text[:-1] + "\0"
    while "  " in text:
        text = text.replace("  ", " \0")
    return text.replace("\0", "<text:s/>")


def document(root: str, *inside: str) -> bytes:
    """Return an XML document with the root element `root`, which declares all namespaces. `inside` is XML."""
    body = "".join(inside)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<{root} {_DECLARED} office:version="1.2">{body}</{root}>'.encode()


class AutomaticStyles:
    """Assigns names to automatic styles. Styles with the same definition get the same name."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, str], str] = {}
        self._lists: dict[str, str] = {}

    def name(self, family: str, inside: Iterable[str], parent: str | None = None) -> str:
        """Return the name of the style with these property elements (XML), which is created on first use."""
        key = (family, f"{parent}\n" + "".join(inside))
        return self._names.setdefault(key, f"{family.replace('-', '')}{len(self._names) + 1}")

    def list_name(self, level: str) -> str:
        """Return the name of the list style with this level (XML), which is created on first use."""
        return self._lists.setdefault(level, f"list{len(self._lists) + 1}")

    def styles(self) -> str:
        """Return the XML elements of all named styles."""
        elements = [tag("text:list-style", {"style:name": name}, level) for level, name in self._lists.items()]
        for (family, definition), name in self._names.items():
            parent, _, inside = definition.partition("\n")
            parent_attribute = {} if parent == "None" else {"style:parent-style-name": parent}
            elements.append(tag("style:style", {"style:name": name, "style:family": family} | parent_attribute, inside))
        return "".join(elements)


_SANS = {"fo:font-family": "'Liberation Sans', Arial, sans-serif", "style:font-family-generic": "swiss"}
_BULLETS = "•◦▪•◦▪•◦▪•"
_LABEL = re.compile("([^1aAiI]*)([1aAiI]?)(.*)")
_LEVEL_INDENT, _LABEL_WIDTH = 342_000, 288_000


def list_level(paragraph: Paragraph) -> str:
    """Return the XML of the level in a list style that formats a paragraph with its label and its indent."""
    label_width = _LABEL_WIDTH if paragraph.marker else 0
    indent, first = paragraph.level * _LEVEL_INDENT + label_width, -label_width
    if paragraph.indent is not None:
        indent, first = paragraph.indent, paragraph.first
    attributes = {"text:level": str(paragraph.level + 1)}
    position = {"text:space-before": cm(max(0, indent + first)), "text:min-label-width": cm(max(0, -first))}
    properties = tag("style:list-level-properties", position)
    if paragraph.marker == "bullet":
        attributes["text:bullet-char"] = paragraph.bullet or _BULLETS[paragraph.level]
        text_properties = tag("style:text-properties", {**_SANS, "fo:font-size": "100%"})
        return tag("text:list-level-style-bullet", attributes, properties, text_properties)
    if not paragraph.marker:
        return tag("text:list-level-style-number", attributes | {"style:num-format": ""}, properties)
    prefix, number, suffix = _LABEL.findall(paragraph.bullet or "1.")[0]
    attributes |= {"style:num-prefix": prefix, "style:num-format": number, "style:num-suffix": suffix}
    return tag("text:list-level-style-number", attributes, properties)


def styles(width: int, height: int) -> bytes:
    """Return the content of styles.xml, with pages of this size in EMU and a master page without shapes."""
    graphic = tag("style:graphic-properties", {"draw:stroke": "none", "draw:fill": "none"})
    standard = {"style:name": "standard", "style:family": "graphic"}
    layout = {"fo:page-width": cm(width), "fo:page-height": cm(height), "fo:margin": "0cm"}
    layout["style:print-orientation"] = "landscape" if width >= height else "portrait"
    back = tag("style:drawing-page-properties", {"draw:fill": "solid", "draw:fill-color": "#ffffff"})
    master = {"style:name": "Default", "style:page-layout-name": "page", "draw:style-name": "back"}
    return document(
        "office:document-styles",
        tag(
            "office:styles", None, _LINE_STYLES, tag("style:style", standard, graphic, _text_properties(18)),
            *(
                tag("style:style", {"style:name": f"Default-{kind}", "style:family": "presentation"}, graphic,
                    _text_properties(size))
                for kind, size in _PLACEHOLDERS.items()
            ),
        ),
        tag(
            "office:automatic-styles", None,
            tag("style:page-layout", {"style:name": "page"}, tag("style:page-layout-properties", layout)),
            tag("style:style", {"style:name": "back", "style:family": "drawing-page"}, back),
        ),
        tag("office:master-styles", None, tag("style:master-page", master)),
    )  # fmt: skip


_DASHES = {"dot": ("1", "100%", "0", "0%"), "dash": ("1", "400%", "0", "0%"), "dashdot": ("1", "400%", "1", "100%")}
_HEADS = {
    "triangle": "M10 0L0 20h20z", "arrow": "M10 0L0 20h4L10 8L16 20h4z", "stealth": "M10 0L0 20L10 14L20 20z",
    "diamond": "M10 0L0 10L10 20L20 10z", "oval": "M10 0a10 10 0 1 0 0.1 0z",
}  # fmt: skip
_LINE_STYLES = "".join(
    tag("draw:marker", {"draw:name": kind, "svg:viewBox": "0 0 20 20", "svg:d": path}) for kind, path in _HEADS.items()
) + "".join(
    tag("draw:stroke-dash", {
        "draw:name": kind, "draw:style": "rect", "draw:dots1": dots, "draw:dots1-length": length,
        "draw:dots2": more_dots, "draw:dots2-length": more_length, "draw:distance": "300%",
    })
    for kind, (dots, length, more_dots, more_length) in _DASHES.items()
)  # fmt: skip
_PLACEHOLDERS = {"title": 44, "subtitle": 24, "notes": 12} | {f"outline{level}": 28 for level in range(1, 10)}


def _text_properties(size: int) -> str:
    kinds = ("fo:font-size", "style:font-size-asian", "style:font-size-complex")
    return tag("style:text-properties", {kind: f"{size}pt" for kind in kinds} | _SANS)


def meta(title: str, now: datetime) -> bytes:
    """Return the content of meta.xml, with the title and with `now` as the date of creation and of the last change."""
    when = now.strftime("%Y-%m-%dT%H:%M:%S")
    inside = tag("meta:creation-date", None, when), tag("dc:date", None, when)
    return document("office:document-meta", tag("office:meta", None, tag("dc:title", None, escape(title)), *inside))


def manifest(files: list[str]) -> bytes:
    """Return the content of META-INF/manifest.xml, which lists the path and the media type of every file."""
    entries = [("/", MIMETYPE), *((path, _media_type(path)) for path in files)]
    lines = (
        tag("manifest:file-entry", {"manifest:full-path": path, "manifest:media-type": media_type})
        for path, media_type in entries
    )
    space = 'xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0" manifest:version="1.2"'
    text = f'<?xml version="1.0" encoding="UTF-8"?>\n<manifest:manifest {space}>{"".join(lines)}</manifest:manifest>'
    return text.encode()


def _media_type(path: str) -> str:
    extension = path.rpartition(".")[2]
    return "text/xml" if extension == "xml" else f"image/{'jpeg' if extension == 'jpg' else extension}"
