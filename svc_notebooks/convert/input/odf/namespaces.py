"""The XML namespaces of OpenDocument 1.2, counts in attributes, and the conversion of OpenDocument lengths to EMU."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

_ODF = "urn:oasis:names:tc:opendocument:xmlns:"
NAMESPACES = {
    "office": _ODF + "office:1.0",
    "style": _ODF + "style:1.0",
    "text": _ODF + "text:1.0",
    "table": _ODF + "table:1.0",
    "draw": _ODF + "drawing:1.0",
    "presentation": _ODF + "presentation:1.0",
    "fo": _ODF + "xsl-fo-compatible:1.0",
    "svg": _ODF + "svg-compatible:1.0",
    "meta": _ODF + "meta:1.0",
    "manifest": _ODF + "manifest:1.0",
    "xlink": "http://www.w3.org/1999/xlink",
    "dc": "http://purl.org/dc/elements/1.1/",
    "loext": "urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0",
}
READ_NAMESPACES = NAMESPACES | {
    "calcext": "urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0",
    "chart": _ODF + "chart:1.0",
    "form": _ODF + "form:1.0",
    "number": _ODF + "datastyle:1.0",
    "script": _ODF + "script:1.0",
    "field": "urn:openoffice:names:experimental:ooo-ms-interop:xmlns:field:1.0",
    "xforms": "http://www.w3.org/2002/xforms",
    "math": "http://www.w3.org/1998/Math/MathML",
    "xml": "http://www.w3.org/XML/1998/namespace",
}
MIMETYPE = "application/vnd.oasis.opendocument.presentation"

_CM = 360_000
_UNITS = {"cm": _CM, "mm": _CM / 10, "in": 914_400, "inch": 914_400, "pt": 12_700, "pc": 152_400, "px": 9_525}
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
    text = element.get(name(key), "1")
    return max(minimum, min(maximum, int(text))) if text.isdecimal() and len(text) < 10 else 1


def cm(emu: float) -> str:
    """Format a length in EMU as a length in centimetres.

    >>> cm(914_400)
    '2.54cm'
    """
    return f"{round(emu / _CM, 4):g}cm"
