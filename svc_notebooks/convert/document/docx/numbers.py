"""Writes the numbers of headings, and list labels with words ("Article 1."), as text, since pandoc reads neither."""

from __future__ import annotations

import re
from typing import Any

from lxml import etree

from .body import PROPERTIES, P, prepend, run_of
from .package import tag
from .styles import WordStyles, value

_NUMBERING, _LEVEL, _OVERRIDE = tag("w:numPr"), tag("w:lvl"), tag("w:lvlOverride")
_PLACE = re.compile(r"%([1-9])")
_WORD = re.compile(r"[^\W\d_]")
_ROMAN = {1000: "M", 900: "CM", 500: "D", 400: "CD", 100: "C", 90: "XC", 50: "L", 40: "XL", 10: "X", 9: "IX", 5: "V",
          4: "IV", 1: "I"}  # fmt: skip


class WordNumbers:
    """The numbers of the paragraphs of a document, which is read in its order. The roots may be None."""

    def __init__(self, styles: WordStyles, numbering: Any) -> None:
        self._styles = styles
        self._lists: dict[str, tuple[str, dict[int, Any], dict[int, int]]] = {}
        """By number of the list: the id of its definition, its levels, and the numbers with which levels start."""
        self._counts: dict[str, dict[int, int]] = {}
        definitions = {} if numbering is None else {it.get(tag("w:abstractNumId")): it for it in numbering}
        for element in () if numbering is None else numbering.iter(tag("w:num")):
            name = value(element, "w:abstractNumId") or ""
            definition = definitions.get(name)
            levels = {_index(it): it for it in (() if definition is None else definition.iter(_LEVEL))}
            levels |= {_index(it): it for it in element.iter(_LEVEL)}
            starts = {_index(it): _integer(value(it, "w:startOverride"), 1) for it in element.iter(_OVERRIDE)
                      if value(it, "w:startOverride")}  # fmt: skip
            self._lists[element.get(tag("w:numId"), "")] = name, levels, starts

    def write(self, root: Any) -> None:
        """Insert the numbers that pandoc does not read. Other lists stay lists."""
        for paragraph in list(root.iter(P)) if self._lists else ():
            properties = paragraph.find(PROPERTIES)
            style = value(properties, "w:pStyle")
            number, level = self._position(properties, style)
            if number not in self._lists:
                continue
            label = self._count(number, level)
            plan = self._lists[number][1].get(level)
            is_worded = _WORD.search(_PLACE.sub("", value(plan, "w:lvlText") or "")) is not None
            if not label or not (is_worded or self._styles.is_heading(style)):
                continue
            own = properties.find(_NUMBERING)
            if own is not None:
                properties.remove(own)
            elif not self._styles.is_heading(style):  # the list is that of the style
                own = etree.SubElement(properties, _NUMBERING)
                etree.SubElement(own, tag("w:numId"), {tag("w:val"): "0"})
            prepend(paragraph, [run_of(f"{label} ")])

    def _position(self, properties: Any, style: str | None) -> tuple[str, int]:
        """Return the number of the list ("" without a list) and the level of a paragraph."""
        own = None if properties is None else properties.find(_NUMBERING)
        number, level = value(own, "w:numId"), value(own, "w:ilvl")
        for element in self._styles.chain(style) if number is None else ():
            inherited = element.find(f"{PROPERTIES}/{_NUMBERING}")
            level = level or value(inherited, "w:ilvl")
            if (number := value(inherited, "w:numId")) is not None:
                plans = self._lists.get(number, ("", {}, {}))[1]
                linked = [index for index, plan in plans.items() if value(plan, "w:pStyle") == style]
                return number, linked[0] if linked and level is None else _integer(level, 0)
        return number or "", _integer(level, 0)

    def _count(self, number: str, level: int) -> str:
        """Count a paragraph, and return its label, which is "" for a bullet."""
        name, plans, starts = self._lists[number]
        counts = self._counts.setdefault(name, {})
        for index in [index for index in counts if index > level]:
            del counts[index]
        for index in range(level + 1):
            start = _integer(value(plans.get(index), "w:start"), 1)
            counts[index] = starts.pop(index, counts.get(index, start - (index == level)) + (index == level))
        kinds = {index: value(plan, "w:numFmt") or "decimal" for index, plan in plans.items()}
        if kinds.get(level) in (None, "bullet", "none"):
            return ""
        text = value(plans[level], "w:lvlText") or ""
        return _PLACE.sub(lambda it: _number(counts.get(int(it[1]) - 1, 1), kinds.get(int(it[1]) - 1, "")), text)


def _index(element: Any) -> int:
    return _integer(element.get(tag("w:ilvl")), 0)


def _integer(text: str | None, default: int) -> int:
    return int(text) if text and re.fullmatch(r"\d{1,6}", text, re.ASCII) else default


def _number(count: int, kind: str) -> str:
    """Write a number in the format of a list level.

    >>> [_number(4, kind) for kind in ("decimal", "lowerRoman", "upperLetter", "decimalZero")]
    ['4', 'iv', 'D', '04']
    """
    text = str(count)
    if kind.endswith("Roman") and count < 4000:
        text = ""
        for size, letters in _ROMAN.items():
            text += letters * (count // size)
            count %= size
    elif kind.endswith("Letter") and 0 < count < 780:
        text = chr(ord("A") + (count - 1) % 26) * ((count - 1) // 26 + 1)
    elif kind == "decimalZero":
        text = text.zfill(2)
    return text.lower() if kind.startswith("lower") else text
