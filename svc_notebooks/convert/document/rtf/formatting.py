"""Control words that change how the letters look, or what the paragraph is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .state import CharacterFormat, Group, Shape
from .stylesheet import StyleSheet

_MARKS = {
    "b": "Strong", "i": "Emph", "ul": "Underline", "strike": "Strikeout", "striked": "Strikeout", "scaps": "SmallCaps",
    **dict.fromkeys(("uld", "uldash", "uldashd", "uldashdd", "uldb", "ulth", "ulw", "ulwave", "ulhwave"), "Underline"),
}  # fmt: skip
_ALIGNS = {"ql": "", "qr": "AlignRight", "qc": "AlignCenter", "qj": ""}
_NUMBERS = {"s": "style", "li": "left", "lin": "left", "fi": "first", "ilvl": "level", "itap": "tables"}
_MOST = 100_000


def tell(sheet: StyleSheet, group: Group, word: str, number: int | None) -> bool:
    """Whether the word is about letters or paragraphs, and the group has it now."""
    if word in _MARKS:
        group.look = group.look.marked(_MARKS[word], on=number != 0)
    elif word in _ALIGNS:
        group.shape = replace(group.shape, align=_ALIGNS[word])
    elif word in _NUMBERS:
        changed: dict[str, Any] = {_NUMBERS[word]: min(max(number or 0, -_MOST), _MOST)}
        group.shape = replace(group.shape, **changed)
    elif word == "f":
        group.look = replace(group.look, font=number).marked("Code", on=sheet.is_mono(number))
    elif word in _WORDS:
        _WORDS[word](group, number)
    else:
        return False
    return True


def _plain(group: Group, number: int | None) -> None:
    group.look = CharacterFormat(link=group.look.link)


def _paragraph(group: Group, number: int | None) -> None:
    group.shape = Shape()


def _level(group: Group, marks: set[str]) -> None:
    group.look = replace(group.look, marks=group.look.marks - {"Superscript", "Subscript"} | marks)


def _raised(group: Group, number: int | None) -> None:
    _level(group, {"Superscript"} if number != 0 else set())


def _lowered(group: Group, number: int | None) -> None:
    _level(group, {"Subscript"} if number != 0 else set())


def _straight(group: Group, number: int | None) -> None:
    _level(group, set())


def _hidden(group: Group, number: int | None) -> None:
    group.look = replace(group.look, hidden=number != 0)


def _no_underline(group: Group, number: int | None) -> None:
    group.look = group.look.marked("Underline", on=False)


def _in_table(group: Group, number: int | None) -> None:
    group.shape = replace(group.shape, tables=max(1, group.shape.tables))


def _right_to_left(group: Group, number: int | None) -> None:
    group.shape = replace(group.shape, rtl=True)


def _letters_for_one(group: Group, number: int | None) -> None:
    group.skip = min(max(number or 0, 0), 16)


_WORDS: dict[str, Callable[[Group, int | None], None]] = {
    "plain": _plain,
    "pard": _paragraph,
    "super": _raised,
    "sub": _lowered,
    "nosupersub": _straight,
    "v": _hidden,
    "deleted": _hidden,
    "ulnone": _no_underline,
    "intbl": _in_table,
    "rtlpar": _right_to_left,
    "uc": _letters_for_one,
}
