"""Stores the state of an RTF group, which includes the character format, paragraph format and destination."""

from __future__ import annotations

import codecs
import json
import re
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import Any

from ..looks import Look
from ..model import Node

# Tables of RTF: destinations and characters by control word, skipped destinations, and codecs by number.
#
# The number of a codec is the parameter of `\fcharset`. The parameter 0 means the code page of the document.
WORDS: dict[str, Any] = json.loads((files(__package__) / "words.json").read_text("utf-8"))

_EAST_ASIAN = (128, 129, 130, 134, 136)  # the character sets whose text fonts have a fixed width, too
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
    all_mono: bool = False  # true if most of the text is in a fixed-width font. Text in this font is then not code.
    font_codecs: dict[int, str | None] = field(default_factory=dict)
    mono_fonts: set[int] = field(default_factory=set)
    style_names: dict[int, str] = field(default_factory=dict)
    outlines: dict[int, int] = field(default_factory=dict)
    lists: dict[int, list[ListLevel]] = field(default_factory=dict)
    overrides: dict[int, int] = field(default_factory=dict)
    colors: list[str] = field(default_factory=list)  # as #rrggbb, or "" for an empty place
    _color: dict[str, int] = field(default_factory=dict)

    def look(self, character_format: CharacterFormat, paragraph_format: ParagraphFormat) -> Look:
        """Return the look of text in a paragraph without the values that are the default."""
        look = {"size": f"{character_format.size / 2:g}pt"}
        numbers = (character_format.color, character_format.background, paragraph_format.shading)
        color, background, shading = (self.colors[it] if 0 < it < len(self.colors) else "" for it in numbers)
        if color not in ("", "#000000") and not character_format.link:
            look["color"] = color
        look |= {"background": background.replace("#ffffff", ""), "shading": shading.replace("#ffffff", "")}
        if paragraph_format.align != ("right" if paragraph_format.rtl else "left"):
            look["align"] = paragraph_format.align
        return {name: value for name, value in look.items() if value}

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
                self.font_codecs[font] = WORDS["font_codecs"].get(str(number or 0))
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


_MARKS = {
    "b": "Strong", "i": "Emph", "ul": "Underline", "strike": "Strikeout", "striked": "Strikeout", "scaps": "SmallCaps",
    **dict.fromkeys(("uld", "uldash", "uldashd", "uldashdd", "uldb", "ulth", "ulw", "ulwave", "ulhwave"), "Underline"),
}  # fmt: skip
_SCRIPTS = {"super": "Superscript", "sub": "Subscript", "nosupersub": ""}
_ALIGNS = {"ql": "left", "qr": "right", "qc": "center", "qj": "justify"}
_NUMBERS = {
    "s": "style", "li": "left", "lin": "left", "fi": "first", "ilvl": "level", "itap": "tables", "cbpat": "shading",
}  # fmt: skip
_LOOKS = {"fs": "size", "cf": "color", "highlight": "background", "chcbpat": "background"}
_MAX = 100_000


@dataclass(frozen=True, slots=True)
class CharacterFormat:
    """The format of text. `link` is the target of the link around the text, or "" outside links."""

    marks: frozenset[str] = frozenset()  # pandoc inline types, such as Strong and Superscript
    font: int | None = None
    hidden: bool = False
    link: str = ""
    size: int = 24  # the size of text in half-points
    color: int = 0
    background: int = 0  # a place in the colour table like `color`, and 0 for the default

    def marked(self, name: str, on: bool) -> CharacterFormat:
        """Return a copy of the format in which the inline type `name` is added (`on` is true) or removed."""
        return replace(self, marks=self.marks | {name} if on else self.marks - {name})


@dataclass(frozen=True, slots=True)
class ParagraphFormat:
    """The format of a paragraph.

    Indents (`left`, `first`) are in twips. `outline` is -1 without an outline level, and `list_id` is 0 without a list.
    `tables` is the number of nested tables around the paragraph.
    """

    style: int = 0
    outline: int = -1
    left: int = 0
    first: int = 0
    list_id: int = 0
    level: int = 0
    tables: int = 0
    align: str = ""
    rtl: bool = False
    shading: int = 0


@dataclass(frozen=True, slots=True)
class RtfRun:
    """A piece of text with one format, or a node (a picture, footnote, bookmark or line break).

    `marker` is the marker of the text's look (see `Looks`).
    """

    character_format: CharacterFormat
    text: str = ""
    node: Node | None = None
    marker: str = ""


@dataclass(frozen=True, slots=True)
class RtfParagraph:
    """An RTF paragraph. `marker` is the text of its number or bullet, or ""."""

    paragraph_format: ParagraphFormat
    runs: list[RtfRun]
    marker: str = ""


@dataclass(slots=True)
class Group:
    """The state of an RTF group (text between two braces). An inner group starts with a copy of the outer state."""

    destination: str = "body"
    character_format: CharacterFormat = field(default_factory=CharacterFormat)
    paragraph_format: ParagraphFormat = field(default_factory=ParagraphFormat)
    unicode_skip: int = 1  # the number of replacement bytes after each Unicode character (`\u`)
    ignorable: bool = False
    payload: Any = None  # what gets the group's content, such as a list definition, a picture or a field

    def apply_control_word(self, word: str, number: int | None) -> bool:
        """Apply a control word for text or paragraph formatting. Returns False for other control words."""
        characters, paragraph = self.character_format, self.paragraph_format
        if word in _MARKS:
            self.character_format = characters.marked(_MARKS[word], on=number != 0)
        elif word in _SCRIPTS:
            script = {_SCRIPTS[word]} if _SCRIPTS[word] and number != 0 else set()
            self.character_format = replace(characters, marks=characters.marks - {"Superscript", "Subscript"} | script)
        elif word in _ALIGNS:
            self.paragraph_format = replace(paragraph, align=_ALIGNS[word])
        elif word in _NUMBERS:
            changed: dict[str, Any] = {_NUMBERS[word]: min(max(number or 0, -_MAX), _MAX)}
            self.paragraph_format = replace(paragraph, **changed)
        elif word in _LOOKS:
            look: dict[str, Any] = {_LOOKS[word]: max(0, number or 0)}
            self.character_format = replace(characters, **look)
        elif word == "plain":
            self.character_format = CharacterFormat(link=characters.link)
        elif word == "pard":
            self.paragraph_format = ParagraphFormat()
        elif word in ("v", "deleted"):
            self.character_format = replace(characters, hidden=number != 0)
        elif word == "ulnone":
            self.character_format = characters.marked("Underline", on=False)
        elif word == "intbl":
            self.paragraph_format = replace(paragraph, tables=max(1, paragraph.tables))
        elif word in ("rtlpar", "ltrpar"):
            self.paragraph_format = replace(paragraph, rtl=word == "rtlpar")
        elif word == "uc":
            self.unicode_skip = min(max(number or 0, 0), 16)
        else:
            return False
        return True
