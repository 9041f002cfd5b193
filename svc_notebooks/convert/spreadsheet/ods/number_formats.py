"""Converts number formats between OpenDocument elements and the format codes of xlsx."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element
from xml.sax.saxutils import escape, quoteattr

from ...input.numerals import integer
from ...input.odf_file import name
from ..format_code import DigitPattern, FormatPart, Section, sections, value_kind

_LONG = 'number:style="long" '
_CLOCK = {
    "year": "year", "month": "month", "day": "day", "hour": "hours", "minute": "minutes", "second": "seconds",
    "h": "hours", "m": "minutes", "s": "seconds",
}  # fmt: skip
"""The elements by the kind of a part of a format, and by the letter of a part for elapsed time."""


def to_element(format: str, style: str) -> str:
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
        inner = "".join(_clock_part(part, fraction) for part, fraction in zip(parts, (*parts[1:], None), strict=True))
    overflow = ' number:truncate-on-overflow="false"' if kind == "duration" else ""
    return f"<number:{tag}-style style:name={quoteattr(style)}{overflow}>{inner}</number:{tag}-style>"


def _number_style(parts: Section) -> tuple[str, str]:
    kinds = {part.kind for part in parts}
    if "at" in kinds and "number" not in kinds:
        return "text", "<number:text-content/>"
    tag = "percentage" if "percent" in kinds else "currency" if "currency" in kinds else "number"
    with_digits = [index for index, part in enumerate(parts) if part.kind in ("number", "fraction", "ratio")]
    if not with_digits:
        return tag, "".join(map(_number_part, parts))
    first, last = with_digits[0], with_digits[-1]
    return tag, "".join(
        (*map(_number_part, parts[:first]), _digits(parts[first : last + 1]), *map(_number_part, parts[last + 1 :]))
    )


def _number_part(part: FormatPart) -> str:
    if part.kind == "general":
        return '<number:number number:min-integer-digits="1"/>'
    text = escape(part.literal)
    if part.kind == "currency":
        return f"<number:currency-symbol>{text}</number:currency-symbol>"
    return f"<number:text>{text}</number:text>" if text else ""


def _digits(parts: Section) -> str:
    """Return the element of parts with digits, and of the texts between them ("000-00-0000")."""
    pattern = DigitPattern.of("".join(part.text for part in parts if part.kind in ("number", "fraction")))
    attributes = f'number:min-integer-digits="{pattern.whole.count("0")}"'
    if parts[-1].kind == "ratio":
        above, _, below = parts[-1].text.replace(" ", "").partition("/")
        fixed = f' number:denominator-value="{below}"' if below.strip("0").isdecimal() else ""
        attributes += f' number:min-numerator-digits="{len(above)}" number:min-denominator-digits="{len(below)}"{fixed}'
        return f"<number:fraction {attributes if len(parts) > 1 else attributes.partition(' ')[2]}/>"
    places = f'number:decimal-places="{len(pattern.decimals)}" number:min-decimal-places="{pattern.min_decimals}" '
    if pattern.exponent:
        attributes += f' number:min-exponent-digits="{len(pattern.exponent) - 1}"'
        attributes += f' number:exponent-interval="{len(pattern.whole)}"' if len(pattern.whole) > 1 else ""
        return f"<number:scientific-number {places}{attributes}/>"
    attributes += ' number:grouping="true"' if pattern.is_grouped else ""
    attributes += f' number:display-factor="{1000**pattern.thousands}"' if pattern.thousands else ""
    position, embedded = len(pattern.whole), ""
    for part in parts:
        if part.kind in ("number", "fraction"):
            position -= len(DigitPattern.of(part.text).whole)
        elif part.literal:
            text = escape(part.literal)
            embedded += f'<number:embedded-text number:position="{position}">{text}</number:embedded-text>'
    return f"<number:number {places}{attributes}>{embedded}</number:number>"


def _clock_part(part: FormatPart, following: FormatPart | None) -> str:
    kind = part.text[0] if part.kind == "elapsed" else part.kind
    if kind == "noon":
        return "<number:am-pm/>"
    if kind not in _CLOCK:
        text = "" if kind == "fraction" else escape(part.literal)
        return f"<number:text>{text}</number:text>" if text else ""
    size = len(part.text)
    if kind == "day" and size > 2:
        return f"<number:day-of-week {_LONG if size > 3 else ''}/>"
    long = _LONG if (size > 2 if kind == "year" else size in (2, 4)) else ""
    extra = 'number:textual="true" ' if kind == "month" and size > 2 else ""
    if following and following.kind == "fraction":
        extra += f'number:decimal-places="{len(following.text) - 1}" '
    return f"<number:{_CLOCK[kind]} {long}{extra}/>"


_PLAIN = re.compile(r"[ \-/:,.()]*")


def from_element(element: Element) -> str:
    """Convert an OpenDocument data style to a format code. Return "" for the General format."""
    tag = _tag(element)
    if tag in ("boolean-style", "text-style"):
        return "@" if tag == "text-style" else ""
    overflow = _attribute(element, "truncate-on-overflow") == "false"
    pieces = [_code(child, overflow and tag == "time-style") for child in element]
    code = "".join(pieces)
    return "" if code in ("General", "0." + "#" * 20) else code[:200]


def _tag(element: Element) -> str:
    return element.tag.removeprefix(name("number:"))


def _attribute(element: Element, attribute: str) -> str:
    """Return an attribute. LibreOffice wrote attributes that are in ODF 1.3 in its own namespace before."""
    return element.get(name(f"number:{attribute}")) or element.get(name(f"loext:{attribute}")) or ""


def _code(element: Element, elapsed: bool) -> str:
    tag = _tag(element)
    if tag in ("text", "currency-symbol"):
        text = element.text or ""
        return text if text == "%" or _PLAIN.fullmatch(text) else '"' + text.replace('"', "") + '"'
    if tag in ("number", "scientific-number"):
        return _number_code(element, tag)
    if tag == "fraction":
        return _fraction_code(element)
    return _date_code(element, tag, elapsed)


def _number_code(element: Element, tag: str) -> str:
    places, minimum_decimals = _attribute(element, "decimal-places"), _attribute(element, "min-decimal-places")
    minimum_integers = _count(_attribute(element, "min-integer-digits"))
    grouped = _attribute(element, "grouping") == "true"
    if not places and tag == "number" and not grouped:
        return "General" if minimum_integers <= 1 else "0" * minimum_integers
    digits, needed = _count(places), _count(minimum_decimals) if minimum_decimals else _count(places)
    decimals = "0" * min(needed, digits) + "#" * (digits - needed)
    whole = ("0" * minimum_integers or "#").rjust(_count(_attribute(element, "exponent-interval")), "#")
    whole = f"#,{whole.rjust(3, '#')}" if grouped else whole
    exponent = "E+" + "0" * max(_count(_attribute(element, "min-exponent-digits")), 1) if tag != "number" else ""
    for text in element.iter(name("number:embedded-text")):
        whole = _with_embedded_text(whole, _count(_attribute(text, "position")), text.text or "")
    thousands = (len(_attribute(element, "display-factor")) - 1) // 3 * ","
    return whole + (f".{decimals}" if decimals else "") + thousands + exponent


def _with_embedded_text(whole: str, position: int, text: str) -> str:
    """Insert a text before the last `position` digits of a pattern, which may already contain texts."""
    places = [match.start() for match in re.finditer(r'"[^"]*"|[0#]', whole) if match[0] in "0#"]
    place = places[-position] if 0 < position <= len(places) else len(whole) if position == 0 else 0
    return f'{whole[:place]}"{text.replace(chr(34), "")}"{whole[place:]}'


def _fraction_code(element: Element) -> str:
    above = "?" * max(_count(_attribute(element, "min-numerator-digits")), 1)
    below = "?" * max(_count(_attribute(element, "min-denominator-digits")), 1)
    fixed = _count(_attribute(element, "denominator-value"), 99_999)
    whole = _attribute(element, "min-integer-digits")
    return f"{'0' * _count(whole) or '#'} {above}/{fixed or below}" if whole else f"{above}/{fixed or below}"


def _count(text: str, limit: int = 15) -> int:
    return min(integer(text), limit)


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
    "year": ("yy", "yyyy"), "month": ("m", "mm"), "day": ("d", "dd"), "day-of-week": ("ddd", "dddd"),
    "hours": ("h", "hh"), "minutes": ("m", "mm"), "am-pm": ("AM/PM", "AM/PM"),
}  # fmt: skip
