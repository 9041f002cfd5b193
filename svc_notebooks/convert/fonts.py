"""The fonts that pages are set in: those of font packages and of the system, beside the ones typst carries."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_SYSTEM = ("/usr/share/fonts", "/usr/local/share/fonts", "/System/Library/Fonts", "/Library/Fonts", "C:/Windows/Fonts")


@cache
def folders() -> list[Path]:
    """The folders that fonts are looked for in."""
    return [folder for place in _SYSTEM if (folder := Path(place)).is_dir()]
