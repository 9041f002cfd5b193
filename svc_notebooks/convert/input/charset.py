"""Decodes text of an unknown character set (A5-06).

The module tries the byte order mark, UTF-16 and UTF-32, ISO 2022, UTF-8, the declared charset, and last a guess.
"""

from __future__ import annotations

import codecs
import re

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, since this mark begins with the mark of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_FALLBACK = "cp1252"
_SAMPLE_SIZE = 16 * 1024
_SUPERSETS = {
    "iso8859-1": "cp1252", "ascii": "cp1252", "latin_1": "cp1252", "shift_jis": "cp932", "euc_kr": "cp949",
    "gb2312": "gb18030", "gbk": "gb18030", "big5": "cp950", "iso8859-9": "cp1254", "iso8859-11": "cp874",
}  # fmt: skip
"""A dict from a declared codec to the superset codec that browsers use instead."""

_EXCLUDED_CODECS = frozenset({"idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined", "mbcs", "oem"})
_ISO_2022 = (
    ("iso2022_jp_2", b"\x1b$B"),
    ("iso2022_jp_2", b"\x1b$@"),
    ("iso2022_jp_2", b"\x1b(J"),
    ("iso2022_kr", b"\x1b$)C"),
)
"""The 7-bit encodings with an escape sequence of each. Text in these encodings is also valid ASCII and UTF-8."""
_NON_ASCII_RUNS = re.compile(rb"[\x80-\xff]+")
_LETTERS = {
    "cp1252": "äöüßéèêëàâáãçñíìîïóòôõúùûøåæœÿÄÖÜÉÈÊÀÂÁÃÇÑÍÎÓÔÕÚØÅÆŒ¿¡€£§°«»“”„‚‘’–—…·•×½²³µ®©™\xa0",  # noqa: RUF001
    "cp1250": "áčďéěíňóřšťúůýžąćęłńśźżőűöüôľĺŕăâîşţđäÁČĎÉĚÍŇÓŘŠŤÚŮÝŽĄĆĘŁŃŚŹŻŐŰÖÜÔĽŔĂÂÎŞŢĐ€§°„”“’–—…\xa0",  # noqa: RUF001
    "cp1254": "çğıöşüâîûÇĞİÖŞÜÂ€§°“”‘’–—…\xa0",  # noqa: RUF001
    "cp1257": "āčēģīķļņšūžąęėįųõäöüĀČĒĢĪĶĻŅŠŪŽĄĘĖĮŲÕÄÖÜ€§°„“”’–—…\xa0",  # noqa: RUF001
    "iso8859_2": "áčďéěíňóřšťúůýžąćęłńśźżőűöüôľĺŕăâîşţđäÁČĎÉĚÍŇÓŘŠŤÚŮÝŽĄĆĘŁŃŚŹŻŐŰÖÜÔĽŔĂÂÎŞŢĐ§°\xa0",
    "mac_roman": "äöüßéèêëàâáãçñíìîïóòôõúùûøåæœÄÖÜÉÀÃÕÑÇØÅÆ",
    "cp850": "äöüßéèêëàâáãçñíìîïóòôõúùûøåæÄÖÜÉÀÃÕÑÇØÅÆ",
}
"""The non-ASCII letters of each character set, the most common set first, since the first of equal scores wins."""

_NON_LATIN_CODECS = [
    "cp932", "euc_jp", "gb18030", "big5", "cp949", "cp1251", "koi8_r", "cp866", "cp1253", "cp1255", "cp1256", "cp874",
]  # fmt: skip


def decode(source: bytes, declared: str | None = None) -> str:
    """Decode bytes to text without ever raising an exception. Invalid bytes become replacement characters.

    >>> decode(b"\\xef\\xbb\\xbfna\\xc3\\xafve"), decode("naïve".encode("cp1252"), "windows-1252")
    ('naïve', 'naïve')
    """
    for name in (
        next((name for mark, name in _BYTE_ORDER_MARKS if source.startswith(mark)), None),
        _detect_utf16_or_utf32(source),
        next((name for name, escape in _ISO_2022 if escape in source), None),
        "utf-8",
        _declared_codec(declared),
    ):
        if name and (text := _try_decode(source, name)) is not None:
            return text
    return _try_decode(source, _guess(source)) or source.decode(_FALLBACK, "replace")


def _detect_utf16_or_utf32(source: bytes) -> str | None:
    head = source[: _SAMPLE_SIZE // 4 * 4]
    zeros = head.count(0)
    if zeros < 2 or len(source) % 2:
        return None
    if len(source) % 4 == 0 and zeros >= len(head) * 0.6:
        return "utf-32-be" if not head[0] else "utf-32-le"
    even, odd = head[::2].count(0), head[1::2].count(0)
    if max(even, odd) < len(head) * 0.1 or min(even, odd) * 4 > max(even, odd):
        return None
    return "utf-16-be" if even > odd else "utf-16-le"


def _declared_codec(declared: str | None) -> str | None:
    try:
        codec = codecs.lookup((declared or "").strip().strip("\"'"))
    except (LookupError, ValueError):
        return None
    if not getattr(codec, "_is_text_encoding", True) or codec.name.replace("-", "_") in _EXCLUDED_CODECS:
        return None
    return _SUPERSETS.get(codec.name, codec.name)


def _try_decode(source: bytes, name: str) -> str | None:
    try:
        return str(source, name)
    except (LookupError, ValueError):
        return None


def _guess(source: bytes) -> str:
    """Guess the codec of text, which is a Latin character set if most non-ASCII bytes stand alone.

    Otherwise charset_normalizer guesses a non-Latin character set. The fallback is cp1252.
    """
    sample = _sample(source)
    runs = _NON_ASCII_RUNS.findall(sample)
    if 2 * sum(len(run) == 1 for run in runs) > len(runs):
        return max(_LETTERS, key=lambda name: sum(map(_LETTERS[name].__contains__, sample.decode(name, "ignore"))))
    try:
        from charset_normalizer import from_bytes
    except ImportError:
        return _FALLBACK
    best = from_bytes(sample, cp_isolation=_NON_LATIN_CODECS).best()
    return _SUPERSETS.get(best.encoding, best.encoding) if best else _FALLBACK


def _sample(source: bytes) -> bytes:
    """Return at most `_SAMPLE_SIZE` bytes around the first non-ASCII byte, if possible as whole lines."""
    if len(source) <= _SAMPLE_SIZE:
        return source
    beyond = _NON_ASCII_RUNS.search(source)
    first = beyond.start() if beyond else 0
    start = max(source.rfind(b"\n", 0, first) + 1, first - _SAMPLE_SIZE // 2)
    sample = source[start : start + _SAMPLE_SIZE]
    return sample[: sample.rfind(b"\n") + 1] or sample
