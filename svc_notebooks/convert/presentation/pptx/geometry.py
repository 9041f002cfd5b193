"""Reads the paths of freeforms (ECMA-376 part 1, 20.1.9)."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from math import radians
from typing import Any

from ..model import ShapePath
from ..path import PathBuilder
from .colors import A

_DEGREE = 60_000
_POINTS = {"moveTo": ("M", 1), "lnTo": ("L", 1), "quadBezTo": ("Q", 2), "cubicBezTo": ("C", 3)}


def freeform_paths(element: Any, width: int, height: int) -> tuple[ShapePath, ...]:
    """Return the parts of the outline of an `a:custGeom` element, without a part whose points are formulas."""
    sides = {"l": 0, "t": 0, "r": width, "b": height, "w": width, "h": height, "hc": width / 2, "vc": height / 2}
    paths = element.iterfind(f"{A}pathLst/{A}path")
    return tuple(path for part in paths if (path := _path(part, width, height, sides)))


def _path(element: Any, width: int, height: int, sides: Mapping[str, float]) -> ShapePath | None:
    def value(text: str | None) -> float:
        return sides[text] if text is not None and text in sides else float(text or "0")

    fill = element.get("fill", "norm")
    stroked = element.get("stroke", "1") in ("1", "true")
    with suppress(ValueError, OverflowError):
        builder = PathBuilder(0, 0, value(element.get("w")) or width, value(element.get("h")) or height)
        for command in element.iterchildren("{*}*"):
            name = command.tag.removeprefix(A)
            if name == "close":
                builder.add("Z")
            elif name == "arcTo":
                radius_x, radius_y, start, sweep = (value(command.get(key)) for key in ("wR", "hR", "stAng", "swAng"))
                builder.add_arc(radius_x, radius_y, radians(start / _DEGREE), radians(sweep / _DEGREE))
            elif name in _POINTS:
                letter, count = _POINTS[name]
                points = [value(point.get(key)) for point in command.iterchildren(f"{A}pt") for key in "xy"]
                if len(points) >= 2 * count:
                    builder.add(letter, *points[: 2 * count])
        return ShapePath(" ".join(builder.data), "" if fill == "norm" else fill, stroked) if builder.data else None
    return None
