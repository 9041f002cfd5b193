"""Splits an RTF file into groups, control words, escaped bytes and text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from ...job import TooLarge

_TOKEN = re.compile(
    rb"\\([A-Za-z]{1,32})(-?\d{1,20})?\ ?"  # 1, 2: a control word and its parameter
    rb"|\\'([0-9A-Fa-f]{2})"  # 3: a byte in hexadecimal digits
    rb"|\\([^A-Za-z])"  # 4: a control symbol
    rb"|([{}])"  # 5: the begin or the end of a group
    rb"|([^\\{}\r\n]+)"  # 6: text
)
_MAX_DEPTH = 500


class RtfToken(NamedTuple):
    """A token of an RTF file. Control words use `word` and `number`, and tokens with text or bytes use `data`."""

    kind: Literal["open", "close", "word", "symbol", "byte", "text", "binary"]
    word: str = ""
    number: int | None = None
    data: bytes = b""


def tokens(source: bytes) -> Iterator[RtfToken]:
    """Yield the tokens of an RTF file, and skip invalid bytes. Raises TooLarge if groups are nested too deeply.

    >>> [token.kind for token in tokens(b"{\\\\b bold\\\\'e9}")]
    ['open', 'word', 'text', 'byte', 'close']
    """
    position, depth = 0, 0
    while match := _TOKEN.search(source, position):
        position = match.end()
        word, number, byte, symbol, brace, text = match.groups()
        if word == b"bin":  # raw bytes follow, in which braces mean nothing
            size = max(0, int(number or 0))
            yield RtfToken("binary", data=source[position : position + size])
            position += size
        elif word:
            yield RtfToken("word", word.decode("ascii"), None if number is None else int(number))
        elif text:
            yield RtfToken("text", data=text)
        elif byte:
            yield RtfToken("byte", data=bytes.fromhex(byte.decode("ascii")))
        elif symbol:
            yield RtfToken("symbol", data=symbol)
        else:
            depth += 1 if brace == b"{" else -1
            if depth > _MAX_DEPTH:
                raise TooLarge(f"the document is nested more than {_MAX_DEPTH} levels deep.")
            yield RtfToken("open" if brace == b"{" else "close")
