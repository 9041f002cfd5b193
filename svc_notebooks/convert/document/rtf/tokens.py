"""Splits an RTF file into tokens: groups, control words, escaped bytes, text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from ...job import TooLarge

_TOKEN = re.compile(
    rb"\\([A-Za-z]{1,32})(-?\d{1,20})?\ ?"  # 1, 2: a control word and its number
    rb"|\\'([0-9A-Fa-f]{2})"  # 3: a byte
    rb"|\\([^A-Za-z])"  # 4: a control symbol
    rb"|([{}])"  # 5: a group's begin or end
    rb"|([^\\{}\r\n]+)"  # 6: text
)
_MAX_DEPTH = 500


class RtfToken(NamedTuple):
    """`word` and `number` of a control word; `data` of all others."""

    kind: Literal["open", "close", "word", "symbol", "byte", "text", "binary"]
    word: str = ""
    number: int | None = None
    data: bytes = b""


def tokens(source: bytes) -> Iterator[RtfToken]:
    """Every token in turn; what is no rich text is passed over.

    Raises:
        TooLarge: groups are nested too deep.

    >>> [token.kind for token in tokens(b"{\\\\b bold\\\\'e9}")]
    ['open', 'word', 'text', 'byte', 'close']
    """
    position, depth = 0, 0
    while match := _TOKEN.search(source, position):
        position = match.end()
        token = _token(match)
        if token.word == "bin":  # raw bytes follow, in which braces mean nothing
            size = max(0, token.number or 0)
            token = RtfToken("binary", data=source[position : position + size])
            position += size
        depth += (token.kind == "open") - (token.kind == "close")
        if depth > _MAX_DEPTH:
            raise TooLarge(f"it is nested more than {_MAX_DEPTH} deep.")
        yield token


def _token(match: re.Match[bytes]) -> RtfToken:
    word, number, byte, symbol, brace, text = match.groups()
    if word:
        return RtfToken("word", word.decode("ascii"), None if number is None else int(number))
    if text:
        return RtfToken("text", data=text)
    if brace:
        return RtfToken("open" if brace == b"{" else "close")
    return RtfToken("byte", data=bytes.fromhex(byte.decode("ascii"))) if byte else RtfToken("symbol", data=symbol)
