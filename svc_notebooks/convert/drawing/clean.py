"""Removes from SVG every element and attribute that is not in the tables of this module (SVG 1.1)."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
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
    """Take out of a tree all that is not drawn, runs, or is fetched from elsewhere."""
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
    """A filter stays near what it is for, and blurs no further than can be seen."""
    name = str(element.tag).rpartition("}")[2]
    if name == "filter" and any(_exceeds(element.get(side, ""), 3.0) for side in _FILTER_REGION):
        for side in _FILTER_REGION:
            element.attrib.pop(side, None)
    if name in ("feGaussianBlur", "feDropShadow") and _exceeds(element.get("stdDeviation", ""), 100.0):
        element.set("stdDeviation", "100")


_FILTER_REGION = ("x", "y", "width", "height")
_NUMBER = re.compile(r"[-+]?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?")


def _exceeds(text: str, limit: float) -> bool:
    """Whether any number in it is larger; a percentage counts as its share."""
    share = 100.0 if "%" in text else 1.0
    return any(abs(float(number[:40])) / share > limit for number in _NUMBER.findall(text[:200]))


def _is_allowed_element(element: Any) -> bool:
    if not isinstance(element.tag, str):
        return False
    space, _, name = element.tag.removeprefix("{").rpartition("}")
    if space != SVG or name not in _ELEMENTS:
        return False
    attribute = element.get("attributeName", "")
    return name not in _ANIMATIONS or (
        bool(_ATTRIBUTE_NAME.fullmatch(attribute or "x")) and not _is_forbidden_attribute(attribute)
    )


def _is_forbidden_attribute(attribute: str) -> bool:
    return attribute.lower() in _NOT_ANIMATED or attribute.lower().startswith("on")


def _remove_element(element: Any, job: Job) -> None:
    """The element with all that is in it, but not the text behind it."""
    parent = element.getparent()
    if parent is None:  # with its parent it is out already
        return
    if isinstance(element.tag, str) and element.tag.startswith(f"{{{SVG}}}") and not element.tag.endswith("metadata"):
        job.note(f"an element that a drawing may not have was left out: {element.tag.rpartition('}')[2][:40]}.")
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
    """Where an element points: into the drawing, a picture that it carries; for a link, a page."""
    value = value.strip()
    if _FRAGMENT.fullmatch(value):
        return value
    read = {"image": _clean_image_uri, "a": _clean_page_link}.get(element.tag.rpartition("}")[2], _reject)
    kept = read(value, job)
    if kept is None:
        job.note("what is not in the drawing itself was left out.")
    return kept


_Reader = Callable[[str, Job], "str | None"]


def _reject(value: str, job: Job) -> str | None:
    return None


def _clean_page_link(value: str, job: Job) -> str | None:
    address = "".join(value.split())
    try:
        return address if urlsplit(address).scheme.lower() in _SCHEMES else None
    except ValueError:
        return None


def _clean_image_uri(value: str, job: Job) -> str | None:
    """A picture in the drawing, looked at before anything else sees it."""
    match = _DATA_URI.match(value)
    if not match:
        return None
    try:
        data = unquote_to_bytes(value[match.end() :])
        data = base64.b64decode(data) if "base64" in match[1].lower() else data
        picture = validate_image(data, job.limits)
    except (ConversionError, binascii.Error, ValueError):
        return None
    subtype = "jpeg" if picture.extension == "jpg" else picture.extension
    return f"data:image/{subtype};base64,{base64.b64encode(picture.data).decode()}"
