"""The fonts that pages are set in: those that typst carries, then the system's; and the scripts that none of them has.

Latin, Greek, Cyrillic and Hebrew are in typst's own fonts, so a page in these looks the same everywhere.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from .engines import TYPST

_SYSTEM = (
    "/usr/share/fonts", "/usr/local/share/fonts", "~/.local/share/fonts", "~/.fonts",
    "/System/Library/Fonts", "/Library/Fonts", "~/Library/Fonts", "C:/Windows/Fonts",
)  # fmt: skip
_OWN = frozenset({"Latin", "Greek", "Cyrillic", "Hebrew"})


class Script(NamedTuple):
    """Letters, the bit by which a font says that it has them (OS/2, ulUnicodeRange), and a package that brings one."""

    name: str
    letters: re.Pattern[str]
    bit: int
    package: str


def _script(name: str, letters: str, bit: int, package: str = "fonts-noto-core") -> Script:
    return Script(name, re.compile(f"[{letters}]"), bit, package)


_CJK = "fonts-noto-cjk"
SCRIPTS = (
    _script("Greek", "\u0370-\u03ff", 7),
    _script("Cyrillic", "\u0400-\u052f", 9),
    _script("Armenian", "\u0530-\u058f", 10),
    _script("Hebrew", "\u0590-\u05ff", 11),
    _script("Arabic", "\u0600-\u06ff\u0750-\u077f", 13),
    _script("Devanagari", "\u0900-\u097f", 15),
    _script("Bengali", "\u0980-\u09ff", 16),
    _script("Gurmukhi", "\u0a00-\u0a7f", 17),
    _script("Gujarati", "\u0a80-\u0aff", 18),
    _script("Tamil", "\u0b80-\u0bff", 20),
    _script("Telugu", "\u0c00-\u0c7f", 21),
    _script("Kannada", "\u0c80-\u0cff", 22),
    _script("Malayalam", "\u0d00-\u0d7f", 23),
    _script("Thai", "\u0e00-\u0e7f", 24),
    _script("Lao", "\u0e80-\u0eff", 25),
    _script("Georgian", "\u10a0-\u10ff", 26),
    _script("Sinhala", "\u0d80-\u0dff", 73),
    _script("Myanmar", "\u1000-\u109f", 74),
    _script("Ethiopic", "\u1200-\u137f", 75),
    _script("Khmer", "\u1780-\u17ff", 80),
    _script("Tibetan", "\u0f00-\u0fff", 70),
    _script("Kana", "\u3041-\u30ff", 49, _CJK),
    _script("Hangul", "\u1100-\u11ff\uac00-\ud7a3", 56, _CJK),
    _script("Han", "\u4e00-\u9fff", 59, _CJK),
    _script("Emoji", "\U0001f300-\U0001faff", -1, "fonts-noto-color-emoji"),
)
"""The scripts that are looked for in a text; emoji are told by a font's name."""

# Which of the families that have Han characters a text is set in, by what else is in it.
_HAN = (("Hangul", ("KR", "Korean")), ("Kana", ("JP", "Japanese")), ("Han", ("SC", "Simplified")))


@cache
def fonts() -> Any:
    """The fonts as typst takes them: looked through once in a process, since that takes longer than a page."""
    import typst

    folders = [folder for place in _SYSTEM if (folder := Path(place).expanduser()).is_dir()]
    return typst.Fonts(include_system_fonts=False, font_paths=folders)


def missing(text: str) -> list[Script]:
    """The scripts of a text that no font here has."""
    return [script for script in _used(text) if script.name not in _found()]


def families(text: str) -> list[str]:
    """The families to be tried, in this order, for the scripts of a text; Han as its language draws it."""
    found = _found()
    used = [script.name for script in _used(text) if script.name in found and script.name not in _OWN]
    style = next((marks for name, marks in _HAN if name in used), ())
    return list(dict.fromkeys(_best(name, found[name], style) for name in used))


def report() -> list[tuple[str, str | None]]:
    """For each script a family that has it, or None."""
    found = _found() if TYPST.found() else {}
    return [
        (script.name, _best(script.name, found[script.name], ("SC",)) if script.name in found else None)
        for script in SCRIPTS
    ]


def _used(text: str) -> list[Script]:
    return [] if text.isascii() else [script for script in SCRIPTS if script.letters.search(text)]


def _best(script: str, names: tuple[str, ...], style: tuple[str, ...]) -> str:
    """Of several families one without frills: made for the script, in the language's style, the shortest name.

    Fonts claim ranges of which they have a letter or two; the one that is named for a script has all of it.
    """

    def rank(name: str) -> tuple[bool, bool, bool, bool, int, str]:
        styled = any(mark in name.split() for mark in style)
        return script not in name, not styled, "Noto Sans" not in name, "Mono" in name, len(name), name

    return min(names, key=rank)


@cache
def _found() -> dict[str, tuple[str, ...]]:
    """The families that have each script, as their files say."""
    found: dict[str, set[str]] = {name: {"Libertinus Serif"} for name in _OWN}
    for face in fonts().fonts():
        bits = _ranges(face.path, face.index) if face.path else 0
        emoji = "emoji" in face.family.lower()
        for script in SCRIPTS:
            if emoji if script.bit < 0 else bits >> script.bit & 1 and not emoji:
                found.setdefault(script.name, set()).add(face.family)
    return {name: tuple(sorted(each)) for name, each in found.items()}


def _ranges(path: str, index: int) -> int:
    """The Unicode ranges that a face says it covers, as bits; 0 for a file that cannot be read."""
    try:
        with Path(path).open("rb") as file:
            return next((_os2(file, offset) for tag, offset in _tables(file, index) if tag == b"OS/2"), 0)
    except (OSError, struct.error):
        return 0


def _tables(file: BinaryIO, index: int) -> Iterator[tuple[bytes, int]]:
    """The tables of a face, and where they are; a collection has several faces."""
    start = 0
    if file.read(4) == b"ttcf":
        file.seek(12 + 4 * index)
        (start,) = struct.unpack(">I", file.read(4))
    file.seek(start + 4)
    (count,) = struct.unpack(">H", file.read(2))
    file.seek(start + 12)
    directory = file.read(16 * count)
    for at in range(0, len(directory), 16):
        tag, _, offset, _ = struct.unpack_from(">4sIII", directory, at)
        yield tag, offset


def _os2(file: BinaryIO, offset: int) -> int:
    file.seek(offset + 42)
    parts = struct.unpack(">4I", file.read(16))
    return sum(part << 32 * place for place, part in enumerate(parts))
