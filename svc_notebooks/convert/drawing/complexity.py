"""How much there is to draw once everything that is used again is counted each time: a few lines can mean billions."""

from __future__ import annotations

import re
from typing import Any

from ..job import ConversionError, TooLarge
from . import css
from .clean import SVG

MOST = 250_000
"""Elements to draw, counted so."""
DEEPEST = 200
_PLAIN = frozenset({f"{{{SVG}}}linearGradient", f"{{{SVG}}}radialGradient"})
_LAYERS = {"filter": (500, 120), "mask": (100, 2_000), "pattern": (100, 2_000), "opacity": (1, 5_000)}
"""What needs a picture of its own weighs so many elements at least, and one for so many pixels of the page."""
_USED = re.compile(r"url\(\s*[\"']?#([^\"')\s]+)")
_SELECTED = re.compile(r"[.#]?[\w-]+|\*")
_XLINK = "{http://www.w3.org/1999/xlink}href"


def check_depth(root: Any) -> None:
    """Refuse what is nested deeper than a drawing program goes.

    Raises:
        ConversionError: it is.
    """
    level, depth = [root], 0
    while level:
        depth += 1
        if depth > DEEPEST:
            raise ConversionError(f"the drawing has groups nested more than {DEEPEST} deep.")
        level = [child for element in level for child in element]


def check_weight(root: Any, pixels: float) -> None:
    """Refuse what would need too long to draw.

    Raises:
        TooLarge: it would; ConversionError: it uses itself.
    """
    if Weights(root, pixels).of(root) > MOST:
        raise TooLarge(f"the drawing has more than {MOST} elements, counting each time that one is used.")


class Weights:
    """Weighs elements, each once."""

    def __init__(self, root: Any, pixels: float) -> None:
        self._layers = {name: max(least, int(pixels / part)) for name, (least, part) in _LAYERS.items()}
        self._named = {element.get("id"): element for element in root.iter() if element.get("id")}
        self._styled = _styled(root)
        self._known: dict[Any, int] = {}
        self._open: set[Any] = set()

    def of(self, element: Any) -> int:
        """How many elements it comes to."""
        if element in self._known:
            return self._known[element]
        if element in self._open:
            raise ConversionError("the drawing has an element that uses itself.")
        if len(self._open) > 2 * DEEPEST:
            raise ConversionError("the drawing has elements that use others in too long a row.")
        self._open.add(element)
        own = self._layers.get(str(element.tag).rpartition("}")[2], 1)
        if "opacity" in element.attrib or "opacity" in element.get("style", ""):
            own += self._layers["opacity"]
        weight = own + sum(map(self.of, (*element, *self._used(element))))
        self._open.discard(element)
        self._known[element] = min(weight, MOST + 1)
        return self._known[element]

    def _used(self, element: Any) -> list[Any]:
        """The elements that this one points to, but for gradients, which weigh nothing."""
        if element.tag in _PLAIN:
            return []
        values = [element.get("href") or element.get(_XLINK) or ""]
        names = [value[1:] for value in values if value.startswith("#")]
        names += [name for value in element.attrib.values() if "url(" in value for name in _USED.findall(value)]
        if element.tag == f"{{{SVG}}}a":  # a link to a part of the drawing does not draw it again
            names = [name for name in names if f"#{name}" != values[0]]
        if self._styled:
            names += [name for key in _keys(element) for name in self._styled.get(key, ())]
        found = (self._named.get(name) for name in names)
        return [target for target in found if target is not None and target.tag not in _PLAIN]


def _styled(root: Any) -> dict[str, list[str]]:
    """What style sheets use, by the classes, ids and elements that their selectors name."""
    found: dict[str, list[str]] = {}
    for element in root.iter(f"{{{SVG}}}style"):
        for selector, body in css.rules(element.text or ""):
            for key in _SELECTED.findall(selector) if "url(" in body else ():
                found.setdefault(key, []).extend(_USED.findall(body))
    return found


def _keys(element: Any) -> list[str]:
    classes = [f".{name}" for name in element.get("class", "").split()]
    return [*classes, f"#{element.get('id', '')}", str(element.tag).rpartition("}")[2], "*"]
