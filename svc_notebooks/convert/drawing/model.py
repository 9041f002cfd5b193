"""The model of a native drawing, which contains safe SVG and the size of the page."""

from __future__ import annotations

from dataclasses import dataclass

from ..input import native_package

WIDTH, HEIGHT = 960.0, 720.0
"""The page size of a new drawing, in pixels of 1/96 inch."""
_EMPTY = '<svg xmlns="http://www.w3.org/2000/svg" width="960" height="720" viewBox="0 0 960 720"></svg>'


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawing as safe SVG. Sizes are in pixels of 1/96 inch. `Drawing()` is an empty page.

    >>> Drawing.unpack(Drawing().pack()) == Drawing()
    True
    """

    svg: str = _EMPTY
    width: float = WIDTH
    height: float = HEIGHT

    def pack(self) -> bytes:
        """Serialize the drawing to the bytes that the service stores."""
        return native_package.pack({"svg": self.svg, "width": self.width, "height": self.height}, {})

    @classmethod
    def unpack(cls, body: bytes) -> Drawing:
        """Restore the drawing from the bytes that `pack` returned."""
        value, _ = native_package.unpack(body)
        return cls(**value)
