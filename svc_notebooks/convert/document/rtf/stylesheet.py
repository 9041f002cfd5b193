"""Stores the code pages, fonts, styles and lists that the header of an RTF file defines."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field, replace

from ..looks import Look
from .state import CharacterFormat, Group, ParagraphFormat

_FONT_CODECS = {
    77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gb18030", 136: "cp950", 161: "cp1253",
    162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874",
    238: "cp1250", 254: "cp437", 255: "cp850",
}  # fmt: skip
"""Codecs by the parameter of `\\fcharset`. The parameter 0 means the code page of the document."""
_EAST_ASIAN = (128, 129, 130, 134, 136)
"""The character sets whose text fonts have a fixed width, too."""
_CODE_PAGES = {65001: "utf-8", 10000: "mac_roman", 10001: "cp932", 936: "gb18030", 1361: "johab"}
_HEADER_CODECS = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850", "ansi": "cp1252"}
_NUMBER_STYLES = {
    0: "Decimal", 1: "UpperRoman", 2: "LowerRoman", 3: "UpperAlpha", 4: "LowerAlpha", 23: None, 255: None,
}  # fmt: skip
_MONO = re.compile(r"courier|consolas|menlo|monaco|monospace|\bmono\b|lucida console|fixed", re.IGNORECASE)
_HEADING = re.compile(
    r"(?:heading|überschrift|titre|título|titolo|kop|rubrik|заголовок|标题|見出し)\s*(\d)", re.IGNORECASE
)
_MAX_LEVELS = 9


@dataclass(slots=True)
class ListLevel:
    """A level of an RTF list. `style` is pandoc's number style, such as "Decimal", or None for bullets."""

    style: str | None = "Decimal"
    start: int = 1


@dataclass(slots=True)
class StyleSheet:
    """The fonts, paragraph styles, lists and list overrides that an RTF header defines, by number in the file."""

    codec: str = "cp1252"
    default_font: int = 0
    all_mono: bool = False
    """True if most of the text is in a fixed-width font. Text in this font is then not code."""
    font_codecs: dict[int, str | None] = field(default_factory=dict)
    mono_fonts: set[int] = field(default_factory=set)
    style_names: dict[int, str] = field(default_factory=dict)
    outlines: dict[int, int] = field(default_factory=dict)
    lists: dict[int, list[ListLevel]] = field(default_factory=dict)
    overrides: dict[int, int] = field(default_factory=dict)
    colors: list[str] = field(default_factory=list)
    """The colours of the colour table as #rrggbb, or "" for an empty place."""
    _color: dict[str, int] = field(default_factory=dict)

    def look(self, character_format: CharacterFormat, paragraph_format: ParagraphFormat) -> Look:
        """Return the look of text in a paragraph without the values that are the default."""
        look = {"size": f"{character_format.size / 2:g}pt"}
        color, background, shading = (
            self.colors[number] if 0 < number < len(self.colors) else ""
            for number in (character_format.color, character_format.background, paragraph_format.shading)
        )
        if color not in ("", "#000000") and not character_format.link:
            look["color"] = color
        look |= {"background": background.replace("#ffffff", ""), "shading": shading.replace("#ffffff", "")}
        if paragraph_format.align != ("right" if paragraph_format.rtl else "left"):
            look["align"] = paragraph_format.align
        return {name: value for name, value in look.items() if value}

    def codec_of(self, font: int | None) -> str:
        """Return the codec for text in a font. None means the default font."""
        return self.font_codecs.get(self.default_font if font is None else font) or self.codec

    @property
    def ignored_marks(self) -> tuple[str, ...]:
        """The character formats that are ignored, which are ("Code",) if most of the text has a fixed-width font."""
        return ("Code",) if self.all_mono else ()

    def style_name(self, paragraph_format: ParagraphFormat) -> str:
        """Return the lower-case name of a paragraph's style, or "" if the header does not define the style."""
        return self.style_names.get(paragraph_format.style, "").strip("; ").lower()

    def heading(self, paragraph_format: ParagraphFormat) -> int | None:
        """Return the level of a heading, counted from 1. Returns None if the paragraph is not a heading."""
        outline = paragraph_format.outline
        if outline < 0:
            outline = self.outlines.get(paragraph_format.style, -1)
        if 0 <= outline < _MAX_LEVELS:
            return outline + 1
        named = _HEADING.match(self.style_name(paragraph_format))
        return int(named[1]) or None if named else None

    def level(self, paragraph_format: ParagraphFormat) -> ListLevel | None:
        """Return the list level of a paragraph. Returns None if the header does not define the list or the level."""
        levels = self.lists.get(self.overrides.get(paragraph_format.list_id, 0), [])
        return levels[paragraph_format.level] if 0 <= paragraph_format.level < len(levels) else None

    def add_text(self, group: Group, text: str) -> None:
        """Add text in a font or style definition to the header tables. Text in other groups is ignored."""
        if group.destination == "fonts" and _MONO.search(text):
            self.mono_fonts.add(group.character_format.font or 0)
        elif group.destination == "styles":
            style = group.paragraph_format.style
            self.style_names[style] = self.style_names.get(style, "") + text
        elif group.destination == "colors":
            for _ in range(text.count(";")):
                values = (self._color.get(name, 0) % 256 for name in ("red", "green", "blue"))
                self.colors.append("#" + bytes(values).hex() if self._color else "")
                self._color = {}

    def apply_control_word(self, group: Group, word: str, number: int | None) -> None:
        """Apply a control word that defines or selects a font, style, list or code page. Other words are ignored."""
        if word in _HEADER_CODECS:
            self.codec = _HEADER_CODECS[word]
        elif word == "ansicpg":
            self.codec = codec_for_code_page(number)
        elif word == "deff":
            self.default_font = number or 0
        elif word == "f":
            mono = number is not None and number in self.mono_fonts and number != self.default_font
            group.character_format = replace(group.character_format, font=number).marked("Code", on=mono)
        elif group.destination == "colors":
            self._color[word] = number or 0
        elif word == "outlinelevel":
            if group.destination == "styles":
                self.outlines[group.paragraph_format.style] = number or 0
            group.paragraph_format = replace(group.paragraph_format, outline=-1 if number is None else number)
        elif word == "ls":
            if group.destination == "overrides" and isinstance(group.payload, int):
                self.overrides[number or 0] = group.payload
            group.paragraph_format = replace(group.paragraph_format, list_id=number or 0)
        elif group.destination == "fonts":
            font = group.character_format.font or 0
            if word == "fcharset":
                self.font_codecs[font] = _FONT_CODECS.get(number or 0)
                if number in _EAST_ASIAN:
                    self.mono_fonts.discard(font)
            elif word == "fmodern":
                self.mono_fonts.add(font)
        elif group.destination == "overrides" and word == "listid":
            group.payload = number
        elif group.destination == "lists" and word == "list":
            group.payload = []
        elif group.destination == "lists" and isinstance(group.payload, list):
            self._define_list(group.payload, word, number)

    def _define_list(self, levels: list[ListLevel], word: str, number: int | None) -> None:
        if word == "listlevel":
            levels.append(ListLevel())
        elif word == "levelnfc" and levels:
            levels[-1].style = _NUMBER_STYLES.get(number or 0, "Decimal")
        elif word == "levelstartat" and levels:
            levels[-1].start = number or 0
        elif word == "listid":
            self.lists[number or 0] = levels


def codec_for_code_page(number: int | None) -> str:
    """Return the codec for a code page number (`\\ansicpg`), or cp1252 if Python has no such codec.

    >>> codec_for_code_page(1251), codec_for_code_page(0), codec_for_code_page(-7)
    ('cp1251', 'cp1252', 'cp1252')
    """
    try:
        return codecs.lookup(_CODE_PAGES.get(number or 0, f"cp{number}")).name
    except LookupError:
        return "cp1252"
