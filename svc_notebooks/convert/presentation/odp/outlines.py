"""Reads the outlines of custom shapes, paths, polygons and connectors (ODF 1.3 part 3, 10.3 and 10.6)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from ...input.odf.namespaces import length, name
from ..model import PATH_SIDE, Box, PathFill, ShapePath
from ..path import PathBuilder

_TOKEN = re.compile(r"[A-Za-z?$]|[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_COUNTS = {"M": 2, "L": 2, "C": 6, "Q": 4, "H": 1, "V": 1, "S": 4, "T": 2, "A": 7, "Z": 0}
"""The number of arguments of each command in SVG path data."""
_SHAPE_COUNTS = {"M": 2, "L": 2, "C": 6, "Q": 4, "Z": 0}
"""The number of arguments of each command that is read in the path of a custom shape."""
_FILLS: dict[str, PathFill] = {"F": "none", "H": "darken", "I": "darkenLess", "J": "lighten", "K": "lightenLess"}
_NEXT = {"M": "L", "m": "l"}
"""The command that arguments mean which follow those of another command."""
_HUNDREDTH_MM = 360
_DAMAGED = (ArithmeticError, LookupError, TypeError, ValueError)


def custom_paths(geometry: Any) -> tuple[ShapePath, ...]:
    """Return the paths of a `draw:enhanced-geometry`, or an empty tuple if they have arcs, formulas or damage."""
    with suppress(*_DAMAGED):
        view = _numbers(geometry.get(name("svg:viewBox"), "0 0 21600 21600"))
        tokens = " ".join(_TOKEN.findall(geometry.get(name("draw:enhanced-path"), "")))
        parts = (text.split() for text in re.split(r"(?<!\S)N(?!\S)", tokens))
        return tuple(path for part in parts if (path := _custom_path(part, PathBuilder(*view))).data)
    return ()


def _custom_path(part: list[str], builder: PathBuilder) -> ShapePath:
    """Return a part of an outline. F means without fill, and S without line."""
    marks = {"F", "S", *_FILLS}
    for letter, arguments in _commands((token for token in part if token not in marks), _SHAPE_COUNTS):
        if letter not in _SHAPE_COUNTS:
            raise LookupError("arcs are not read")
        builder.add(letter, *map(float, arguments))
    fill: PathFill = next((fill for letter, fill in _FILLS.items() if letter in part), "")
    return ShapePath(" ".join(builder.data), fill, "S" not in part)


def drawn_path(element: Any) -> tuple[ShapePath, ...]:
    """Return the outline of a path, polygon or polyline in its box, or an empty tuple if it is damaged."""
    points = element.get(name("draw:points"))
    data = f"M {points}" if points else element.get(name("svg:d"), "")
    with suppress(*_DAMAGED):
        builder = PathBuilder(*_numbers(element.get(name("svg:viewBox"), "")))
        add_svg_path(builder, data + " Z" * (element.tag == name("draw:polygon")))
        open_path = builder.data and not builder.data[-1].startswith("Z")
        return (ShapePath(" ".join(builder.data), "none" if open_path else ""),) if builder.data else ()
    return ()


def line_path(element: Any) -> tuple[Box, tuple[ShapePath, ...]]:
    """Return the box and the path of a line or connector."""
    x1, y1, x2, y2 = (length(element.get(name(f"svg:{key}"))) or 0.0 for key in ("x1", "y1", "x2", "y2"))
    kind = "line" if element.tag == name("draw:line") else element.get(name("draw:type"), "standard")
    data = element.get(name("svg:d"), "")
    with suppress(*_DAMAGED):
        course = PathBuilder(0, 0, PATH_SIDE, PATH_SIDE)
        add_svg_path(course, data)
        numbers = [int(token) for token in " ".join(course.data).split() if not token.isalpha()]
        (left, right), (top, bottom) = ((min(part), max(part)) for part in (numbers[::2], numbers[1::2]))
        builder = PathBuilder(left, top, right - left, bottom - top)
        add_svg_path(builder, data)
        x, y = (
            (start + (low - first) * _HUNDREDTH_MM)
            for start, low, first in ((x1, left, numbers[0]), (y1, top, numbers[1]))
        )
        box = Box.of(x, y, (right - left) * _HUNDREDTH_MM, (bottom - top) * _HUNDREDTH_MM)
        return box, (ShapePath(" ".join(builder.data), "none"),)
    box = Box.of(min(x1, x2), min(y1, y2), abs(x2 - x1), abs(y2 - y1), flip=(x2 < x1, y2 < y1))
    return box, (ShapePath(_COURSES.get(kind, _COURSES["line"]), "none"),)


_COURSES = {
    "line": f"M 0 0 L {PATH_SIDE} {PATH_SIDE}",
    "standard": "M 0 0 L {0} 0 L {0} {1} L {1} {1}".format(PATH_SIDE // 2, PATH_SIDE),
    "curve": "M 0 0 C {0} 0 {0} {1} {1} {1}".format(PATH_SIDE // 2, PATH_SIDE),
}
"""The paths of lines and connectors that have no path of their own."""


def _numbers(text: str) -> list[float]:
    return [float(number) for number in text.replace(",", " ").split()[:100]]


def _commands(tokens: Iterable[str], counts: dict[str, int]) -> Iterator[tuple[str, list[str]]]:
    """Yield each command with its arguments. A command without its letter repeats the last one."""
    letter, arguments = "", list[str]()
    for token in tokens:
        if token.isalpha() and len(token) == 1:
            letter, arguments = token, []
        else:
            arguments.append(token)
        if letter and len(arguments) == counts.get(letter.upper(), 0):
            yield letter, arguments
            letter, arguments = _NEXT.get(letter, letter) if arguments else "", []


def add_svg_path(builder: PathBuilder, data: str) -> None:
    """Add the commands of SVG path data to a path. Arcs become straight lines."""
    control = builder.point
    for letter, tokens in _commands(_TOKEN.findall(data), _COUNTS):
        command, numbers = letter.upper(), [float(token) for token in tokens]
        x, y = builder.point if letter.islower() else (0.0, 0.0)
        if command in "HV":
            numbers = [x + numbers[0], builder.point[1]] if command == "H" else [builder.point[0], y + numbers[0]]
            command, x, y = "L", 0.0, 0.0
        if command == "A":
            command, numbers = "L", numbers[5:]
        numbers = [number + (y if n % 2 else x) for n, number in enumerate(numbers)]
        if command in "ST":  # the first control point mirrors the last one
            numbers = [2 * builder.point[0] - control[0], 2 * builder.point[1] - control[1], *numbers]
            command = "C" if command == "S" else "Q"
        builder.add(command, *numbers)
        control = (numbers[-4], numbers[-3]) if command in "CQ" else builder.point
