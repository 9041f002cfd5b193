"""Control words of the head: fonts, styles, lists. Each tells the sheet something, or the group what is spoken of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from . import charsets
from .state import Group
from .stylesheet import Level, StyleSheet

_NUMBERS = {0: "Decimal", 1: "UpperRoman", 2: "LowerRoman", 3: "UpperAlpha", 4: "LowerAlpha", 23: None, 255: None}
_Told = Callable[[StyleSheet, Group, "int | None"], None]


def _charset(sheet: StyleSheet, group: Group, number: int | None) -> None:
    if group.purpose == "fonts":
        sheet.font_codecs[group.look.font or 0] = charsets.of_font(number)


def _mono(sheet: StyleSheet, group: Group, number: int | None) -> None:
    if group.purpose == "fonts":
        sheet.mono.add(group.look.font or 0)


def _code_page(sheet: StyleSheet, group: Group, number: int | None) -> None:
    sheet.codec = charsets.of_document(number)


def _default_font(sheet: StyleSheet, group: Group, number: int | None) -> None:
    sheet.default_font = number or 0


def _outline(sheet: StyleSheet, group: Group, number: int | None) -> None:
    if group.purpose == "styles":
        sheet.outlines[group.shape.style] = number or 0
    group.shape = replace(group.shape, outline=-1 if number is None else number)


def _list(sheet: StyleSheet, group: Group, number: int | None) -> None:
    if group.purpose == "lists":
        group.owner = []


def _level(sheet: StyleSheet, group: Group, number: int | None) -> None:
    if group.purpose == "lists" and isinstance(group.owner, list):
        group.owner.append(Level())


def _level_style(sheet: StyleSheet, group: Group, number: int | None) -> None:
    if group.purpose == "lists" and group.owner:
        group.owner[-1].style = _NUMBERS.get(number or 0, "Decimal")


def _level_start(sheet: StyleSheet, group: Group, number: int | None) -> None:
    if group.purpose == "lists" and group.owner:
        group.owner[-1].start = number or 0


def _list_number(sheet: StyleSheet, group: Group, number: int | None) -> None:
    if group.purpose == "lists" and isinstance(group.owner, list):
        sheet.lists[number or 0] = group.owner
    elif group.purpose == "overrides":
        group.owner = number


def _list_override(sheet: StyleSheet, group: Group, number: int | None) -> None:
    if group.purpose == "overrides" and isinstance(group.owner, int):
        sheet.overrides[number or 0] = group.owner
    group.shape = replace(group.shape, list_id=number or 0)


def tell(sheet: StyleSheet, group: Group, word: str, number: int | None) -> bool:
    """Whether the word is one of the head, and what it says is known now."""
    if word in charsets.NAMED:
        sheet.codec = charsets.NAMED[word]
        return True
    told = _WORDS.get(word)
    if told:
        told(sheet, group, number)
    return told is not None


_WORDS: dict[str, _Told] = {
    "fcharset": _charset,
    "fmodern": _mono,
    "ansicpg": _code_page,
    "deff": _default_font,
    "outlinelevel": _outline,
    "list": _list,
    "listlevel": _level,
    "levelnfc": _level_style,
    "levelstartat": _level_start,
    "listid": _list_number,
    "ls": _list_override,
}
