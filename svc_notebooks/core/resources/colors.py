"""The colours of events and calendars, by `colorId` (E-24)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import NamedTuple


class Color(NamedTuple):
    """A background and a foreground colour as hex codes. `name` is "" if the colour has no name."""

    background: str
    foreground: str
    name: str = ""


_TABLES = json.loads((files(__package__) / "colors.json").read_text("utf-8"))

EVENT_COLORS: Mapping[str, Color] = {key: Color(**fields) for key, fields in _TABLES["event"].items()}
CALENDAR_COLORS: Mapping[str, Color] = {key: Color(**fields) for key, fields in _TABLES["calendar"].items()}


def nearest(code: str, colors: Mapping[str, Color]) -> str:
    """Return the id of the colour whose background is nearest to a hex code.

    >>> nearest("#d06b65", CALENDAR_COLORS)
    '2'
    """
    channels = bytes.fromhex(code.removeprefix("#"))

    def distance(key: str) -> int:
        others = bytes.fromhex(colors[key].background[1:])
        return sum((own - other) ** 2 for own, other in zip(channels, others, strict=True))

    return min(colors, key=distance)
