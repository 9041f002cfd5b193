"""The outlines of common shapes, as PowerPoint names them. Other preset shapes are rectangles with their text."""

from __future__ import annotations

from .model import PATH_SIDE, Outline, ShapePath

OUTLINES: dict[str, Outline] = {"ellipse": "ellipse", "roundRect": "round"}
"""The shapes that every writer draws without a path."""

_PATHS = {
    "triangle": "M 0 100000 L 50000 0 L 100000 100000 Z",
    "rtTriangle": "M 0 100000 L 0 0 L 100000 100000 Z",
    "diamond": "M 0 50000 L 50000 0 L 100000 50000 L 50000 100000 Z",
    "rightArrow": "M 0 25000 L {b} 25000 L {b} 0 L 100000 50000 L {b} 100000 L {b} 75000 L 0 75000 Z",
    "leftArrow": "M 0 50000 L {a} 0 L {a} 25000 L 100000 25000 L 100000 75000 L {a} 75000 L {a} 100000 Z",
    "downArrow": "M 0 {b} L 25000 {b} L 25000 0 L 75000 0 L 75000 {b} L 100000 {b} L 50000 100000 Z",
    "upArrow": "M 0 {a} L 50000 0 L 100000 {a} L 75000 {a} L 75000 100000 L 25000 100000 L 25000 {a} Z",
    "line": "M 0 0 L 100000 100000",
    "straightConnector1": "M 0 0 L 100000 100000",
    "bentConnector2": "M 0 0 L 100000 0 L 100000 100000",
    "bentConnector3": "M 0 0 L 50000 0 L 50000 100000 L 100000 100000",
    "curvedConnector3": "M 0 0 C 50000 0 50000 100000 100000 100000",
}
"""The path of each shape in a box of `PATH_SIDE`. {a} is the length of an arrowhead, and {b} the rest of the arrow."""

_TEXT_AREAS = {
    "ellipse": (0.1464, 0.1464, 0.1464, 0.1464),
    "triangle": (0.25, 0.5, 0.25, 0.0), "diamond": (0.25, 0.25, 0.25, 0.25),
    "rightArrow": (0.0, 0.25, 0.0, 0.25), "leftArrow": (0.0, 0.25, 0.0, 0.25),
    "downArrow": (0.25, 0.0, 0.25, 0.0), "upArrow": (0.25, 0.0, 0.25, 0.0),
}  # fmt: skip
"""The distances of the text from the left, top, right and bottom of the box, as fractions of its sides."""


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
