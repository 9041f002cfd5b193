"""Computes the position on the page of shapes in nested groups."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, radians, sin

from .model import Box


@dataclass(frozen=True, slots=True)
class GroupTransform:
    """The transform from the coordinates inside a group to those of the outer group or the page."""

    scale_x: float = 1.0
    scale_y: float = 1.0
    x: float = 0.0
    y: float = 0.0
    turn: float = 0.0
    center: tuple[float, float] = (0.0, 0.0)
    outer: GroupTransform | None = None

    @classmethod
    def of_group(cls, box: Box, inside: Box, outer: GroupTransform | None) -> GroupTransform:
        """Return the transform of a group that is drawn in `box` and has the inner coordinates of `inside`."""
        scale_x = box.width / inside.width if inside.width else 1.0
        scale_y = box.height / inside.height if inside.height else 1.0
        center = (box.x + box.width / 2, box.y + box.height / 2)
        return cls(scale_x, scale_y, box.x - inside.x * scale_x, box.y - inside.y * scale_y, box.turn, center, outer)

    def to_page(self, box: Box) -> Box:
        """Return the position on the page of a box inside this group."""
        transform: GroupTransform | None = self
        while transform:
            box, transform = transform._to_outer(box), transform.outer
        return box

    def _to_outer(self, box: Box) -> Box:
        width, height = box.width * self.scale_x, box.height * self.scale_y
        x, y = box.x * self.scale_x + self.x, box.y * self.scale_y + self.y
        if not self.turn:
            return Box.of(x, y, width, height, box.turn)
        center_x, center_y = rotate_point(x + width / 2, y + height / 2, self.turn, self.center)
        return Box.of(center_x - width / 2, center_y - height / 2, width, height, box.turn + self.turn)


def rotate_point(x: float, y: float, degrees: float, around: tuple[float, float]) -> tuple[float, float]:
    """Rotate a point clockwise, with y pointing down."""
    angle = radians(degrees)
    dx, dy = x - around[0], y - around[1]
    return around[0] + dx * cos(angle) - dy * sin(angle), around[1] + dx * sin(angle) + dy * cos(angle)
