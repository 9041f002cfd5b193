"""Writes the styles, the master page, the metadata and the manifest of an odp file."""

from __future__ import annotations

from datetime import datetime
from html import escape

from .namespaces import MIMETYPE, cm
from .xml import document, tag

_SANS = {"fo:font-family": "'Liberation Sans', Arial, sans-serif", "style:font-family-generic": "swiss"}
_BULLETS = "•◦▪•◦▪•◦▪•"


def lists() -> str:
    """Return the XML of the three list styles "bullets", "numbers" and "plain", each with ten levels."""
    return "".join(
        tag("text:list-style", {"style:name": kind}, *(_level(kind, level) for level in range(10)))
        for kind in ("bullets", "numbers", "plain")
    )


def _level(kind: str, level: int) -> str:
    attributes = {"text:level": str(level + 1)}
    label_width = 0.0 if kind == "plain" else 0.8
    position = {"text:space-before": f"{level * 0.95:g}cm", "text:min-label-width": f"{label_width:g}cm"}
    properties = tag("style:list-level-properties", position)
    if kind == "bullets":
        text_properties = tag("style:text-properties", {**_SANS, "fo:font-size": "100%"})
        attributes["text:bullet-char"] = _BULLETS[level]
        return tag("text:list-level-style-bullet", attributes, properties, text_properties)
    form = {"style:num-format": "1", "style:num-suffix": "."} if kind == "numbers" else {"style:num-format": ""}
    return tag("text:list-level-style-number", attributes | form, properties)


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
            "office:styles", None, tag("style:style", standard, graphic, _text_properties(18)),
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
