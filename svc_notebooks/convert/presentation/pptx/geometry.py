"""Computes the outlines of preset and custom shapes from their guides (ECMA-376 part 1, 20.1.9)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib.resources import files
from math import atan2, cos, degrees, hypot, radians, sin, sqrt, tan
from typing import Any

from ..model import ShapePath
from ..path import PathBuilder
from .colors import A
from .slide_theme import parse_xml

_DEGREE = 60_000
_CIRCLE = 360 * _DEGREE
_FRACTIONS = (2, 3, 4, 5, 6, 8, 10, 12, 16, 32)
_FORMULAS: dict[str, Callable[..., float]] = {
    "*/": lambda x, y, z: x * y / z if z else 0.0,
    "+-": lambda x, y, z: x + y - z,
    "+/": lambda x, y, z: (x + y) / z if z else 0.0,
    "?:": lambda x, y, z: y if x > 0 else z,
    "abs": abs,
    "at2": lambda x, y: degrees(atan2(y, x)) * _DEGREE,
    "cat2": lambda x, y, z: x * cos(atan2(z, y)),
    "cos": lambda x, y: x * cos(radians(y / _DEGREE)),
    "max": max,
    "min": min,
    "mod": lambda x, y, z: hypot(x, y, z),
    "pin": lambda x, y, z: max(x, min(y, z)),
    "sat2": lambda x, y, z: x * sin(atan2(z, y)),
    "sin": lambda x, y: x * sin(radians(y / _DEGREE)),
    "sqrt": lambda x: sqrt(max(0.0, x)),
    "tan": lambda x, y: x * tan(radians(y / _DEGREE)),
    "val": lambda x: x,
}  # 20.1.9.11
_POINTS = {"moveTo": ("M", 1), "lnTo": ("L", 1), "quadBezTo": ("Q", 2), "cubicBezTo": ("C", 3)}


class ShapeGeometry:
    """The outline of an `a:prstGeom` or `a:custGeom` element in a box of this width and height."""

    def __init__(self, element: Any, width: int, height: int) -> None:
        custom = element.tag == f"{A}custGeom"
        self._definition = element if custom else _presets().get(element.get("prst", "rect"), _presets()["rect"])
        self._width, self._height = width, height
        self._values = _constants(width, height)
        lists = (self._definition.find(f"{A}avLst"), element.find(f"{A}avLst"), self._definition.find(f"{A}gdLst"))
        for guides in lists:
            for guide in () if guides is None else guides.iterchildren(f"{A}gd"):
                self._values[guide.get("name", "")] = self._formula(guide.get("fmla", ""))

    def _formula(self, text: str) -> float:
        name, *arguments = text.split() or ("val",)
        with suppress(KeyError, TypeError, OverflowError, ValueError):
            return float(_FORMULAS[name](*(self._value(argument) for argument in arguments)))
        return 0.0

    def _value(self, text: str | None) -> float:
        return self._values[text] if text in self._values else float(text or "0")

    def paths(self) -> tuple[ShapePath, ...]:
        """Return the parts of the outline."""
        elements = self._definition.iterfind(f"{A}pathLst/{A}path")
        return tuple(path for element in elements if (path := self._path(element)))

    def _path(self, element: Any) -> ShapePath | None:
        builder = PathBuilder(0, 0, self._width, self._height)
        with suppress(ValueError, OverflowError):
            size = self._value(element.get("w")), self._value(element.get("h"))
            builder = PathBuilder(0, 0, size[0] or self._width, size[1] or self._height)
            for command in element.iterchildren("{*}*"):
                self._add(builder, command)
        fill = element.get("fill", "norm")
        stroked = element.get("stroke", "1") in ("1", "true")
        return ShapePath(" ".join(builder.data), "" if fill == "norm" else fill, stroked) if builder.data else None

    def _add(self, builder: PathBuilder, command: Any) -> None:
        name = command.tag.removeprefix(A)
        if name == "close":
            builder.add("Z")
        elif name == "arcTo":
            radius_x, radius_y, start, sweep = (self._value(command.get(key)) for key in ("wR", "hR", "stAng", "swAng"))
            builder.add_arc(radius_x, radius_y, radians(start / _DEGREE), radians(sweep / _DEGREE))
        elif name in _POINTS:
            letter, count = _POINTS[name]
            points = [self._value(point.get(key)) for point in command.iterchildren(f"{A}pt") for key in "xy"]
            if len(points) >= 2 * count:
                builder.add(letter, *points[: 2 * count])

    def text_insets(self) -> tuple[float, float, float, float]:
        """Return the distances of the text rectangle from the left, top, right and bottom of the box."""
        rectangle = self._definition.find(f"{A}rect")
        if rectangle is None:
            return (0.0, 0.0, 0.0, 0.0)
        with suppress(ValueError):
            left, top, right, bottom = (self._value(rectangle.get(side)) for side in "ltrb")
            return left, top, self._width - right, self._height - bottom
        return (0.0, 0.0, 0.0, 0.0)


def _constants(width: int, height: int) -> dict[str, float]:
    """Return the guides that every shape has (20.1.9.11)."""
    sides = {"w": width, "h": height, "ss": min(width, height), "ls": max(width, height)}
    edges = {"l": 0, "t": 0, "r": width, "b": height, "hc": width / 2, "vc": height / 2}
    parts = {f"{side}d{n}": sides[side] / n for side in ("w", "h", "ss") for n in _FRACTIONS}
    angles = {f"{n if n > 1 else ''}cd{part}": _CIRCLE * n / part for part in (2, 4, 8) for n in (1, 3, 5, 7)}
    return {**sides, **edges, **parts, **angles}


@cache
def _presets() -> dict[str, Any]:
    """Return the definitions of the preset shapes by name, from the electronic annex of the standard."""
    root = parse_xml((files(__package__) / "preset_shapes.xml").read_bytes())
    return {shape.tag.removeprefix(A): shape for shape in root.iterchildren("{*}*")}
