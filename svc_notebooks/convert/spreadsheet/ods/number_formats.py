"""Converts number formats between OpenDocument elements and the format codes of xlsx."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element
from xml.sax.saxutils import escape, quoteattr

from ..date_serial import value_kind
from ..number_format import FormatPart, literal, sections

_LONG = 'number:style="long" '
_DATE_PARTS = {"y": "year", "m": "month", "d": "day", "h": "hours", "s": "seconds"}


def to_element(format: str, name: str) -> str:
    """Convert the section for positive numbers of a format code to an OpenDocument style element.

    >>> to_element("0.0%", "N1")[:38]
    '<number:percentage-style style:name="N'
    """
    parts = sections(format)[0]
    kind = value_kind(format)
    if kind == "number":
        tag, inner = _number_style(parts)
    else:
        tag = "date" if kind in ("date", "datetime") else "time"
        inner = "".join(_date_parts(parts))
    overflow = ' number:truncate-on-overflow="false"' if kind == "duration" else ""
    return f"<number:{tag}-style style:name={quoteattr(name)}{overflow}>{inner}</number:{tag}-style>"


def _number_style(parts: tuple[FormatPart, ...]) -> tuple[str, str]:
    kinds = {part.kind for part in parts}
    if "at" in kinds and "number" not in kinds:
        return "text", "<number:text-content/>"
    tag = "percentage" if "percent" in kinds else "currency" if "currency" in kinds else "number"
    return tag, "".join(_number_part(part) for part in parts)


def _number_part(part: FormatPart) -> str:
    if part.kind == "number":
        return _digits(part.text)
    if part.kind == "general":
        return '<number:number number:min-integer-digits="1"/>'
    text = escape(literal(part))
    if part.kind == "currency":
        return f"<number:currency-symbol>{text}</number:currency-symbol>"
    return f"<number:text>{text}</number:text>" if text else ""


def _digits(pattern: str) -> str:
    mantissa, _, exponent = pattern.upper().partition("E")
    whole, _, decimals = mantissa.partition(".")
    places, needed = sum(mark in "0#?" for mark in decimals), decimals.count("0")
    attributes = f'number:decimal-places="{places}" number:min-decimal-places="{needed}" '
    attributes += f'number:min-integer-digits="{whole.count("0")}"'
    if exponent:
        return f'<number:scientific-number {attributes} number:min-exponent-digits="{max(len(exponent) - 1, 1)}"/>'
    grouping = ' number:grouping="true"' if "," in whole else ""
    return f"<number:number {attributes}{grouping}/>"


def _date_parts(parts: tuple[FormatPart, ...]) -> Iterator[str]:
    after_hour = False
    for index, part in enumerate(parts):
        if part.kind not in ("date", "elapsed"):
            text = "" if part.kind == "fraction" else escape(literal(part))
            if part.kind == "noon":
                yield "<number:am-pm/>"
            elif text:
                yield f"<number:text>{text}</number:text>"
            continue
        code = part.text.strip("[]").lower()
        following = next((p.text.lower() for p in parts[index + 1 :] if p.kind == "date"), "")
        minutes = code[0] == "m" and (after_hour or following.startswith("s"))
        after_hour = code[0] == "h"
        fraction = next((p.text for p in parts[index + 1 : index + 2] if p.kind == "fraction"), ".")
        yield _date_part(code, minutes=minutes, decimals=len(fraction) - 1)


def _date_part(code: str, *, minutes: bool, decimals: int) -> str:
    letter, size = code[0], len(code)
    if letter == "d" and size > 2:
        return f"<number:day-of-week {_LONG if size > 3 else ''}/>"
    if minutes:
        return f"<number:minutes {_LONG if size > 1 else ''}/>"
    long = size > 2 if letter == "y" else size in (2, 4)
    extra = 'number:textual="true" ' if letter == "m" and size > 2 else ""
    extra += f'number:decimal-places="{decimals}" ' if decimals else ""
    return f"<number:{_DATE_PARTS[letter]} {_LONG if long else ''}{extra}/>"


_PLAIN = re.compile(r"[ \-/:,.()]*")


def from_element(element: Element) -> str:
    """Convert an OpenDocument data style to a format code. Return "" for the General format."""
    tag = element.tag.rpartition("}")[2]
    if tag in ("boolean-style", "text-style"):
        return "@" if tag == "text-style" else ""
    overflow = _attribute(element, "truncate-on-overflow") == "false"
    pieces = [_code(child, overflow and tag == "time-style") for child in element]
    code = "".join(pieces)
    return "" if code in ("General", "0." + "#" * 20) else code[:200]


def _attribute(element: Element, name: str) -> str:
    return next((value for key, value in element.items() if key.rpartition("}")[2] == name), "")


def _code(element: Element, elapsed: bool) -> str:
    tag = element.tag.rpartition("}")[2]
    if tag in ("text", "currency-symbol"):
        text = element.text or ""
        return text if text == "%" or _PLAIN.fullmatch(text) else '"' + text.replace('"', "") + '"'
    if tag in ("number", "scientific-number"):
        return _number_code(element, tag)
    if tag == "fraction":
        return "# ??/??"
    return _date_code(element, tag, elapsed)


def _number_code(element: Element, tag: str) -> str:
    places, minimum_decimals = _attribute(element, "decimal-places"), _attribute(element, "min-decimal-places")
    minimum_integers = _count(_attribute(element, "min-integer-digits"))
    grouped = _attribute(element, "grouping") == "true"
    if not places and tag == "number" and not grouped:
        return "General" if minimum_integers <= 1 else "0" * minimum_integers
    digits, needed = _count(places), _count(minimum_decimals) if minimum_decimals else _count(places)
    decimals = "0" * min(needed, digits) + "#" * (digits - needed)
    whole = "0" * minimum_integers or "#"
    whole = f"#,{whole.rjust(3, '#')}" if grouped else whole
    exponent = "E+" + "0" * max(_count(_attribute(element, "min-exponent-digits")), 1) if tag != "number" else ""
    return whole + (f".{decimals}" if decimals else "") + exponent


def _count(text: str) -> int:
    return min(int(text), 15) if text.isascii() and text.isdigit() and len(text) < 9 else 0


def _date_code(element: Element, tag: str, elapsed: bool) -> str:
    long = _attribute(element, "style") == "long"
    if tag == "month" and _attribute(element, "textual") == "true":
        return "mmmm" if long else "mmm"
    if tag == "seconds":
        decimals = _count(_attribute(element, "decimal-places"))
        return ("ss" if long else "s") + ("." + "0" * decimals if decimals else "")
    if tag == "hours" and elapsed:
        return "[hh]" if long else "[h]"
    return _DATE_CODES.get(tag, ("", ""))[long]


_DATE_CODES = {
    "year": ("yy", "yyyy"),
    "month": ("m", "mm"),
    "day": ("d", "dd"),
    "day-of-week": ("ddd", "dddd"),
    "hours": ("h", "hh"),
    "minutes": ("m", "mm"),
    "am-pm": ("AM/PM", "AM/PM"),
}
