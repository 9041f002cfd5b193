"""Stores the state of an RTF group, which includes the character format, paragraph format and destination."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from ..model import Node

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

    marks: frozenset[str] = frozenset()
    """Pandoc inline types (Strong, Emph, Underline, Strikeout, Superscript, Subscript, SmallCaps, Code)."""
    font: int | None = None
    hidden: bool = False
    link: str = ""
    size: int = 24
    """The size of text in half-points."""
    color: int = 0
    background: int = 0
    """The places of the colours in the colour table, and 0 for the default."""

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
    unicode_skip: int = 1
    """The number of replacement bytes after each Unicode character (`\\u`)."""
    ignorable: bool = False
    payload: Any = None
    """The object to which the group's content is added. Examples are a list definition, a picture and a field."""

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
