"""Reads the outlines of custom shapes, paths, polygons and connectors (ODF 1.3 part 3, 10.3 and 10.6)."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from math import atan2, cos, hypot, pi, radians, sin, sqrt, tan
from typing import Any

from ...input.odf.namespaces import length, name
from ..model import PATH_SIDE, Box, PathFill, ShapePath
from ..path import PathBuilder

_TOKEN = re.compile(r"[a-z]{3,}|[A-Za-z]|[?$][A-Za-z0-9_]+|[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_COUNTS = {"M": 2, "L": 2, "C": 6, "Q": 4, "H": 1, "V": 1, "S": 4, "T": 2, "A": 7, "Z": 0}
"""The number of arguments of each command in SVG path data."""
_SHAPE_COUNTS = {"M": 2, "L": 2, "C": 6, "Q": 4, "T": 6, "U": 6, "A": 8, "B": 8, "W": 8, "V": 8, "X": 2, "Y": 2, "G": 4,
                 "Z": 0}  # fmt: skip
"""The number of arguments of each command in the path of a custom shape."""
_FILLS: dict[str, PathFill] = {"F": "none", "H": "darken", "I": "darkenLess", "J": "lighten", "K": "lightenLess"}
_NEXT = {"M": "L", "m": "l", "X": "Y", "Y": "X"}
"""The command that arguments mean which follow those of another command."""
_HUNDREDTH_MM = 360
_DRAWOOO = "{http://openoffice.org/2010/draw}"  # LibreOffice's path with arcs for the shapes of PowerPoint
_QUARTER = 0.5523
"""The distance of the control points from the ends of a quarter of a circle with the radius 1."""
_MAX_FORMULA = 500
_FUNCTIONS: dict[str, Callable[..., float]] = {
    "abs": abs, "sqrt": lambda x: sqrt(max(0.0, x)), "sin": sin, "cos": cos, "tan": tan, "atan": lambda x: atan2(x, 1),
    "atan2": atan2, "min": min, "max": max, "if_": lambda test, x, y: x if test > 0 else y,
}  # fmt: skip
_OPERATORS: dict[type, Callable[[Any, Any], float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: lambda x, y: x / y if y else 0.0,
}  # fmt: skip


_DAMAGED = (ArithmeticError, LookupError, MemoryError, RecursionError, SyntaxError, TypeError, ValueError)


def custom_outline(geometry: Any, box: Box) -> tuple[tuple[ShapePath, ...], tuple[int, ...]]:
    """Return the paths of a `draw:enhanced-geometry`, and the distances of its text from the sides of the box.

    Both are empty if the geometry is damaged or has no path.
    """
    with suppress(*_DAMAGED):
        shape = CustomShape(geometry, box)
        return tuple(shape.paths()), shape.text_insets(box)
    return (), ()


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


class CustomShape:
    """Evaluates the path of a `draw:enhanced-geometry` element."""

    def __init__(self, geometry: Any, box: Box) -> None:
        self._geometry = geometry
        self._path = geometry.get(f"{_DRAWOOO}enhanced-path") or geometry.get(name("draw:enhanced-path"), "")
        size = box.width / _HUNDREDTH_MM, box.height / _HUNDREDTH_MM
        left, top, width, height = _numbers(geometry.get(name("svg:viewBox"), "0 0 21600 21600"))
        width, height = width or size[0], height or size[1]
        self._view = left, top, width, height
        sizes = _numbers(geometry.get(f"{_DRAWOOO}sub-view-size", ""))  # of each part
        self._views = [(left, top, *pair) for pair in zip(sizes[::2], sizes[1::2], strict=True)] or [self._view]
        self._values = {
            "left": left, "top": top, "right": left + width, "bottom": top + height, "width": width, "height": height,
            "logwidth": size[0], "logheight": size[1], "xstretch": 0.0, "ystretch": 0.0, "hasstroke": 1.0,
            "hasfill": 1.0, "pi": pi,
        }  # fmt: skip
        modifiers = geometry.get(name("draw:modifiers"), "").split()
        self._values |= {f"${n}": float(value) for n, value in enumerate(modifiers[:100])}
        equations = geometry.iterchildren(name("draw:equation"))
        self._formulas = {f"?{it.get(name('draw:name'))}": it.get(name("draw:formula"), "") for it in equations}

    def paths(self) -> Iterator[ShapePath]:
        """Yield the parts of the outline, which N ends. F means without fill, and S without line."""
        tokens = " ".join(_TOKEN.findall(self._path))
        for n, part in enumerate(text.split() for text in re.split(r"(?<!\S)N(?!\S)", tokens)):
            builder = PathBuilder(*self._views[min(n, len(self._views) - 1)])
            for letter, arguments in _commands((token for token in part if token not in "FS"), _SHAPE_COUNTS):
                if letter in _SHAPE_COUNTS:
                    self._add(builder, letter, [self._value(argument) for argument in arguments])
            if builder.data:
                fill: PathFill = next((fill for letter, fill in _FILLS.items() if letter in part), "")
                yield ShapePath(" ".join(builder.data), fill, "S" not in part)

    def text_insets(self, box: Box) -> tuple[int, ...]:
        """Return the distances of the text area from the left, top, right and bottom of the box."""
        left, top, width, height = self._view
        area = [self._value(token) for token in self._geometry.get(name("draw:text-areas"), "").split()[:4]]
        start_x, start_y, end_x, end_y = area if len(area) == 4 else (left, top, left + width, top + height)
        x, y = box.width / width, box.height / height
        sides = (start_x - left) * x, (start_y - top) * y, (left + width - end_x) * x, (top + height - end_y) * y
        return tuple(map(int, sides))  # raises ValueError or OverflowError for a number that is not finite

    def _add(self, builder: PathBuilder, letter: str, numbers: list[float]) -> None:
        match letter:
            case "G":
                radius_x, radius_y, start, sweep = numbers
                builder.add_arc(radius_x, radius_y, radians(start), radians(sweep))
            case "T" | "U":
                *ellipse, start, end = numbers
                self._arc(builder, "L" if letter == "T" else "M", ellipse, radians(start), radians(end - start))
            case "A" | "B" | "W" | "V":
                left, top, right, bottom, *ends = numbers
                x, y = (left + right) / 2, (top + bottom) / 2
                start, end = (atan2(ends[n + 1] - y, ends[n] - x) for n in (0, 2))
                sweep = (end - start) % (2 * pi) or 2 * pi
                sweep = sweep if letter in "WV" else sweep - 2 * pi or -2 * pi
                self._arc(builder, "L" if letter in "AW" else "M", [x, y, right - x, bottom - y], start, sweep)
            case "X" | "Y":
                (x, y), (end_x, end_y) = builder.point, numbers
                x_part, y_part = _QUARTER * (end_x - x), _QUARTER * (end_y - y)
                controls = (x + x_part, y, end_x, end_y - y_part)
                builder.add("C", *(controls if letter == "X" else (x, y + y_part, end_x - x_part, end_y)), end_x, end_y)
            case _:
                builder.add(letter, *numbers)

    def _arc(self, builder: PathBuilder, command: str, ellipse: list[float], start: float, sweep: float) -> None:
        x, y, radius_x, radius_y = ellipse
        distance = hypot(cos(start) / (radius_x or 1.0), sin(start) / (radius_y or 1.0)) or 1.0
        command = command if builder.data else "M"
        builder.add(command, x + cos(start) / distance, y + sin(start) / distance)
        builder.add_arc(radius_x, radius_y, start, sweep)

    def _value(self, token: str) -> float:
        if token in self._formulas and token not in self._values:
            self._values[token] = 0.0  # while the formula refers to itself
            self._values[token] = self._formula(self._formulas[token][:_MAX_FORMULA])
        return self._values[token] if token in self._values else float(token)

    def _formula(self, text: str) -> float:
        for short, long in (("?", "equation_"), ("$", "modifier_"), ("if(", "if_(")):
            text = text.replace(short, long)
        return float(self._evaluate(ast.parse(text.strip(), mode="eval").body))

    def _evaluate(self, node: Any) -> float:
        match node:
            case ast.Constant(value=int() | float() as value):
                return float(value)
            case ast.Name():
                return self._value(node.id.replace("equation_", "?").replace("modifier_", "$"))
            case ast.UnaryOp(op=ast.USub() | ast.UAdd()):
                return self._evaluate(node.operand) * (-1 if isinstance(node.op, ast.USub) else 1)
            case ast.BinOp():
                return _OPERATORS[type(node.op)](self._evaluate(node.left), self._evaluate(node.right))
            case ast.Call(func=ast.Name(id=function)):
                return _FUNCTIONS[function](*(self._evaluate(argument) for argument in node.args))
        raise ValueError("the formula is not valid")
