"""Resolves the colours of a theme to six hexadecimal digits (ECMA-376 part 1, 20.1.2.3)."""

from __future__ import annotations

import colorsys
from collections.abc import Mapping
from typing import Any

A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"

_THEME_SLOTS = ("dk1", "lt1", "dk2", "lt2", *(f"accent{number}" for number in range(1, 7)), "hlink", "folHlink")
_DEFAULT_COLOR_MAP = {"tx1": "dk1", "bg1": "lt1", "tx2": "dk2", "bg2": "lt2"}
_NAMED = {
    "black": "000000", "white": "ffffff", "red": "ff0000", "green": "008000", "blue": "0000ff", "yellow": "ffff00",
    "gray": "808080", "grey": "808080", "orange": "ffa500", "purple": "800080", "cyan": "00ffff", "magenta": "ff00ff",
}  # fmt: skip

Theme = Mapping[str, str]


def theme(master: Any, color_map: Mapping[str, str]) -> Theme:
    """Return the theme colours as six hexadecimal digits, by name in the theme ("lt1") or in `color_map` ("bg1")."""
    scheme = next(iter(master.iter(f"{A}clrScheme")), ()) if master is not None else ()
    colors = {child.tag.removeprefix(A): _base(child[0], {}) or "000000" for child in scheme if len(child)}
    colors = {"dk1": "000000", "lt1": "ffffff"} | {
        name: color for name, color in colors.items() if name in _THEME_SLOTS
    }
    names = _DEFAULT_COLOR_MAP | dict(color_map)
    return colors | {name: colors[slot] for name, slot in names.items() if slot in colors}


def fill(properties: Any, colors: Theme, own: str | None = None) -> str | None:
    """Return the fill colour of an element, "" for no fill, or None if undefined. `own` replaces the colour phClr."""
    if properties is None:
        return None
    for child in properties:
        kind = child.tag.removeprefix(A) if isinstance(child.tag, str) else ""
        if kind == "noFill":
            return ""
        if kind == "solidFill":
            return color(child, colors, own)
        if kind == "gradFill":
            return next((color(stop, colors, own) for stop in child.iter(f"{A}gs")), None)
        if kind == "pattFill":
            return color(child.find(f"{A}bgClr"), colors, own)
    return None


def color(parent: Any, colors: Theme, own: str | None = None) -> str | None:
    """Return the colour that a child of `parent` defines, "" if transparent, or None if no colour is defined."""
    if parent is None or not len(parent):
        return None
    base = _base(parent[0], colors, own)
    return _apply_changes(base, parent[0]) if base else None


def _base(element: Any, colors: Theme, own: str | None = None) -> str | None:
    kind, value = str(element.tag).removeprefix(A), element.get("val", "")
    if kind == "schemeClr":
        return own if value == "phClr" else colors.get(value)
    if kind == "sysClr":
        value = element.get("lastClr", "ffffff" if value == "window" else "000000")
    elif kind == "prstClr":
        value = _NAMED.get(value.lower(), "808080")
    elif kind == "scrgbClr":
        value = "".join(f"{max(0, min(255, round(_share(element.get(name)) * 255))):02x}" for name in "rgb")
    elif kind == "hslClr":
        value = "808080"
    return value.lower() if len(value) == 6 and all(c in "0123456789abcdefABCDEF" for c in value) else None


def tint(base: str, share: float) -> str:
    """Mix a colour with white. `share` is the proportion of the colour in the mixture, from 0 to 1.

    >>> tint("000000", 0.4)
    '999999'
    """
    parts = (int(base[at : at + 2], 16) for at in (0, 2, 4))
    return "".join(f"{round(255 - (255 - part) * share):02x}" for part in parts)


def _share(value: str | None) -> float:
    """Parse "40%" or "40000" (thousandths of a percent) as 0.4. Returns 0.0 if the value is not a number."""
    try:
        return float(value[:-1]) / 100 if value and value.endswith("%") else float(value or 0) / 100_000
    except ValueError:
        return 0.0


def _apply_changes(base: str, element: Any) -> str:
    red, green, blue = (int(base[at : at + 2], 16) / 255 for at in (0, 2, 4))
    for change in element:
        share = _share(change.get("val"))
        match str(change.tag).removeprefix(A):
            case "alpha" if share < 0.05:
                return ""
            case "tint":
                red, green, blue = (1 - (1 - part) * share for part in (red, green, blue))
            case "shade":
                red, green, blue = (part * share for part in (red, green, blue))
            case "lumMod" | "lumOff" as kind:
                hue, light, saturation = colorsys.rgb_to_hls(red, green, blue)
                light = light * share if kind == "lumMod" else light + share
                red, green, blue = colorsys.hls_to_rgb(hue, max(0.0, min(1.0, light)), saturation)
    return "".join(f"{max(0, min(255, round(part * 255))):02x}" for part in (red, green, blue))
