"""Decodes text of an unknown character set (A5-06).

The module tries the byte order mark, UTF-16 and UTF-32, ISO 2022, UTF-8, the declared charset, and last a guess.
"""

from __future__ import annotations

import codecs
import json
import re
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from importlib.resources import files
from string import ascii_lowercase

from ..job import Job

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, since this mark begins with the mark of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE_SIZE = 4 * 1024
_SUPERSETS = {  # the superset that browsers use, by the declared codec
    "iso8859-1": "cp1252", "ascii": "cp1252", "latin_1": "cp1252", "shift_jis": "cp932", "euc_kr": "cp949",
    "gb2312": "gb18030", "gbk": "gb18030", "big5": "cp950", "iso8859-9": "cp1254", "iso8859-11": "cp874",
}  # fmt: skip

_MAX_ALPHABETS = 4  # UTF-16 has at most so many different high bytes, one for each alphabet
_EXCLUDED_CODECS = frozenset({"idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined", "mbcs", "oem"})
_ISO_2022 = (  # with an escape sequence of each; their text is also valid ASCII and UTF-8
    ("iso2022_jp_2", b"\x1b$B"), ("iso2022_jp_2", b"\x1b$@"), ("iso2022_jp_2", b"\x1b(J"), ("iso2022_kr", b"\x1b$)C"),
)  # fmt: skip
_NON_ASCII = re.compile(rb"[\x80-\xff]")
_MARKUP_CHARSET = re.compile(
    rb"<(?:\?xml[^>]{0,200}?encoding|meta[^>]{0,200}?charset)\s*=\s*[\"']?\s*(?!utf-?(?:16|32))([a-z\d_.:-]{1,40})",
    re.IGNORECASE,
)  # a page that is read as ASCII is not in UTF-16
_COMMENTS = re.compile(rb"<!--.*?-->", re.DOTALL)
# The codecs that are guessed, each with a cost and languages of letters.json.
_CODECS: list[tuple[str, float, str]] = json.loads((files(__package__) / "codecs.json").read_text("utf-8"))
# The letters of languages, the most frequent first. The first 26 letters of most, and the characters of Chinese and
# Japanese, are those of charset-normalizer 3.5.
_LETTERS: dict[str, str] = json.loads((files(__package__) / "letters.json").read_text("utf-8"))
_PUNCTUATION = "“”„‚‘’–—…«»·•§°€£¥±×²³¼½¾µ¿¡©®™\xa0\u3000\u200c\u200d\u200e\u200f、。「」（）：，！？《》・"  # noqa: RUF001
_INVALID, _FOREIGN, _ODD = 18.0, 11.5, 9.5  # costs of an invalid byte, another letter, and mixed letters
_DECLARED = -30.0
_WORDS = re.compile(r"\w+")
_ODD_SYMBOLS = re.compile(r"(?<=\w)[^\w\s\x00-\x7f’·°\xa0-](?=\w)|(?<=[^\W\d_])[¹¼½¾]|[À-ÖØ-öø-\u06ff](?=\d)")  # noqa: RUF001
_MIXED_SCRIPTS = re.compile(r"[A-Za-z](?=[^\W\x00-\x7f])|[^\W\x00-\x7f](?=[A-Za-z])|[À-ÖØ-öø-\u06ff](?=\d)")


def decode(source: bytes, job: Job, declared: str | None = None) -> str:
    """Decode bytes to text without ever raising an exception. Invalid bytes become replacement characters.

    The charset of the job comes before `declared`. A note says if the character set was guessed, or bytes were invalid.

    >>> from pathlib import Path
    >>> job = Job("text/plain", Path(), charset="windows-1252")
    >>> decode(b"\\xef\\xbb\\xbfna\\xc3\\xafve", job), decode("naïve".encode("cp1252"), job)
    ('naïve', 'naïve')
    """
    codec = _declared_codec(job.charset or declared)
    marked = next((name for mark, name in _BYTE_ORDER_MARKS if source.startswith(mark)), None)
    escaped = next((name for name, escape in _ISO_2022 if escape in source), None)
    for name in (marked, detect_utf16_or_utf32(source), escaped, "utf-8", codec):
        with suppress(LookupError, ValueError):
            if name:
                return str(source, name)
    guess = _guess(_sample(source), codec)
    if guess != codec:
        job.note(
            f"The character set was guessed: {guess}. If letters are wrong, declare the character set:"
            f' mime_type="{job.media_type}; charset=...".'
        )
    text = source.decode(guess, "replace")
    if "\ufffd" in text:
        job.note(f"Bytes that are not valid in the character set {guess} became \ufffd.")
    return text


def decode_markup(source: bytes, job: Job) -> str:
    """Decode a web page, with the charset that an XML declaration or a meta element declares."""
    match = _MARKUP_CHARSET.search(_COMMENTS.sub(b"", source[:_SAMPLE_SIZE]))
    return decode(source, job, match[1].decode() if match else None)


def detect_utf16_or_utf32(source: bytes) -> str | None:
    """Return the codec of UTF-16 or UTF-32 without a byte order mark, as the zeros show, or None for other text."""
    head = source[: _SAMPLE_SIZE // 4 * 4]
    zeros = head.count(0)
    if zeros < 2 or len(source) % 2:
        return None
    if len(source) % 4 == 0 and zeros >= len(head) * 0.6:
        return "utf-32-be" if not head[0] else "utf-32-le"
    even, odd = head[::2], head[1::2]
    high, low = (even, odd) if even.count(0) > odd.count(0) else (odd, even)
    has_few_alphabets = len(set(high)) <= _MAX_ALPHABETS and len(set(low)) > 2 * len(set(high))
    is_wide = high.count(0) * 5 >= len(high) or has_few_alphabets
    if not is_wide or low.count(0) * 4 > high.count(0):
        return None
    return "utf-16-be" if high is even else "utf-16-le"


def _declared_codec(declared: str | None) -> str | None:
    try:
        label = (declared or "").strip(" \t\r\n\"'").lower()
        codec = codecs.lookup(re.sub("^x-|-[ei]$", "", label).replace("windows-", "cp"))  # x-sjis, iso-8859-8-i
    except (LookupError, ValueError):
        return None
    if not getattr(codec, "_is_text_encoding", True) or codec.name.replace("-", "_") in _EXCLUDED_CODECS:
        return None
    return _SUPERSETS.get(codec.name, codec.name)


def _guess(sample: bytes, declared: str | None) -> str:
    """Return the codec with the lowest cost, which is about the negative logarithm of the text's probability.

    UTF-8 and the declared codec are candidates, too, since a few of their bytes may be invalid.
    """
    every = " ".join(languages for _, _, languages in _CODECS)
    candidates = {codec: (cost, languages) for codec, cost, languages in _CODECS} | {"utf-8": (0.0, every)}
    candidates |= {declared: (_DECLARED, every)} if declared else {}

    def cost(codec: str) -> float:
        return candidates[codec][0] + _cost(sample.decode(codec, "replace"), candidates[codec][1].split())

    return min(candidates, key=cost)


def _cost(text: str, languages: Iterable[str]) -> float:
    """Return the cost of a text in the best of several languages. Words of mixed case or scripts cost more."""
    counts = Counter(text.replace("İ", "i").lower())
    cased = (word for word in _WORDS.findall(text) if not word.isascii() and word.upper() != word.lower())
    mixed = sum(not (word.isupper() or word[1:].islower() or word.islower()) for word in cased)
    odd_by_script = len(_MIXED_SCRIPTS.findall(text)), len(_ODD_SYMBOLS.findall(text))

    def cost(language: str) -> float:
        letters, is_latin = _letter_costs(language)
        return sum(count * letters[letter] for letter, count in counts.items()) + _ODD * odd_by_script[is_latin]

    return min(map(cost, languages)) + _ODD * mixed


class _LetterCosts(dict[str, float]):
    """A dict from lower case letters to their costs, which also has a cost for each missing character."""

    def __missing__(self, letter: str) -> float:
        cost = 0.0 if letter < "\x80" else _FOREIGN if letter.isprintable() and letter != "\ufffd" else _INVALID
        return self.setdefault(letter, cost)


@cache
def _letter_costs(language: str) -> tuple[_LetterCosts, bool]:
    """Return the costs of the letters in a language, and whether its script is Latin."""
    letters = _LETTERS[language]
    if language in ("Japanese", "Chinese", "Korean"):
        costs = {letter: 0.046 * rank - 0.9 for rank, letter in enumerate(letters)}
    else:
        costs = {letter: 2.1 + min(0.16 * rank, 4.4) for rank, letter in enumerate(letters)}
    is_latin = "e" in letters and "а" not in letters  # noqa: RUF001
    others = dict.fromkeys(ascii_lowercase, 7.0) if is_latin else _letter_costs("English")[0]
    return _LetterCosts(dict.fromkeys(_PUNCTUATION, 7.0) | others | costs), is_latin


def _sample(source: bytes) -> bytes:
    """Return the first lines with non-ASCII bytes, together about `_SAMPLE_SIZE` bytes."""
    lines: list[bytes] = []
    size = end = 0
    while size < _SAMPLE_SIZE and (match := _NON_ASCII.search(source, end)):
        start = max(source.rfind(b"\n", end, match.start()) + 1, match.start() - _SAMPLE_SIZE // 8, end)
        newline = source.find(b"\n", match.start(), match.start() + _SAMPLE_SIZE)
        end = newline + 1 or match.start() + _SAMPLE_SIZE
        lines.append(source[start:end])
        size += end - start
    return b"".join(lines)
