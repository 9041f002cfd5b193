"""The model of a native drawing, which is safe SVG and its size."""

from __future__ import annotations

from dataclasses import dataclass

from ..input import native_package

WIDTH, HEIGHT = 960.0, 720.0
"""The page of a new drawing, in pixels of 1/96 inch."""
_EMPTY = '<svg xmlns="http://www.w3.org/2000/svg" width="960" height="720" viewBox="0 0 960 720"></svg>'


@dataclass(frozen=True, slots=True)
class Drawing:
    """SVG without scripts, animated links and external content, which without arguments is an empty page.

    >>> Drawing.unpack(Drawing().pack()) == Drawing()
    True
    """

    svg: str = _EMPTY
    width: float = WIDTH
    height: float = HEIGHT

    def pack(self) -> bytes:
        """Return the bytes to store."""
        return native_package.pack({"svg": self.svg, "width": self.width, "height": self.height}, {})

    @classmethod
    def unpack(cls, body: bytes) -> Drawing:
        """Return the drawing that `pack` stored."""
        value, _ = native_package.unpack(body)
        return cls(**value)
