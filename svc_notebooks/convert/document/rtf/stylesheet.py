"""The tables of an RTF header: fonts, styles, lists."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .state import ParagraphFormat

_MONO = re.compile(r"courier|consolas|menlo|monaco|monospace|\bmono\b|lucida console|fixed", re.IGNORECASE)
_HEADING = re.compile(
    r"(?:heading|überschrift|titre|título|titolo|kop|rubrik|заголовок|标题|見出し)\s*(\d)", re.IGNORECASE
)
_MAX_LEVELS = 9


@dataclass(slots=True)
class ListLevel:
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
    mono_fonts: set[int] = field(default_factory=set)
    style_names: dict[int, str] = field(default_factory=dict)
    outlines: dict[int, int] = field(default_factory=dict)
    lists: dict[int, list[ListLevel]] = field(default_factory=dict)
    overrides: dict[int, int] = field(default_factory=dict)

    def codec_of(self, font: int | None) -> str:
        """The code page for letters in a font."""
        named = self.font_codecs.get(self.default_font if font is None else font)
        return named or self.codec

    def set_font_name(self, font: int, name: str) -> None:
        """Remember whether a font is one of typewriters."""
        if _MONO.search(name):
            self.mono_fonts.add(font)

    def is_mono(self, font: int | None) -> bool:
        """Whether letters in a font are code."""
        return font is not None and font in self.mono_fonts and font != self.default_font

    @property
    def ignored_marks(self) -> tuple[str, ...]:
        """The marks that say nothing in this text."""
        return ("Code",) if self.all_mono else ()

    def style_name(self, paragraph_format: ParagraphFormat) -> str:
        """The name of a paragraph's style in small letters."""
        return self.style_names.get(paragraph_format.style, "").strip("; ").lower()

    def heading(self, paragraph_format: ParagraphFormat) -> int | None:
        """The level of a heading, from 1 on."""
        named = _HEADING.match(self.style_name(paragraph_format))
        outline = (
            paragraph_format.outline if paragraph_format.outline >= 0 else self.outlines.get(paragraph_format.style, -1)
        )
        if 0 <= outline < _MAX_LEVELS:
            return outline + 1
        return int(named[1]) if named and named[1] != "0" else None

    def level(self, paragraph_format: ParagraphFormat) -> ListLevel | None:
        """The level of the list that a paragraph belongs to, where the head tells."""
        levels = self.lists.get(self.overrides.get(paragraph_format.list_id, 0), [])
        return levels[paragraph_format.level] if 0 <= paragraph_format.level < len(levels) else None
