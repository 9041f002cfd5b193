"""Writes the parts that every odp file has beside its slides: styles, master page, metadata, manifest."""

from __future__ import annotations

from datetime import datetime
from html import escape

from .namespaces import MIMETYPE, cm
from .xml import document, tag

_SANS = {"fo:font-family": "'Liberation Sans', Arial, sans-serif", "style:font-family-generic": "swiss"}
_BULLETS = "•◦▪•◦▪•◦▪•"


def lists() -> str:
    """The three kinds of lists, ten levels deep."""
    return "".join(_list(kind) for kind in ("bullets", "numbers", "plain"))


def _list(kind: str) -> str:
    return tag("text:list-style", {"style:name": kind}, *(_level(kind, level) for level in range(10)))


def _level(kind: str, level: int) -> str:
    attributes = {"text:level": str(level + 1)}
    label_width = 0.0 if kind == "plain" else 0.8
    position = {"text:space-before": f"{level * 0.95:g}cm", "text:min-label-width": f"{label_width:g}cm"}
    properties = tag("style:list-level-properties", position)
    if kind == "bullets":
        text_properties = tag("style:text-properties", {**_SANS, "fo:font-size": "100%"})
        return tag(
            "text:list-level-style-bullet",
            attributes | {"text:bullet-char": _BULLETS[level]},
            properties,
            text_properties,
        )
    form = {"style:num-format": "1", "style:num-suffix": "."} if kind == "numbers" else {"style:num-format": ""}
    return tag("text:list-level-style-number", attributes | form, properties)


def styles(width: int, height: int) -> bytes:
    """styles.xml: a page of this size, and a master without anything on it."""
    layout = {"fo:page-width": cm(width), "fo:page-height": cm(height), "fo:margin": "0cm"}
    layout["style:print-orientation"] = "landscape" if width >= height else "portrait"
    back = tag("style:drawing-page-properties", {"draw:fill": "solid", "draw:fill-color": "#ffffff"})
    master = {"style:name": "Default", "style:page-layout-name": "page", "draw:style-name": "back"}
    return document(
        "office:document-styles",
        tag("office:styles", None, _standard(), *(_placeholder(kind) for kind in _PLACEHOLDERS)),
        tag(
            "office:automatic-styles", None,
            tag("style:page-layout", {"style:name": "page"}, tag("style:page-layout-properties", layout)),
            tag("style:style", {"style:name": "back", "style:family": "drawing-page"}, back),
        ),
        tag("office:master-styles", None, tag("style:master-page", master)),
    )  # fmt: skip


def _standard() -> str:
    graphic = tag("style:graphic-properties", {"draw:stroke": "none", "draw:fill": "none"})
    return tag("style:style", {"style:name": "standard", "style:family": "graphic"}, graphic, _text_properties(18))


_PLACEHOLDERS = {"title": 44, "subtitle": 24, "notes": 12} | {f"outline{level}": 28 for level in range(1, 10)}


def _placeholder(kind: str) -> str:
    graphic = tag("style:graphic-properties", {"draw:stroke": "none", "draw:fill": "none"})
    name = {"style:name": f"Default-{kind}", "style:family": "presentation"}
    return tag("style:style", name, graphic, _text_properties(_PLACEHOLDERS[kind]))


def _text_properties(size: int) -> str:
    kinds = ("fo:font-size", "style:font-size-asian", "style:font-size-complex")
    return tag("style:text-properties", {kind: f"{size}pt" for kind in kinds} | _SANS)


def meta(title: str, now: datetime) -> bytes:
    """meta.xml."""
    when = now.strftime("%Y-%m-%dT%H:%M:%S")
    inside = tag("meta:creation-date", None, when), tag("dc:date", None, when)
    return document("office:document-meta", tag("office:meta", None, tag("dc:title", None, escape(title)), *inside))


def manifest(files: list[str]) -> bytes:
    """META-INF/manifest.xml, which names every file."""
    entries = [("/", MIMETYPE), *((path, _media_type(path)) for path in files)]
    lines = (
        tag("manifest:file-entry", {"manifest:full-path": path, "manifest:media-type": it}) for path, it in entries
    )
    space = 'xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0" manifest:version="1.2"'
    text = f'<?xml version="1.0" encoding="UTF-8"?>\n<manifest:manifest {space}>{"".join(lines)}</manifest:manifest>'
    return text.encode()


def _media_type(path: str) -> str:
    extension = path.rpartition(".")[2]
    return "text/xml" if extension == "xml" else f"image/{'jpeg' if extension == 'jpg' else extension}"
