"""Decodes text of unknown character set: byte order mark, UTF-8, declared charset, then a guess (A5-06)."""

from __future__ import annotations

import codecs
import re

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
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
"""What people mean who declare the one: it holds the same letters and more (as browsers read it)."""

_EXCLUDED_CODECS = frozenset({"idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined", "mbcs", "oem"})
_ISO_2022 = (
    ("iso2022_jp_2", b"\x1b$B"),
    ("iso2022_jp_2", b"\x1b$@"),
    ("iso2022_jp_2", b"\x1b(J"),
    ("iso2022_kr", b"\x1b$)C"),
)
"""Seven bits with escape sequences: such text is ASCII, and so UTF-8, to whoever does not look."""
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
"""The letters of the languages that a character set was made for, the commonest set first: of equals, it wins."""

_NON_LATIN_CODECS = [
    "cp932", "euc_jp", "gb18030", "big5", "cp949", "cp1251", "koi8_r", "cp866", "cp1253", "cp1255", "cp1256", "cp874",
]  # fmt: skip


def decode(source: bytes, declared: str | None = None) -> str:
    """The text of these bytes; never fails.

    >>> decode(b"\\xef\\xbb\\xbfna\\xc3\\xafve"), decode("naïve".encode("cp1252"), "windows-1252")
    ('naïve', 'naïve')
    """
    for name in (
        _from_byte_order_mark(source),
        _detect_utf16_or_utf32(source),
        _detect_iso_2022(source),
        "utf-8",
        _declared_codec(declared),
    ):
        if name and (text := _try_decode(source, name)) is not None:
            return text
    return _try_decode(source, _guess(source)) or source.decode(_FALLBACK, "replace")


def _from_byte_order_mark(source: bytes) -> str | None:
    return next((name for mark, name in _BYTE_ORDER_MARKS if source.startswith(mark)), None)


def _detect_utf16_or_utf32(source: bytes) -> str | None:
    """UTF-16 or UTF-32 without a mark: every other byte of what is ASCII in it is zero."""
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


def _detect_iso_2022(source: bytes) -> str | None:
    if b"\x1b" not in source:
        return None
    return next((name for name, escape in _ISO_2022 if escape in source), None)


def _declared_codec(declared: str | None) -> str | None:
    """The codec for a declared character set: only those of text, none that unpacks or interprets."""
    try:
        codec = codecs.lookup((declared or "").strip().strip("\"'"))
    except (LookupError, ValueError):
        return None
    is_text = getattr(codec, "_is_text_encoding", True)
    return (
        _SUPERSETS.get(codec.name, codec.name)
        if is_text and codec.name.replace("-", "_") not in _EXCLUDED_CODECS
        else None
    )


def _try_decode(source: bytes, name: str) -> str | None:
    try:
        return str(source, name)
    except (LookupError, ValueError):
        return None


def _guess(source: bytes) -> str:
    sample = _sample(source)
    return _guess_latin(sample) if _is_latin(sample) else _guess_non_latin(sample)


def _is_latin(sample: bytes) -> bool:
    """Whether the bytes beyond ASCII stand alone, as letters with accents do among others."""
    runs = _NON_ASCII_RUNS.findall(sample)
    return 2 * sum(len(run) == 1 for run in runs) > len(runs)


def _guess_latin(sample: bytes) -> str:
    """The Latin character set under which most of those bytes are letters that its languages have."""

    def letter_count(name: str) -> int:
        return sum(letter in _LETTERS[name] for letter in sample.decode(name, "ignore"))

    return max(_LETTERS, key=letter_count)


def _guess_non_latin(sample: bytes) -> str:
    try:
        from charset_normalizer import from_bytes
    except ImportError:
        return _FALLBACK
    best = from_bytes(sample, cp_isolation=_NON_LATIN_CODECS).best()
    return _SUPERSETS.get(best.encoding, best.encoding) if best else _FALLBACK


def _sample(source: bytes) -> bytes:
    """A sample of whole lines, from the first byte that is not ASCII on."""
    if len(source) <= _SAMPLE_SIZE:
        return source
    beyond = _NON_ASCII_RUNS.search(source)
    first = beyond.start() if beyond else 0
    start = max(source.rfind(b"\n", 0, first) + 1, first - _SAMPLE_SIZE // 2)
    sample = source[start : start + _SAMPLE_SIZE]
    return sample[: sample.rfind(b"\n") + 1] or sample
