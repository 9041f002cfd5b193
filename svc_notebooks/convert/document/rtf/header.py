"""Applies the control words of the RTF header: fonts, styles, lists."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from . import charsets
from .state import Group
from .stylesheet import ListLevel, StyleSheet

_NUMBERS = {0: "Decimal", 1: "UpperRoman", 2: "LowerRoman", 3: "UpperAlpha", 4: "LowerAlpha", 23: None, 255: None}
_Handler = Callable[[StyleSheet, Group, "int | None"], None]


def _charset(stylesheet: StyleSheet, group: Group, number: int | None) -> None:
    if group.destination == "fonts":
        stylesheet.font_codecs[group.character_format.font or 0] = charsets.codec_for_font_charset(number)


def _mono(stylesheet: StyleSheet, group: Group, number: int | None) -> None:
    if group.destination == "fonts":
        stylesheet.mono_fonts.add(group.character_format.font or 0)


def _code_page(stylesheet: StyleSheet, group: Group, number: int | None) -> None:
    stylesheet.codec = charsets.codec_for_code_page(number)


def _default_font(stylesheet: StyleSheet, group: Group, number: int | None) -> None:
    stylesheet.default_font = number or 0


def _outline(stylesheet: StyleSheet, group: Group, number: int | None) -> None:
    if group.destination == "styles":
        stylesheet.outlines[group.paragraph_format.style] = number or 0
    group.paragraph_format = replace(group.paragraph_format, outline=-1 if number is None else number)


def _list(stylesheet: StyleSheet, group: Group, number: int | None) -> None:
    if group.destination == "lists":
        group.payload = []


def _level(stylesheet: StyleSheet, group: Group, number: int | None) -> None:
    if group.destination == "lists" and isinstance(group.payload, list):
        group.payload.append(ListLevel())


def _level_style(stylesheet: StyleSheet, group: Group, number: int | None) -> None:
    if group.destination == "lists" and group.payload:
        group.payload[-1].style = _NUMBERS.get(number or 0, "Decimal")


def _level_start(stylesheet: StyleSheet, group: Group, number: int | None) -> None:
    if group.destination == "lists" and group.payload:
        group.payload[-1].start = number or 0


def _list_number(stylesheet: StyleSheet, group: Group, number: int | None) -> None:
    if group.destination == "lists" and isinstance(group.payload, list):
        stylesheet.lists[number or 0] = group.payload
    elif group.destination == "overrides":
        group.payload = number


def _list_override(stylesheet: StyleSheet, group: Group, number: int | None) -> None:
    if group.destination == "overrides" and isinstance(group.payload, int):
        stylesheet.overrides[number or 0] = group.payload
    group.paragraph_format = replace(group.paragraph_format, list_id=number or 0)


def apply_control_word(stylesheet: StyleSheet, group: Group, word: str, number: int | None) -> bool:
    """Whether the word is one of the head, and what it says is known now."""
    if word in charsets.HEADER_CODECS:
        stylesheet.codec = charsets.HEADER_CODECS[word]
        return True
    handler = _HANDLERS.get(word)
    if handler:
        handler(stylesheet, group, number)
    return handler is not None


_HANDLERS: dict[str, _Handler] = {
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
