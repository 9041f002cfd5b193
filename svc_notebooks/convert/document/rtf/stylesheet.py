"""What the head of a rich text says: fonts, styles, lists."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .state import Shape

_MONO = re.compile(r"courier|consolas|menlo|monaco|monospace|\bmono\b|lucida console|fixed", re.IGNORECASE)
_HEADING = re.compile(
    r"(?:heading|überschrift|titre|título|titolo|kop|rubrik|заголовок|标题|見出し)\s*(\d)", re.IGNORECASE
)
_MOST_LEVELS = 9


@dataclass(slots=True)
class Level:
    """One level of a list: pandoc's style for its numbers, or none for bullets, and the first number."""

    style: str | None = "Decimal"
    start: int = 1


@dataclass(slots=True)
class StyleSheet:
    """The tables of the head by their numbers."""

    codec: str = "cp1252"
    default_font: int = 0
    all_mono: bool = False
    """Whether most letters are those of typewriters: then they say nothing."""
    font_codecs: dict[int, str | None] = field(default_factory=dict)
    mono: set[int] = field(default_factory=set)
    names: dict[int, str] = field(default_factory=dict)
    outlines: dict[int, int] = field(default_factory=dict)
    lists: dict[int, list[Level]] = field(default_factory=dict)
    overrides: dict[int, int] = field(default_factory=dict)

    def codec_of(self, font: int | None) -> str:
        """The code page for letters in a font."""
        named = self.font_codecs.get(self.default_font if font is None else font)
        return named or self.codec

    def set_font_name(self, font: int, name: str) -> None:
        """Remember whether a font is one of typewriters."""
        if _MONO.search(name):
            self.mono.add(font)

    def is_mono(self, font: int | None) -> bool:
        """Whether letters in a font are code."""
        return font is not None and font in self.mono and font != self.default_font

    @property
    def silent(self) -> tuple[str, ...]:
        """The marks that say nothing in this text."""
        return ("Code",) if self.all_mono else ()

    def style_name(self, shape: Shape) -> str:
        """The name of a paragraph's style in small letters."""
        return self.names.get(shape.style, "").strip("; ").lower()

    def heading(self, shape: Shape) -> int | None:
        """The level of a heading, from 1 on."""
        named = _HEADING.match(self.style_name(shape))
        outline = shape.outline if shape.outline >= 0 else self.outlines.get(shape.style, -1)
        if 0 <= outline < _MOST_LEVELS:
            return outline + 1
        return int(named[1]) if named and named[1] != "0" else None

    def level(self, shape: Shape) -> Level | None:
        """The level of the list that a paragraph belongs to, where the head tells."""
        levels = self.lists.get(self.overrides.get(shape.list_id, 0), [])
        return levels[shape.level] if 0 <= shape.level < len(levels) else None
