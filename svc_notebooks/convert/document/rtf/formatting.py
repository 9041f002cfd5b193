"""Applies the control words of character and paragraph formatting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .state import CharacterFormat, Group, ParagraphFormat
from .stylesheet import StyleSheet

_MARKS = {
    "b": "Strong", "i": "Emph", "ul": "Underline", "strike": "Strikeout", "striked": "Strikeout", "scaps": "SmallCaps",
    **dict.fromkeys(("uld", "uldash", "uldashd", "uldashdd", "uldb", "ulth", "ulw", "ulwave", "ulhwave"), "Underline"),
}  # fmt: skip
_ALIGNS = {"ql": "", "qr": "AlignRight", "qc": "AlignCenter", "qj": ""}
_NUMBERS = {"s": "style", "li": "left", "lin": "left", "fi": "first", "ilvl": "level", "itap": "tables"}
_MAX = 100_000


def apply_control_word(stylesheet: StyleSheet, group: Group, word: str, number: int | None) -> bool:
    """Whether the word is about letters or paragraphs, and the group has it now."""
    if word in _MARKS:
        group.character_format = group.character_format.marked(_MARKS[word], on=number != 0)
    elif word in _ALIGNS:
        group.paragraph_format = replace(group.paragraph_format, align=_ALIGNS[word])
    elif word in _NUMBERS:
        changed: dict[str, Any] = {_NUMBERS[word]: min(max(number or 0, -_MAX), _MAX)}
        group.paragraph_format = replace(group.paragraph_format, **changed)
    elif word == "f":
        group.character_format = replace(group.character_format, font=number).marked(
            "Code", on=stylesheet.is_mono(number)
        )
    elif word in _HANDLERS:
        _HANDLERS[word](group, number)
    else:
        return False
    return True


def _plain(group: Group, number: int | None) -> None:
    group.character_format = CharacterFormat(link=group.character_format.link)


def _paragraph(group: Group, number: int | None) -> None:
    group.paragraph_format = ParagraphFormat()


def _set_script(group: Group, marks: set[str]) -> None:
    group.character_format = replace(
        group.character_format, marks=group.character_format.marks - {"Superscript", "Subscript"} | marks
    )


def _superscript(group: Group, number: int | None) -> None:
    _set_script(group, {"Superscript"} if number != 0 else set())


def _subscript(group: Group, number: int | None) -> None:
    _set_script(group, {"Subscript"} if number != 0 else set())


def _no_super_or_subscript(group: Group, number: int | None) -> None:
    _set_script(group, set())


def _hidden(group: Group, number: int | None) -> None:
    group.character_format = replace(group.character_format, hidden=number != 0)


def _no_underline(group: Group, number: int | None) -> None:
    group.character_format = group.character_format.marked("Underline", on=False)


def _in_table(group: Group, number: int | None) -> None:
    group.paragraph_format = replace(group.paragraph_format, tables=max(1, group.paragraph_format.tables))


def _right_to_left(group: Group, number: int | None) -> None:
    group.paragraph_format = replace(group.paragraph_format, rtl=True)


def _unicode_skip(group: Group, number: int | None) -> None:
    group.unicode_skip = min(max(number or 0, 0), 16)


_HANDLERS: dict[str, Callable[[Group, int | None], None]] = {
    "plain": _plain,
    "pard": _paragraph,
    "super": _superscript,
    "sub": _subscript,
    "nosupersub": _no_super_or_subscript,
    "v": _hidden,
    "deleted": _hidden,
    "ulnone": _no_underline,
    "intbl": _in_table,
    "rtlpar": _right_to_left,
    "uc": _unicode_skip,
}
