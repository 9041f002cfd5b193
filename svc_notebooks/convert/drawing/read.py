"""Reads SVG as a native drawing that neither loads external content nor runs code, and determines its size in pixels.

Tinycss2 parses the CSS text. The allowed tokens are then serialized to new text, so that a browser finds the same
strings, values and rules in the text that were checked here.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from contextlib import suppress
from math import isfinite, sqrt
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

import tinycss2
from lxml import etree

from ..engines.images import validate_image
from ..input.zip_file import check_tags, refuse_entities
from ..job import ConversionError, Job
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
            for key in list(element.attrib):
                _clean_attribute(element, key, job)
            if element.tag == f"{{{SVG}}}style":
                element.text = clean_stylesheet("".join(element.itertext()))
                for child in list(element):
                    element.remove(child)
            continue
        if element is root:
            raise ConversionError("the drawing cannot be checked.")
        _remove_element(element, job)


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
        kept = clean_declarations(value)
    elif key.startswith("{"):
        kept = value if key in _XML_ATTRIBUTES else None
    elif key.lower().startswith("on"):
        kept = None
    else:
        kept = value if key in _PLAIN_TEXT_ATTRIBUTES or "(" not in value else clean_value(value)
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


_SAFE_FUNCTIONS = frozenset({
    "rgb", "rgba", "hsl", "hsla", "hwb", "lab", "lch", "oklab", "oklch", "calc", "min", "max", "clamp", "var",
    "matrix", "translate", "translatex", "translatey", "scale", "scalex", "scaley", "rotate", "skew", "skewx",
    "skewy", "circle", "ellipse", "inset", "polygon", "path",
})  # fmt: skip
_SAFE_TOKENS = frozenset({"whitespace", "ident", "number", "percentage", "dimension", "hash", "string"})
_SAFE_LITERALS = frozenset(",/+-*:")
_UNSAFE_PROPERTIES = frozenset({"behavior", "-moz-binding"})
_UNSAFE_SELECTOR_TOKENS = frozenset({"at-keyword", "error", "url", "{} block"})
_URL_FRAGMENT = re.compile(r"#[^\"'()\s\\]+")
_UNSAFE_CHARACTERS = re.compile("[<\0-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]")  # and `<` could end a sheet
_LONG_NUMBER = re.compile(r"[0-9]{1000}")  # tinycss2 calls int(), which refuses more than 4,300 digits
_MAX_CSS_DEPTH = 32


def clean_value(text: str) -> str | None:
    """Return a CSS value in serialized form, or None if the value is not safe, such as an external address.

    >>> clean_value("url(#a)"), clean_value("url(http://svc.example/a)"), clean_value("rgb(1, 2, 3)")
    ('url(#a)', None, 'rgb(1, 2, 3)')
    """
    if _LONG_NUMBER.search(text):
        return None
    return _safe_value(tinycss2.parse_component_value_list(text, skip_comments=True))


def clean_declarations(text: str | list[Any]) -> str:
    """Return the safe declarations of a style attribute or of a rule. Unsafe declarations are left out.

    >>> clean_declarations("fill: red; filter: url(//svc.example/a)")
    'fill: red'
    """
    if isinstance(text, str) and _LONG_NUMBER.search(text):
        return ""
    declarations = []
    for node in tinycss2.parse_blocks_contents(text, skip_comments=True, skip_whitespace=True):
        if node.type == "declaration" and node.lower_name not in _UNSAFE_PROPERTIES:
            value = _safe_value(node.value)
            name = tinycss2.serializer.serialize_identifier(node.name)
            if value and not _UNSAFE_CHARACTERS.search(name):
                declarations.append(f"{name}: {value}{' !important' if node.important else ''}")
    return "; ".join(declarations)


def clean_stylesheet(text: str) -> str:
    """Return a style sheet with its safe declarations only. At-rules and rules with unsafe selectors are left out.

    >>> clean_stylesheet("@import '//svc.example/a.css'; .a { fill: red }")
    '.a { fill: red }'
    """
    if _LONG_NUMBER.search(text):
        return ""
    rules = []
    for rule in tinycss2.parse_stylesheet(text, skip_comments=True, skip_whitespace=True):
        if rule.type == "qualified-rule" and rule.prelude and _is_safe_selector(rule.prelude):
            kept = clean_declarations(rule.content)
            rules += [f"{tinycss2.serialize(rule.prelude).strip()} {{ {kept} }}"] if kept else []
    return "\n".join(rule for rule in rules if not _UNSAFE_CHARACTERS.search(rule))


def _is_safe_selector(tokens: Iterable[Any], depth: int = 0) -> bool:
    return depth < _MAX_CSS_DEPTH and all(
        token.type not in _UNSAFE_SELECTOR_TOKENS and _is_safe_selector(_inside(token), depth + 1) for token in tokens
    )


def _inside(token: Any) -> list[Any]:
    return getattr(token, "arguments", None) or getattr(token, "content", None) or []


def _safe_value(nodes: list[Any]) -> str | None:
    if not _is_safe(nodes):
        return None
    text = tinycss2.serialize(nodes).strip()
    return None if _UNSAFE_CHARACTERS.search(text) else text


def _is_safe(nodes: list[Any], depth: int = 0) -> bool:
    for node in nodes:
        target = _url_target(node)
        if target is not None:
            safe = _URL_FRAGMENT.fullmatch(target) is not None
        elif node.type == "() block" or (node.type == "function" and node.lower_name in _SAFE_FUNCTIONS):
            safe = depth < _MAX_CSS_DEPTH and _is_safe(_inside(node), depth + 1)
        else:
            safe = node.type in _SAFE_TOKENS or (node.type == "literal" and node.value in _SAFE_LITERALS)
        if not safe:
            return False
    return True


def _url_target(node: Any) -> str | None:
    """Return the address in a `url(...)` token, or None for another token. Returns "" for invalid arguments."""
    if node.type == "url":
        return str(node.value)
    if node.type != "function" or node.lower_name != "url":
        return None
    arguments = [argument for argument in node.arguments if argument.type != "whitespace"]
    return str(arguments[0].value) if len(arguments) == 1 and arguments[0].type == "string" else ""


_GZIP = b"\x1f\x8b"
_MAX_SIDE = 16_000.0
_LENGTH = re.compile(r"\s*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?)\s*([a-zA-Z]*)\s*")
_UNITS = {
    "": 1.0, "px": 1.0, "pt": 96 / 72, "pc": 16.0, "in": 96.0, "cm": 96 / 2.54, "mm": 96 / 25.4, "em": 16.0, "ex": 8.0,
}  # fmt: skip


def read(source: bytes, job: Job) -> Drawing:
    """Read SVG as a safe drawing. Raises ConversionError if the SVG is not valid."""
    root = _parse(source)
    clean(root, job)
    width, height = _set_size(root, job)
    etree.cleanup_namespaces(root)
    return Drawing(etree.tostring(root, encoding="unicode", with_tail=False), width, height)


def _parse(source: bytes) -> Any:
    if source.startswith(_GZIP):
        raise ConversionError("the drawing is compressed; send it as plain SVG.")
    check_tags(source)
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(source, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise ConversionError(f"the drawing is not well-formed XML: {str(error)[:120]}") from error
    refuse_entities(root)
    if root.tag == "svg":
        text: bytes = etree.tostring(root)
        root = etree.fromstring(text.replace(b"<svg", b'<svg xmlns="' + SVG.encode() + b'"', 1))
    if root.tag != f"{{{SVG}}}svg":
        raise ConversionError("the file is not an SVG drawing: the root element is not svg.")
    return root


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
