"""The state of the RTF reader: character format, paragraph format and the destination of a group."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from ..model import Node


@dataclass(frozen=True, slots=True)
class CharacterFormat:
    """How letters look, and where they lead."""

    marks: frozenset[str] = frozenset()
    """Names of pandoc's inlines: Strong, Emph, Underline, Strikeout, Superscript, Subscript, SmallCaps, Code."""
    font: int | None = None
    hidden: bool = False
    link: str = ""

    def marked(self, name: str, on: bool) -> CharacterFormat:
        """The same format with or without a mark."""
        return replace(self, marks=self.marks | {name} if on else self.marks - {name})


@dataclass(frozen=True, slots=True)
class ParagraphFormat:
    """What a paragraph is: lengths in twips, -1 for none."""

    style: int = 0
    outline: int = -1
    left: int = 0
    first: int = 0
    list_id: int = 0
    level: int = 0
    tables: int = 0
    align: str = ""
    rtl: bool = False


@dataclass(frozen=True, slots=True)
class RtfRun:
    """Letters of one format, or one node: a picture, a note, a line break."""

    character_format: CharacterFormat
    text: str = ""
    node: Node | None = None


@dataclass(frozen=True, slots=True)
class RtfParagraph:
    """One paragraph; `marker` is the number or bullet that the file spells out before it."""

    paragraph_format: ParagraphFormat
    runs: list[RtfRun]
    marker: str = ""


@dataclass(slots=True)
class Group:
    """What holds between two braces; an inner group begins with a copy."""

    destination: str = "body"
    character_format: CharacterFormat = field(default_factory=CharacterFormat)
    paragraph_format: ParagraphFormat = field(default_factory=ParagraphFormat)
    unicode_skip: int = 1
    """How many letters stand for one that is given by its number."""
    ignorable: bool = False
    payload: Any = None
    """What the words of this group are about: a font, a picture, a field."""
