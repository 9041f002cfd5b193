"""Cleans SVG 1.1 drawings. Elements, attributes and style values that are not known to be safe are removed."""

from __future__ import annotations

import base64
import binascii
import re
from contextlib import suppress
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

from ..engines.images import validate_image
from ..job import ConversionError, Job
from . import css

SVG = "http://www.w3.org/2000/svg"
_XLINK = "{http://www.w3.org/1999/xlink}"
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
    for element in list(root.iter()):
        if element is not root and not _is_allowed_element(element):
            _remove_element(element, job)
            continue
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
    if key in ("href", f"{_XLINK}href"):
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
