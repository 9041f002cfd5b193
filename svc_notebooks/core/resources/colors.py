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
