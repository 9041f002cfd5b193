"""Determines the size of a drawing in pixels, and limits it."""

from __future__ import annotations

import re
from math import isfinite, sqrt
from typing import Any

from ..job import Job
from .model import HEIGHT, WIDTH

_MAX_SIDE = 16_000.0
_LENGTH = re.compile(r"\s*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?)\s*([a-zA-Z]*)\s*")
_UNITS = {
    "": 1.0, "px": 1.0, "pt": 96 / 72, "pc": 16.0, "in": 96.0, "cm": 96 / 2.54, "mm": 96 / 25.4, "em": 16.0, "ex": 8.0,
}  # fmt: skip


def set_size(root: Any, job: Job) -> tuple[float, float]:
    """Write width, height and viewBox on a drawing's root; the size in pixels."""
    box = view_box(root.get("viewBox", ""))
    declared = _pixels(root.get("width")), _pixels(root.get("height"))
    width, height = _complete_size(*declared, box)
    if box is None:
        root.set("viewBox", f"0 0 {width:.6g} {height:.6g}")
    scale = min(1.0, _MAX_SIDE / width, _MAX_SIDE / height, sqrt(job.limits.pixels / (width * height)))
    if scale < 1.0:
        job.note("the drawing is larger than can be drawn; it was made smaller.")
    width, height = max(1.0, round(width * scale, 3)), max(1.0, round(height * scale, 3))
    root.set("width", f"{width:g}")
    root.set("height", f"{height:g}")
    return width, height


def _complete_size(width: float | None, height: float | None, box: tuple[float, float] | None) -> tuple[float, float]:
    """What is not said follows from the other side and the form of the view box."""
    if width and height:
        return width, height
    box_width, box_height = box or (WIDTH, HEIGHT)
    if width or height:
        return width or (height or box_height) * box_width / box_height, height or (
            width or box_width
        ) * box_height / box_width
    return box_width, box_height


def view_box(text: str) -> tuple[float, float] | None:
    """Width and height of a view box; None for one that is none."""
    parts = text.replace(",", " ").split()
    numbers = [_pixels(part, signed=True) for part in parts]
    if len(numbers) != 4 or None in numbers:
        return None
    width, height = numbers[2] or 0.0, numbers[3] or 0.0
    return (width, height) if width > 0 and height > 0 else None


def _pixels(text: str | None, *, signed: bool = False) -> float | None:
    match = _LENGTH.fullmatch((text or "")[:60])
    if not match or match[2].lower() not in _UNITS:
        return None
    value = float(match[1]) * _UNITS[match[2].lower()]
    return value if isfinite(value) and abs(value) < 1e9 and (signed or value > 0) else None
