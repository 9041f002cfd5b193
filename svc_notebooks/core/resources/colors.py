"""The colours of events and calendars, by `colorId` (E-24)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Color(NamedTuple):
    """A background and a foreground colour as hex codes. `name` is "" if the colour has no name."""

    background: str
    foreground: str
    name: str = ""


_INK = "#1d1d1d"

# fmt: off
EVENT_COLORS: Mapping[str, Color] = {
    "1":  Color("#a4bdfc", _INK, "Lavender"),
    "2":  Color("#7ae7bf", _INK, "Sage"),
    "3":  Color("#dbadff", _INK, "Grape"),
    "4":  Color("#ff887c", _INK, "Flamingo"),
    "5":  Color("#fbd75b", _INK, "Banana"),
    "6":  Color("#ffb878", _INK, "Tangerine"),
    "7":  Color("#46d6db", _INK, "Peacock"),
    "8":  Color("#e1e1e1", _INK, "Graphite"),
    "9":  Color("#5484ed", _INK, "Blueberry"),
    "10": Color("#51b749", _INK, "Basil"),
    "11": Color("#dc2127", _INK, "Tomato"),
}

CALENDAR_COLORS: Mapping[str, Color] = {
    "1":  Color("#ac725e", _INK),
    "2":  Color("#d06b64", _INK),
    "3":  Color("#f83a22", _INK),
    "4":  Color("#fa573c", _INK),
    "5":  Color("#ff7537", _INK),
    "6":  Color("#ffad46", _INK),
    "7":  Color("#42d692", _INK),
    "8":  Color("#16a765", _INK),
    "9":  Color("#7bd148", _INK),
    "10": Color("#b3dc6c", _INK),
    "11": Color("#fbe983", _INK),
    "12": Color("#fad165", _INK),
    "13": Color("#92e1c0", _INK),
    "14": Color("#9fe1e7", _INK),
    "15": Color("#9fc6e7", _INK),
    "16": Color("#4986e7", _INK),
    "17": Color("#9a9cff", _INK),
    "18": Color("#b99aff", _INK),
    "19": Color("#c2c2c2", _INK),
    "20": Color("#cabdbf", _INK),
    "21": Color("#cca6ac", _INK),
    "22": Color("#f691b2", _INK),
    "23": Color("#cd74e6", _INK),
    "24": Color("#a47ae2", _INK),
}
# fmt: on
