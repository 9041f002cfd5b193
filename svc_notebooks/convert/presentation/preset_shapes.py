"""The outlines of common shapes, as PowerPoint names them. Other preset shapes are rectangles with their text."""

from __future__ import annotations

from .model import PATH_SIDE, Outline, ShapePath

_LIMIT = 1_000 * PATH_SIDE


class PathBuilder:
    """Collects the path data of a `ShapePath` in `data`. The arguments are the view box of the source's coordinates."""

    def __init__(self, left: float, top: float, width: float, height: float) -> None:
        self.data: list[str] = []
        self.point = self._start = (0.0, 0.0)
        self._left, self._top = left, top
        self._scale_x, self._scale_y = PATH_SIDE / (width or 1.0), PATH_SIDE / (height or 1.0)

    def add(self, command: str, *numbers: float) -> None:
        """Add a command (M, L, C or Z) with absolute coordinates."""
        points = list(zip(numbers[::2], numbers[1::2], strict=True))
        if command == "M":
            self._start = points[0]
        self.point = points[-1] if points else self._start
        scaled = (((x - self._left) * self._scale_x, (y - self._top) * self._scale_y) for x, y in points)
        self.data.append(" ".join([command, *(f"{_clamp(x)} {_clamp(y)}" for x, y in scaled)]))


def _clamp(coordinate: float) -> int:
    return round(max(-_LIMIT, min(_LIMIT, coordinate)))


OUTLINES: dict[str, Outline] = {"ellipse": "ellipse", "roundRect": "round"}  # drawn without a path

_PATHS = {  # in a box of `PATH_SIDE`; {a} is the length of an arrowhead, {b} the rest of the arrow
    "triangle": "M 0 100000 L 50000 0 L 100000 100000 Z",
    "rtTriangle": "M 0 100000 L 0 0 L 100000 100000 Z",
    "diamond": "M 0 50000 L 50000 0 L 100000 50000 L 50000 100000 Z",
    "rightArrow": "M 0 25000 L {b} 25000 L {b} 0 L 100000 50000 L {b} 100000 L {b} 75000 L 0 75000 Z",
    "leftArrow": "M 0 50000 L {a} 0 L {a} 25000 L 100000 25000 L 100000 75000 L {a} 75000 L {a} 100000 Z",
    "downArrow": "M 0 {b} L 25000 {b} L 25000 0 L 75000 0 L 75000 {b} L 100000 {b} L 50000 100000 Z",
    "upArrow": "M 0 {a} L 50000 0 L 100000 {a} L 75000 {a} L 75000 100000 L 25000 100000 L 25000 {a} Z",
    **dict.fromkeys(("line", "straightConnector1"), "M 0 0 L 100000 100000"),
    "bentConnector2": "M 0 0 L 100000 0 L 100000 100000",
    "bentConnector3": "M 0 0 L 50000 0 L 50000 100000 L 100000 100000",
    "curvedConnector3": "M 0 0 C 50000 0 50000 100000 100000 100000",
}

_TEXT_AREAS = {  # insets from left, top, right and bottom, as shares of the sides
    "ellipse": (0.1464, 0.1464, 0.1464, 0.1464),
    "triangle": (0.25, 0.5, 0.25, 0.0), "diamond": (0.25, 0.25, 0.25, 0.25),
    "rightArrow": (0.0, 0.25, 0.0, 0.25), "leftArrow": (0.0, 0.25, 0.0, 0.25),
    "downArrow": (0.25, 0.0, 0.25, 0.0), "upArrow": (0.25, 0.0, 0.25, 0.0),
}  # fmt: skip


def preset_paths(shape: str, width: int, height: int) -> tuple[ShapePath, ...]:
    """Return the paths of a shape in a box of this size, or an empty tuple for a shape without a path."""
    if shape not in _PATHS:
        return ()
    length, across = (width, height) if shape in ("rightArrow", "leftArrow") else (height, width)
    head = round(PATH_SIDE / 2 * min(1.0, across / (length or 1)))
    data = _PATHS[shape].format(a=head, b=PATH_SIDE - head)
    return (ShapePath(data, "" if data.endswith("Z") else "none"),)


def text_insets(shape: str, width: int, height: int) -> tuple[int, int, int, int]:
    """Return the distances of the text of a shape from the left, top, right and bottom of its box."""
    left, top, right, bottom = _TEXT_AREAS.get(shape, (0.0, 0.0, 0.0, 0.0))
    return int(left * width), int(top * height), int(right * width), int(bottom * height)
