"""Reads the styles of the cells of an xlsx workbook: number formats, bold type, colours and borders."""

from __future__ import annotations

import colorsys
import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from ..format_code import BUILT_IN_FORMATS
from ..model import DEFAULT_STYLE, SIDES, CellStyle
from .package import XlsxPackage, name_of

_BASIC_COLORS = "000000 ffffff ff0000 00ff00 0000ff ffff00 ff00ff 00ffff "
_PALETTE = (
    _BASIC_COLORS + _BASIC_COLORS
    + "800000 008000 000080 808000 800080 008080 c0c0c0 808080 9999ff 993366 ffffcc ccffff 660066 ff8080 0066cc ccccff "
    "000080 ff00ff ffff00 00ffff 800080 800000 008080 0000ff 00ccff ccffff ccffcc ffff99 99ccff ff99cc cc99ff ffcc99 "
    "3366ff 33cccc 99cc00 ffcc00 ff9900 ff6600 666699 969696 003366 339966 003300 333300 993300 993366 333399 333333"
).split()  # fmt: skip
"""The colours by index (ECMA-376 part 1, 18.8.27). Indexes from 64 are colours of the system."""

_RGB = re.compile("[0-9a-f]{6}")
_STRICT_SIDES = {"start": "left", "end": "right"}
_THICK_LINES = frozenset({"medium", "thick", "double", "mediumDashed", "mediumDashDot", "mediumDashDotDot"})


def read_styles(package: XlsxPackage, part: str | None, theme_part: str | None) -> list[CellStyle]:
    """Return the style of each number that cells have in the attribute `s`."""
    root = next((element for _, element in package.elements(part, "styleSheet")), None)
    if root is None:
        return [DEFAULT_STYLE]
    codes = {int(e.get("numFmtId") or 0): e.get("formatCode", "") for e in root.iter() if name_of(e) == "numFmt"}
    palette = [element.get("rgb", "")[-6:].lower() for element in root.iter() if name_of(element) == "rgbColor"]
    colors = _Colors(package, theme_part, palette)
    formats = BUILT_IN_FORMATS | {number: "" if code.lower() == "general" else code for number, code in codes.items()}
    fonts = {n: (_is_bold(font), colors.of(font, "color", "000000")) for n, font in _numbered(root, "fonts")}
    fills = {n: _fill(fill, colors) for n, fill in _numbered(root, "fills")}
    borders = {n: _borders(border) for n, border in _numbered(root, "borders")}
    return [
        CellStyle(
            formats.get(int(xf.get("numFmtId") or 0), "")[:255],
            *fonts.get(int(xf.get("fontId") or 0), (False, "")),
            fills.get(int(xf.get("fillId") or 0), ""),
            borders.get(int(xf.get("borderId") or 0), ""),
        )
        for _, xf in _numbered(root, "cellXfs")
    ]


def _numbered(root: Element, name: str) -> Iterator[tuple[int, Element]]:
    return enumerate(child for parent in root if name_of(parent) == name for child in parent)


def _is_bold(font: Element) -> bool:
    return any(name_of(child) == "b" and child.get("val", "1") in ("1", "true") for child in font)


def _fill(fill: Element, colors: _Colors) -> str:
    pattern = next((child for child in fill if name_of(child) == "patternFill"), None)
    kind = "none" if pattern is None else pattern.get("patternType", "none")
    if pattern is None or kind == "none":
        return ""
    return colors.of(pattern, "fgColor" if kind == "solid" else "bgColor", "ffffff")


def _borders(border: Element) -> str:
    lines = {_STRICT_SIDES.get(name_of(line), name_of(line)): line.get("style", "none") for line in border}
    letters = (letter for letter, side in SIDES.items() if lines.get(side, "none") != "none")
    return "".join(letter.upper() if lines[SIDES[letter]] in _THICK_LINES else letter for letter in letters)


class _Colors:
    """Resolves the colours of a workbook, which are RGB values, or numbers in the theme or the palette."""

    def __init__(self, package: XlsxPackage, theme_part: str | None, palette: list[str]) -> None:
        self._palette = palette or _PALETTE
        scheme = next((element for _, element in package.elements(theme_part, "clrScheme")), ())
        theme = [child[0].get("lastClr", child[0].get("val", "")).lower() for child in scheme if len(child)]
        self._theme = [theme[place] for place in (1, 0, 3, 2)] + theme[4:] if len(theme) > 3 else []

    def of(self, parent: Element, name: str, default: str) -> str:
        """Return the colour in the child `name` as "#rrggbb", or "" if it is missing or the default."""
        element = next((child for child in parent if name_of(child) == name), None)
        if element is None:
            return ""
        color = element.get("rgb", "")[-6:].lower()
        for key, colors in (("theme", self._theme), ("indexed", self._palette)):
            number = element.get(key, "")
            if number.isdecimal() and int(number) < len(colors):
                color = colors[int(number)]
        color = _tinted(color, float(element.get("tint", 0))) if _RGB.fullmatch(color) else default
        return "" if color == default else f"#{color}"


def _tinted(color: str, tint: float) -> str:
    """Darken (tint < 0) or lighten (tint > 0) a colour (ECMA-376 part 1, 18.8.19)."""
    hue, light, saturation = colorsys.rgb_to_hls(*(int(color[at : at + 2], 16) / 255 for at in (0, 2, 4)))
    light = light * (1 + tint) if tint < 0 else light * (1 - tint) + tint
    parts = colorsys.hls_to_rgb(hue, min(max(light, 0.0), 1.0), saturation)
    return "".join(f"{min(max(round(part * 255), 0), 255):02x}" for part in parts)
