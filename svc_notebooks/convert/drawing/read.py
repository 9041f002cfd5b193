"""Reads SVG as a native drawing, and determines the drawing's size in pixels."""

from __future__ import annotations

import re
from math import isfinite, sqrt
from typing import Any

from lxml import etree

from ..input.tags import check_tags
from ..input.zip_file import refuse_entities
from ..job import ConversionError, Job
from .clean import SVG, clean
from .complexity import check_depth, check_rules, check_weight
from .model import HEIGHT, WIDTH, Drawing

_GZIP = b"\x1f\x8b"
_MAX_SIDE = 16_000.0
_LENGTH = re.compile(r"\s*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?)\s*([a-zA-Z]*)\s*")
_UNITS = {
    "": 1.0, "px": 1.0, "pt": 96 / 72, "pc": 16.0, "in": 96.0, "cm": 96 / 2.54, "mm": 96 / 25.4, "em": 16.0, "ex": 8.0,
}  # fmt: skip


def read(source: bytes, job: Job) -> Drawing:
    """Read SVG as a safe drawing. Raises ConversionError if the SVG is not valid, and TooLarge above `MAX_WEIGHT`."""
    root = _parse(source)
    check_depth(root)
    check_rules(root)
    clean(root, job)
    width, height = _set_size(root, job)
    check_weight(root, width * height)
    etree.cleanup_namespaces(root)
    return Drawing(etree.tostring(root, encoding="unicode", with_tail=False), width, height)


def _parse(source: bytes) -> Any:
    if source.startswith(_GZIP):
        raise ConversionError("the drawing is compressed; send it as plain SVG.")
    if b"<!ENTITY" in source.replace(b"\0", b""):
        raise ConversionError("the drawing declares entities, which are not allowed.")
    check_tags(source)
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(source, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise ConversionError(f"the drawing is not well-formed XML: {str(error)[:120]}") from error
    refuse_entities(root)
    return _in_svg_namespace(root)


def _in_svg_namespace(root: Any) -> Any:
    """Return the root element in the SVG namespace. Raises ConversionError if the root element is not svg."""
    if root.tag == f"{{{SVG}}}svg":
        return root
    if root.tag != "svg":
        raise ConversionError("the file is not an SVG drawing: the root element is not svg.")
    text: bytes = etree.tostring(root)
    return etree.fromstring(text.replace(b"<svg", b'<svg xmlns="' + SVG.encode() + b'"', 1))


def _set_size(root: Any, job: Job) -> tuple[float, float]:
    """Set the size and a missing viewBox of the root element, and return the limited width and height in pixels."""
    box = _view_box(root.get("viewBox", ""))
    declared = _pixels(root.get("width")), _pixels(root.get("height"))
    width, height = _complete_size(*declared, box)
    if box is None:
        root.set("viewBox", f"0 0 {width:.6g} {height:.6g}")
    scale = min(1.0, _MAX_SIDE / width, _MAX_SIDE / height, sqrt(job.limits.pixels / (width * height)))
    if scale < 1.0:
        job.note("the drawing was scaled down to the largest size that can be drawn.")
    width, height = max(1.0, round(width * scale, 3)), max(1.0, round(height * scale, 3))
    root.set("width", f"{width:g}")
    root.set("height", f"{height:g}")
    return width, height


def _complete_size(width: float | None, height: float | None, box: tuple[float, float] | None) -> tuple[float, float]:
    """Return a drawing's width and height. The view box's proportions determine a missing width or height."""
    if width and height:
        return width, height
    box_width, box_height = box or (WIDTH, HEIGHT)
    if width:
        return width, width * box_height / box_width
    return (height * box_width / box_height, height) if height else (box_width, box_height)


def _view_box(text: str) -> tuple[float, float] | None:
    parts = text.replace(",", " ").split()
    numbers = [_pixels(part, signed=True) for part in parts]
    if len(numbers) != 4 or None in numbers:
        return None
    width, height = numbers[2] or 0.0, numbers[3] or 0.0
    return (width, height) if width > 0 and height > 0 else None


def _pixels(text: str | None, *, signed: bool = False) -> float | None:
    match = _LENGTH.fullmatch((text or "")[:60])
    if not match or match[2].lower() not in _UNITS:
        return None
    value = float(match[1]) * _UNITS[match[2].lower()]
    return value if isfinite(value) and abs(value) < 1e9 and (signed or value > 0) else None
