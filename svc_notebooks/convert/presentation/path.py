"""Builds the outlines of shapes from the lines and curves that the formats have."""

from __future__ import annotations

from math import atan2, ceil, cos, pi, sin, tan

from .model import PATH_SIDE

_LIMIT = 1_000 * PATH_SIDE


class PathBuilder:
    """Collects the path data of a `ShapePath` in `data`. The arguments are the view box of the source's coordinates."""

    def __init__(self, left: float, top: float, width: float, height: float) -> None:
        self.data: list[str] = []
        self.point = self._start = (0.0, 0.0)
        self._left, self._top = left, top
        self._scale_x, self._scale_y = PATH_SIDE / (width or 1.0), PATH_SIDE / (height or 1.0)

    def add(self, command: str, *numbers: float) -> None:
        """Add a command with absolute coordinates. The command is M, L, C, Q (a quadratic curve) or Z."""
        points = list(zip(numbers[::2], numbers[1::2], strict=True))
        if command == "Q":
            (x, y), (control_x, control_y), (end_x, end_y) = self.point, *points
            points = [
                (x + (control_x - x) * 2 / 3, y + (control_y - y) * 2 / 3),
                (end_x + (control_x - end_x) * 2 / 3, end_y + (control_y - end_y) * 2 / 3),
                (end_x, end_y),
            ]
            command = "C"
        if command == "M":
            self._start = points[0]
        self.point = points[-1] if points else self._start
        scaled = (((x - self._left) * self._scale_x, (y - self._top) * self._scale_y) for x, y in points)
        self.data.append(" ".join([command, *(f"{_clamp(x)} {_clamp(y)}" for x, y in scaled)]))

    def add_arc(self, radius_x: float, radius_y: float, start: float, sweep: float) -> None:
        """Add an arc of an ellipse, which begins at the current point. Angles are in radians and clockwise."""
        first, last = (_parameter(angle, radius_x, radius_y) for angle in (start, start + sweep))
        last = first + max(-2 * pi, min(2 * pi, last - first))
        center_x, center_y = self.point[0] - radius_x * cos(first), self.point[1] - radius_y * sin(first)
        count = max(1, ceil(abs(last - first) / (pi / 2) - 1e-6))
        step = (last - first) / count
        k = 4 / 3 * tan(step / 4)
        for n in range(count):
            a, b = first + n * step, first + (n + 1) * step
            self.add(
                "C",
                center_x + radius_x * (cos(a) - k * sin(a)), center_y + radius_y * (sin(a) + k * cos(a)),
                center_x + radius_x * (cos(b) + k * sin(b)), center_y + radius_y * (sin(b) - k * cos(b)),
                center_x + radius_x * cos(b), center_y + radius_y * sin(b),
            )  # fmt: skip


def _clamp(coordinate: float) -> int:
    return round(max(-_LIMIT, min(_LIMIT, coordinate)))


def _parameter(angle: float, radius_x: float, radius_y: float) -> float:
    """Return the parameter of the point that is seen at an angle from the center of an ellipse."""
    parameter = atan2(radius_x * sin(angle), radius_y * cos(angle))
    return parameter + 2 * pi * round((angle - parameter) / (2 * pi))
