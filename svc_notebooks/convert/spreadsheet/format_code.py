"""Splits number format codes into parts, and returns the type of value that a format code displays.

The syntax is in ECMA-376 part 1, 18.8.31.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple

Kind = Literal["number", "date", "datetime", "time", "duration"]

_PART = re.compile(
    r"""(?P<text>"[^"]*"|\\.)
    |(?P<space>_.)
    |(?P<fill>\*.)
    |(?P<elapsed>\[(?:h+|m+|s+)\])
    |(?P<currency>\[\$[^\]]*\])
    |(?P<condition>\[(?:<=|>=|<>|<|>|=)-?[0-9]+(?:\.[0-9]+)?\])
    |(?P<bracket>\[[^\]]*\])
    |(?P<noon>AM/PM|A/P)
    |(?P<general>General)
    |(?P<fraction>\.0+)
    |(?P<year>y+)|(?P<month>m+)|(?P<day>d+)|(?P<hour>h+)|(?P<second>s+)
    |(?P<ratio>[0\#?]+\ ?/\ ?[0-9\#?]+)
    |(?P<number>[0\#?][0\#?,]*(?:\.[0\#?]*,*)?(?:E[+-][0\#?]+)?|\.[0\#?]+)
    |(?P<percent>%)
    |(?P<at>@)
    |(?P<other>.)""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_CLOCK = frozenset({"elapsed", "year", "month", "day", "hour", "second"})

# fmt: off
LOCAL_FORMATS = {
    14: "yyyy-mm-dd", 22: "yyyy-mm-dd h:mm",
    **dict.fromkeys((*range(27, 32), 36, *range(50, 59)), "yyyy-mm-dd"), **dict.fromkeys(range(32, 36), "h:mm:ss"),
}
"""The built-in formats of dates and times that differ between languages, in the form of ISO 8601."""

BUILT_IN_FORMATS = LOCAL_FORMATS | {
    1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 5: '"$"#,##0_);("$"#,##0)', 6: '"$"#,##0_);[Red]("$"#,##0)',
    7: '"$"#,##0.00_);("$"#,##0.00)', 8: '"$"#,##0.00_);[Red]("$"#,##0.00)', 9: "0%", 10: "0.00%", 11: "0.00E+00",
    12: "# ?/?", 13: "# ??/??", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM",
    19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss", 37: "#,##0_);(#,##0)",
    38: "#,##0_);[Red](#,##0)", 39: "#,##0.00_);(#,##0.00)", 40: "#,##0.00_);[Red](#,##0.00)", 45: "mm:ss",
    46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0", 49: "@",
}
# fmt: on
"""The built-in number formats by number (ECMA-376 part 1, 18.8.30)."""


class FormatPart(NamedTuple):
    """A part of a number format. `kind` is "minute" or the name of the matching group in `_PART`, such as "percent"."""

    kind: str
    text: str

    @property
    def literal(self) -> str:
        """The fixed text of the part, such as a currency symbol, or "" for parts without text."""
        if self.kind == "text":
            return self.text[1:] if self.text[0] == "\\" else self.text[1:-1]
        if self.kind == "currency":
            return self.text[2:-1].split("-")[0]
        if self.kind in ("bracket", "condition", "fill"):
            return ""
        return " " if self.kind == "space" else self.text


Section = tuple[FormatPart, ...]


class DigitPattern(NamedTuple):
    """The meaning of a part with digits.

    whole, decimals, exponent: the signs (0, # and ?) of the digits, and the exponent with its sign, or "".
    is_grouped, thousands: whether thousands are separated, and how often the number is divided by 1000.
    """

    whole: str
    decimals: str
    exponent: str
    is_grouped: bool
    thousands: int

    @classmethod
    def of(cls, text: str) -> DigitPattern:
        """Parse the text of a part of the kind "number" or "fraction"."""
        mantissa, _, exponent = text.upper().partition("E")
        whole, _, decimals = mantissa.partition(".")
        grouped = whole.rstrip(",")
        thousands = len(whole) - len(grouped) + decimals.count(",")
        return cls(grouped.replace(",", ""), decimals.rstrip(","), exponent, "," in grouped, thousands)

    @property
    def min_decimals(self) -> int:
        """The number of decimals that are shown even if they are zeros at the end."""
        return len(self.decimals.rstrip("#?"))


@lru_cache(1024)
def sections(format: str) -> tuple[Section, ...]:
    """Split a number format into its sections for positive numbers, negative numbers, zero and text, if present.

    >>> [part.kind for part in sections("m/d h:mm;@")[0]]
    ['month', 'other', 'day', 'other', 'hour', 'other', 'minute']
    """
    parts: list[list[FormatPart]] = [[]]
    for match in _PART.finditer(format[:255]):
        kind, text = match.lastgroup or "other", match.group()
        if text == ";":
            parts.append([])
        else:
            parts[-1].append(FormatPart(kind, text.strip("[]").lower() if kind in _CLOCK else text))
    return tuple(map(_with_minutes, parts))


def _with_minutes(parts: list[FormatPart]) -> Section:
    """Change the kind of "m" and "mm" after hours and before seconds, where they mean minutes."""
    clock = [index for index, part in enumerate(parts) if part.kind in _CLOCK]
    letters = f" {''.join(parts[index].text[0] for index in clock)} "
    for place, index in enumerate(clock):
        before, after = letters[place], letters[place + 2]
        if parts[index].kind == "month" and len(parts[index].text) < 3 and (before == "h" or after == "s"):
            parts[index] = FormatPart("minute", parts[index].text)
    return tuple(parts)


@lru_cache(4096)
def value_kind(format: str) -> Kind:
    """Return the type of value that a number format displays, such as "number" or "date".

    >>> [value_kind(code) for code in ("0.00", "dd/mm/yyyy", "h:mm AM/PM", "[h]:mm", '0 "days"')]
    ['number', 'date', 'time', 'duration', 'number']
    """
    kinds = {part.kind for part in sections(format)[0]}
    if "elapsed" in kinds:
        return "duration"
    if "general" in kinds:
        return "number"
    days, hours = kinds & {"year", "month", "day"}, kinds & {"hour", "minute", "second"}
    return "datetime" if days and hours else "date" if days else "time" if hours else "number"
