"""Maps RTF fonts and code pages to Python codecs."""

from __future__ import annotations

import codecs

_FONT_CODECS = {
    0: "cp1252", 77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gb18030", 136: "cp950",
    161: "cp1253", 162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251",
    222: "cp874", 238: "cp1250", 254: "cp437", 255: "cp850",
}  # fmt: skip
"""`\\fcharset` and its code page; 0 is only Latin where the document says nothing else."""
_CODE_PAGES = {65001: "utf-8", 10000: "mac_roman", 10001: "cp932", 936: "gb18030", 1361: "johab"}
HEADER_CODECS = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850", "ansi": "cp1252"}
"""The words of the header that name a code page."""


def codec_for_code_page(number: int | None) -> str:
    """The codec for `\\ansicpg`.

    >>> codec_for_code_page(1251), codec_for_code_page(0), codec_for_code_page(-7)
    ('cp1251', 'cp1252', 'cp1252')
    """
    name = _CODE_PAGES.get(number or 0, f"cp{number}")
    try:
        return codecs.lookup(name).name
    except LookupError:
        return "cp1252"


def codec_for_font_charset(number: int | None) -> str | None:
    """The codec for `\\fcharset`, or None where the document's is meant."""
    return _FONT_CODECS.get(number) if number else None
