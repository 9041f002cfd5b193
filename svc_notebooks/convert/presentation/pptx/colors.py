"""Resolves the colours and lines of a theme; colours get six hexadecimal digits (ECMA-376 part 1, 20.1.2.3)."""

from __future__ import annotations

import colorsys
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any

from ..model import Dash, Stroke, mix

A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"

_THEME_SLOTS = ("dk1", "lt1", "dk2", "lt2", *(f"accent{number}" for number in range(1, 7)), "hlink", "folHlink")
_DEFAULT_COLOR_MAP = {"tx1": "dk1", "bg1": "lt1", "tx2": "dk2", "bg2": "lt2"}
_NAME_PREFIXES = {"dk": "dark", "lt": "light", "med": "medium"}

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
    """Return the fill colour of an element, "" for no fill or a picture, or None if undefined. `own` replaces phClr."""
    kinds = (f"{A}{kind}" for kind in ("noFill", "solidFill", "gradFill", "pattFill", "blipFill"))
    child = None if properties is None else next(properties.iterchildren(*kinds), None)
    return None if child is None else _fill_color(child, colors, own)


def _fill_color(element: Any, colors: Theme, own: str | None) -> str | None:
    match element.tag.removeprefix(A):
        case "noFill" | "blipFill":
            return ""
        case "gradFill":
            return _middle_color(element, colors, own)
        case "pattFill":
            return color(element.find(f"{A}bgClr"), colors, own)
        case _:
            return color(element, colors, own)


def theme_format(formats: Any, reference: Any) -> Any:
    """Return the fill or line in a theme's format scheme that a reference such as `a:lnRef` names, or None."""
    index = 0 if reference is None else int(number(reference.get("idx")))
    name = (
        "lnStyleLst"
        if index and reference.tag == f"{A}lnRef"
        else "bgFillStyleLst"
        if index > 1_000
        else "fillStyleLst"
    )
    entries = () if formats is None or not index else formats.find(f"{A}{name}")
    return next(islice(entries if entries is not None else (), max(0, index % 1_000 - 1), None), None)


def theme_color(formats: Any, reference: Any, colors: Theme) -> str | None:
    """Return the colour of a reference to a theme's fills or lines, or None if the reference means no fill."""
    if reference is None or reference.get("idx") == "0":
        return None
    own, entry = color(reference, colors), theme_format(formats, reference)
    if entry is None:
        return own
    return (fill(entry, colors, own) if entry.tag == f"{A}ln" else _fill_color(entry, colors, own)) or own


def _middle_color(gradient: Any, colors: Theme, own: str | None) -> str | None:
    """Return the colour in the middle of a gradient, or None if the gradient has no colours."""
    stops = [(share(stop.get("pos")), value) for stop in gradient.iter(f"{A}gs") if (value := color(stop, colors, own))]
    if not stops:
        return None
    at, before = max((stop for stop in stops if stop[0] <= 0.5), default=min(stops))
    end, after = min((stop for stop in stops if stop[0] >= 0.5), default=max(stops))
    return mix(after, before, (0.5 - at) / (end - at)) if end > at else before


def color(parent: Any, colors: Theme, own: str | None = None) -> str | None:
    """Return the colour that a child of `parent` defines, "" if transparent, or None if no colour is defined.

    A colour that is partly transparent has eight digits.
    """
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
        value = _named(value)
    elif kind == "scrgbClr":
        value = _digits(max(0.0, share(element.get(name))) ** (1 / _GAMMA) for name in "rgb")
    elif kind == "hslClr":
        hue = number(element.get("hue")) / _CIRCLE
        value = _digits(colorsys.hls_to_rgb(hue, share(element.get("lum")), share(element.get("sat"))))
    return value.lower() if len(value) == 6 and all(c in "0123456789abcdefABCDEF" for c in value) else None


def _named(name: str) -> str:
    """Return a preset colour, whose names are those of CSS with some shorter prefixes."""
    from PIL import ImageColor

    name = re.sub("^(dk|lt|med)(?=[A-Z])", lambda prefix: _NAME_PREFIXES[prefix[0]], name)
    with suppress(ValueError):
        return _digits([part / 255 for part in ImageColor.getrgb(name)])
    return "808080"


def number(value: str | None, otherwise: float = 0.0) -> float:
    """Return the number that an attribute contains, limited to a billion, or `otherwise` if it contains no number."""
    try:
        return otherwise if value is None else max(-1e9, min(1e9, float(value)))
    except ValueError:
        return otherwise


def share(value: str | None) -> float:
    """Parse "40%" or "40000" (thousandths of a percent) as 0.4. Returns 0.0 if the value is not a number."""
    return number(value[:-1]) / 100 if value and value.endswith("%") else number(value) / 100_000


def _digits(parts: Iterable[float]) -> str:
    return "".join(f"{max(0, min(255, round(part * 255))):02x}" for part in parts)


_GAMMA = 2.2
_CIRCLE = 360 * 60_000
_HLS_CHANGES = ("hue", "lum", "sat")


def _apply_changes(base: str, element: Any) -> str:
    """Apply the changes of a colour in their order (20.1.2.3). Tints and shades mix light, not digits."""
    parts = [int(base[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    opacity = int(base[6:] or "ff", 16) / 255
    for change in element:
        kind, value = str(change.tag).removeprefix(A), share(change.get("val"))
        if kind in ("alpha", "alphaMod"):
            opacity *= value
        elif kind in ("tint", "shade"):
            white = 1 - value if kind == "tint" else 0
            parts = [max(0.0, part**_GAMMA * value + white) ** (1 / _GAMMA) for part in parts]
        elif kind == "gray":
            parts = [0.299 * parts[0] + 0.587 * parts[1] + 0.114 * parts[2]] * 3
        elif kind == "inv":
            parts = [1 - part for part in parts]
        elif kind[:3] in _HLS_CHANGES:
            value = number(change.get("val")) / _CIRCLE if kind in ("hue", "hueOff") else value
            values, at = list(colorsys.rgb_to_hls(*parts)), _HLS_CHANGES.index(kind[:3])
            value = {"Mod": values[at] * value, "Off": values[at] + value, "": value}.get(kind[3:], values[at])
            values[at] = value % 1 if at == 0 else max(0.0, min(1.0, value))
            parts = list(colorsys.hls_to_rgb(*values))
    return "" if opacity < 0.05 else _digits(parts) + (_digits([opacity]) if opacity < 0.99 else "")


_DASHES: dict[str, Dash] = {"sysDot": "dot", "dot": "dot", "sysDash": "dash", "dash": "dash", "lgDash": "dash"}
_ARROWHEADS = ("triangle", "arrow", "stealth", "diamond", "oval")


def stroke(lines: Iterable[Any]) -> Stroke:
    """Return the width, dashes and arrowheads that `a:ln` elements define, the first of which comes first."""
    lines = list(lines)
    width = next((int(number(value)) for line in lines if (value := line.get("w"))), 9_525)
    dash = next((it.get("val", "") for line in lines if (it := line.find(f"{A}prstDash")) is not None), "solid")
    start, end = (_arrowhead(lines, name) for name in ("headEnd", "tailEnd"))
    return Stroke(max(0, width), "" if dash == "solid" else _DASHES.get(dash, "dashdot"), start, end)


def _arrowhead(lines: list[Any], name: str) -> Any:
    kind = next((it.get("type", "") for line in lines if (it := line.find(f"{A}{name}")) is not None), "")
    return kind if kind in _ARROWHEADS else ""
