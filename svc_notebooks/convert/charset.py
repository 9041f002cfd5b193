"""Text of an unknown character set: UTF-8 with or without a mark, then what is declared, then a guess (A5-06)."""

from __future__ import annotations

import codecs

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LAST = "cp1252"
_SAMPLE = 256 * 1024


def decode(source: bytes, declared: str | None = None) -> str:
    """The text of these bytes; never fails.

    >>> decode(b"\\xef\\xbb\\xbfna\\xc3\\xafve"), decode("naïve".encode("cp1252"), "windows-1252")
    ('naïve', 'naïve')
    """
    marked = next((name for mark, name in _MARKS if source.startswith(mark)), None)
    for name in (marked, "utf-8", declared):
        if name and (text := _try(source, name)) is not None:
            return text
    return _try(source, _guess(source)) or source.decode(_LAST, "replace")


def _try(source: bytes, name: str) -> str | None:
    try:
        text = codecs.lookup(name).decode(source, "strict")[0]
    except (LookupError, ValueError):
        return None
    return text if isinstance(text, str) else None


def _guess(source: bytes) -> str:
    try:
        from charset_normalizer import from_bytes
    except ImportError:
        return _LAST
    best = from_bytes(source[:_SAMPLE]).best()
    return best.encoding if best else _LAST
