"""The XML namespaces of OpenDocument 1.2, and the conversion between OpenDocument lengths and EMU."""

from __future__ import annotations

import re

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
MIMETYPE = "application/vnd.oasis.opendocument.presentation"

_CM = 360_000
_UNITS = {"cm": _CM, "mm": _CM / 10, "in": 914_400, "inch": 914_400, "pt": 12_700, "pc": 152_400, "px": 9_525}
_LENGTH = re.compile(r"\s*(-?[0-9]*\.?[0-9]+)\s*([a-z]+)\s*")


def name(short: str) -> str:
    """Replace the prefix of an XML name by the namespace in braces, as lxml writes names.

    >>> name("dc:title")
    '{http://purl.org/dc/elements/1.1/}title'
    """
    prefix, _, local = short.partition(":")
    return f"{{{NAMESPACES[prefix]}}}{local}"


def length(text: str | None) -> float | None:
    """Convert a length with a unit, such as "2cm", to EMU. Return None if the text is not a length.

    >>> length("2.54cm"), length("72pt"), length("50%")
    (914400.0, 914400.0, None)
    """
    match = _LENGTH.fullmatch(text or "")
    if not match or match[2] not in _UNITS:
        return None
    return round(float(match[1][:20]) * _UNITS[match[2]], 3)


def cm(emu: float) -> str:
    """Format a length in EMU as a length in centimetres.

    >>> cm(914_400)
    '2.54cm'
    """
    return f"{round(emu / _CM, 4):g}cm"
