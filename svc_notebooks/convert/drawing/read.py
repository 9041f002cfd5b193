"""Reads SVG as a native drawing, and determines the drawing's size in pixels."""

from __future__ import annotations

import base64
import binascii
import re
from contextlib import suppress
from math import isfinite, sqrt
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

from lxml import etree

from ..engines.images import validate_image
from ..input.zip_file import check_tags, refuse_entities
from ..job import ConversionError, Job, TooLarge
from . import css
from .model import HEIGHT, WIDTH, Drawing

SVG = "http://www.w3.org/2000/svg"
_XLINK_HREF = "{http://www.w3.org/1999/xlink}href"
_XML = "{http://www.w3.org/XML/1998/namespace}"

_ELEMENTS = frozenset({
    "svg", "g", "defs", "symbol", "use", "a", "switch", "title", "desc", "path", "rect", "circle", "ellipse",
    "line", "polyline", "polygon", "text", "tspan", "textPath", "image", "linearGradient", "radialGradient",
    "stop", "pattern", "clipPath", "mask", "marker", "style", "filter", "feGaussianBlur", "feOffset", "feBlend",
    "feMerge", "feMergeNode", "feFlood", "feColorMatrix", "feComposite", "feComponentTransfer", "feFuncR",
    "feFuncG", "feFuncB", "feFuncA", "feDropShadow", "animate", "animateTransform", "animateMotion", "set",
    "mpath",
})  # fmt: skip
_ANIMATIONS = frozenset({"animate", "animateTransform", "animateMotion", "set"})
_ATTRIBUTE_NAME = re.compile(r"[a-z][a-z-]*", re.IGNORECASE)
_NOT_ANIMATED = frozenset({"href", "style", "class", "id"})
_XML_ATTRIBUTES = frozenset({f"{_XML}space", f"{_XML}lang"})
_SCHEMES = frozenset({"http", "https", "mailto"})
_FRAGMENT = re.compile(r"#[^\s]{1,200}")
_DATA_URI = re.compile(r"data:image/(?:png|jpe?g|gif)\s*((?:;[^,]{0,100})?),", re.IGNORECASE)


def clean(root: Any, job: Job) -> None:
    """Remove elements and attributes of an SVG tree that run code, load external content or draw nothing."""
    leaving_out = job.leaving_out("An element of the drawing")
    for element in list(root.iter()):
        if element is not root and not _is_allowed_element(element):
            _remove_element(element, job)
            continue
        with leaving_out:
            _clean_element(element, job)
            continue
        if element is root:
            raise ConversionError("the drawing cannot be checked.")
        _remove_element(element, job)


def _clean_element(element: Any, job: Job) -> None:
    for key in list(element.attrib):
        _clean_attribute(element, key, job)
    _limit_filter(element)
    if element.tag == f"{{{SVG}}}style":
        element.text = css.clean_stylesheet("".join(element.itertext()))
        for child in list(element):
            element.remove(child)


def _limit_filter(element: Any) -> None:
    """Remove the region of a filter if the region is too large, and limit the standard deviation of a blur to 100."""
    name = str(element.tag).rpartition("}")[2]
    if name == "filter" and any(_exceeds(element.get(side, ""), 3.0) for side in _FILTER_REGION):
        for side in _FILTER_REGION:
            element.attrib.pop(side, None)
    if name in ("feGaussianBlur", "feDropShadow") and _exceeds(element.get("stdDeviation", ""), 100.0):
        element.set("stdDeviation", "100")


_FILTER_REGION = ("x", "y", "width", "height")
_NUMBER = re.compile(r"[-+]?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?")


def _exceeds(text: str, limit: float) -> bool:
    """Return whether the absolute value of a number in an attribute exceeds the limit. 100 percent count as 1."""
    share = 100.0 if "%" in text else 1.0
    return any(abs(float(number[:40])) / share > limit for number in _NUMBER.findall(text[:200]))


def _is_allowed_element(element: Any) -> bool:
    if not isinstance(element.tag, str):
        return False
    space, _, name = element.tag.removeprefix("{").rpartition("}")
    if space != SVG or name not in _ELEMENTS:
        return False
    if name not in _ANIMATIONS:
        return True
    attribute = element.get("attributeName", "").lower()
    forbidden = attribute in _NOT_ANIMATED or attribute.startswith("on")
    return bool(_ATTRIBUTE_NAME.fullmatch(attribute or "x")) and not forbidden


def _remove_element(element: Any, job: Job) -> None:
    """Remove an element and its content from the tree. The text after the element is kept."""
    parent = element.getparent()
    if parent is None:  # the element was removed with its parent
        return
    if isinstance(element.tag, str) and element.tag.startswith(f"{{{SVG}}}") and not element.tag.endswith("metadata"):
        job.note(f"the element {element.tag.rpartition('}')[2][:40]} is not allowed in drawings and was left out.")
    if element.tail:
        before = element.getprevious()
        if before is None:
            parent.text = (parent.text or "") + element.tail
        else:
            before.tail = (before.tail or "") + element.tail
    parent.remove(element)


def _clean_attribute(element: Any, key: str, job: Job) -> None:
    value = element.get(key)
    if key in ("href", _XLINK_HREF):
        kept = _clean_href(element, value, job)
    elif key == "style":
        kept = css.clean_declarations(value)
    elif key.startswith("{"):
        kept = value if key in _XML_ATTRIBUTES else None
    elif key.lower().startswith("on"):
        kept = None
    else:
        kept = value if key in _PLAIN_TEXT_ATTRIBUTES or "(" not in value else css.clean_value(value)
    if kept is None:
        del element.attrib[key]
    elif kept != value:
        element.set(key, kept)


_PLAIN_TEXT_ATTRIBUTES = frozenset(
    {"d", "points", "id", "class", "transform", "gradientTransform", "patternTransform", "viewBox"}
)


def _clean_href(element: Any, value: str, job: Job) -> str | None:
    """Return the value of a safe href (fragment, embedded picture, web or mail link), or None if unsafe."""
    value = value.strip()
    if _FRAGMENT.fullmatch(value):
        return value
    kept, name = None, element.tag.rpartition("}")[2]
    if name == "image":
        kept = _clean_image_uri(value, job)
    elif name == "a":
        address = "".join(value.split())
        with suppress(ValueError):
            kept = address if urlsplit(address).scheme.lower() in _SCHEMES else None
    if kept is None and not _DATA_URI.match(value):
        job.note("content from outside the drawing was left out.")
    return kept


def _clean_image_uri(value: str, job: Job) -> str | None:
    """Return a new data URI for an embedded picture, or None if the data URI or the picture is not valid."""
    match = _DATA_URI.match(value)
    if not match:
        return None
    try:
        data = unquote_to_bytes(value[match.end() :])
        data = base64.b64decode(data) if "base64" in match[1].lower() else data
        picture = validate_image(data, job.limits)
    except (ConversionError, binascii.Error, ValueError) as error:  # also TooLarge
        job.note(f"A picture was left out: {error}")
        return None
    subtype = "jpeg" if picture.extension == "jpg" else picture.extension
    return f"data:image/{subtype};base64,{base64.b64encode(picture.data).decode()}"


MAX_WEIGHT = 250_000
"""The maximum weight of a drawing. A simple element has the weight 1."""
MAX_DEPTH = 200
MAX_RULES = 10_000
_GRADIENTS = frozenset({f"{{{SVG}}}linearGradient", f"{{{SVG}}}radialGradient"})
_LAYERS = {"filter": (500, 120), "mask": (100, 2_000), "pattern": (100, 2_000), "opacity": (1, 5_000)}
"""The minimum weight of bitmap layers, and the number of page pixels that count as one element."""


def check_depth(root: Any) -> None:
    """Raise ConversionError if the elements of a drawing are nested more than `MAX_DEPTH` deep."""
    level, depth = [root], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise ConversionError(f"the drawing has groups nested more than {MAX_DEPTH} levels deep.")
        level = [child for element in level for child in element]


class Weights:
    """Calculates and caches the weights of elements. A weight is the number of simple elements with equal cost."""

    def __init__(self, root: Any, pixels: float) -> None:
        self._layer_weights = {
            name: max(minimum, int(pixels / pixels_per_element))
            for name, (minimum, pixels_per_element) in _LAYERS.items()
        }
        self._elements_by_id = {element.get("id"): element for element in root.iter() if element.get("id")}
        self._style_references: dict[str, list[str]] = {}
        for element in root.iter(f"{{{SVG}}}style"):
            for selector, ids in css.rule_references(element.text or ""):
                self._style_references.setdefault(selector, []).extend(ids)
        self._weights: dict[Any, int] = {}
        self._open: set[Any] = set()

    def of(self, element: Any) -> int:
        """Return an element's total weight, at most `MAX_WEIGHT + 1`. Raises ConversionError for reference cycles."""
        if element in self._weights:
            return self._weights[element]
        if element in self._open:
            raise ConversionError("the drawing has an element that refers to itself.")
        if len(self._open) > 2 * MAX_DEPTH:
            raise ConversionError("the drawing has a chain of references that is too long.")
        self._open.add(element)
        own = self._layer_weights.get(str(element.tag).rpartition("}")[2], 1)
        if "opacity" in element.attrib or "opacity" in element.get("style", ""):
            own += self._layer_weights["opacity"]
        weight = own + sum(map(self.of, (*element, *self._references(element))))
        self._open.discard(element)
        self._weights[element] = min(weight, MAX_WEIGHT + 1)
        return self._weights[element]

    def _references(self, element: Any) -> list[Any]:
        """Return the elements, except gradients, that an element refers to by a link, `url(#id)` or a style rule."""
        if element.tag in _GRADIENTS:
            return []
        values = [element.get("href") or element.get(_XLINK_HREF) or ""]
        names = [value[1:] for value in values if value.startswith("#")]
        names += [name for value in element.attrib.values() for name in css.references(value)]
        if element.tag == f"{{{SVG}}}a":  # a link does not draw the linked element again
            names = [name for name in names if f"#{name}" != values[0]]
        if self._style_references:
            names += [name for key in _selectors_for(element) for name in self._style_references.get(key, ())]
        targets = (self._elements_by_id.get(name) for name in names)
        return [target for target in targets if target is not None and target.tag not in _GRADIENTS]


def _selectors_for(element: Any) -> list[str]:
    classes = [f".{name}" for name in element.get("class", "").split()]
    attributes = [f"[{name}]" for name in element.attrib]
    return [*classes, *attributes, f"#{element.get('id', '')}", str(element.tag).rpartition("}")[2], "*"]


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
    sheets = ("".join(element.itertext()) for element in root.iter("{*}style"))
    if sum(sheet.count("{") for sheet in sheets) > MAX_RULES:
        raise TooLarge(f"the style sheets of the drawing have more than {MAX_RULES} rules.")
    clean(root, job)
    width, height = _set_size(root, job)
    if Weights(root, width * height).of(root) > MAX_WEIGHT:
        raise TooLarge(f"the drawing has more than {MAX_WEIGHT} elements, including repeated uses.")
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
