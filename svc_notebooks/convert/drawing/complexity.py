"""Refuses drawings that are nested too deeply or draw too many elements. Each use of an element counts."""

from __future__ import annotations

from typing import Any

from ..job import ConversionError, TooLarge
from . import css
from .clean import SVG

MAX_WEIGHT = 250_000
"""The maximum weight of a drawing. A simple element has the weight 1."""
MAX_DEPTH = 200
MAX_RULES = 10_000
_GRADIENTS = frozenset({f"{{{SVG}}}linearGradient", f"{{{SVG}}}radialGradient"})
_LAYERS = {"filter": (500, 120), "mask": (100, 2_000), "pattern": (100, 2_000), "opacity": (1, 5_000)}
"""The minimum weight of bitmap layers, and the number of page pixels that count as one element."""
_XLINK = "{http://www.w3.org/1999/xlink}href"


def check_depth(root: Any) -> None:
    """Raise ConversionError if the elements of a drawing are nested more than `MAX_DEPTH` deep."""
    level, depth = [root], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise ConversionError(f"the drawing has groups nested more than {MAX_DEPTH} levels deep.")
        level = [child for element in level for child in element]


def check_rules(root: Any) -> None:
    """Raise TooLarge if the style sheets of a drawing have more than about `MAX_RULES` rules."""
    sheets = ("".join(element.itertext()) for element in root.iter("{*}style"))
    if sum(sheet.count("{") for sheet in sheets) > MAX_RULES:
        raise TooLarge(f"the style sheets of the drawing have more than {MAX_RULES} rules.")


def check_weight(root: Any, pixels: float) -> None:
    """Raise TooLarge if a drawing of this size in pixels is too complex, or ConversionError for reference cycles."""
    if Weights(root, pixels).of(root) > MAX_WEIGHT:
        raise TooLarge(f"the drawing has more than {MAX_WEIGHT} elements, including repeated uses.")


class Weights:
    """Calculates and caches the weights of elements. A weight is the number of simple elements with equal cost."""

    def __init__(self, root: Any, pixels: float) -> None:
        self._layer_weights = {
            name: max(minimum, int(pixels / pixels_per_element))
            for name, (minimum, pixels_per_element) in _LAYERS.items()
        }
        self._elements_by_id = {element.get("id"): element for element in root.iter() if element.get("id")}
        self._style_references: dict[str, list[str]] = {}
        for element in root.iter(f"{{{SVG}}}style"):
            for selector, ids in css.rule_references(element.text or ""):
                self._style_references.setdefault(selector, []).extend(ids)
        self._weights: dict[Any, int] = {}
        self._open: set[Any] = set()

    def of(self, element: Any) -> int:
        """Return an element's total weight, at most `MAX_WEIGHT + 1`. Raises ConversionError for reference cycles."""
        if element in self._weights:
            return self._weights[element]
        if element in self._open:
            raise ConversionError("the drawing has an element that refers to itself.")
        if len(self._open) > 2 * MAX_DEPTH:
            raise ConversionError("the drawing has a chain of references that is too long.")
        self._open.add(element)
        own = self._layer_weights.get(str(element.tag).rpartition("}")[2], 1)
        if "opacity" in element.attrib or "opacity" in element.get("style", ""):
            own += self._layer_weights["opacity"]
        weight = own + sum(map(self.of, (*element, *self._references(element))))
        self._open.discard(element)
        self._weights[element] = min(weight, MAX_WEIGHT + 1)
        return self._weights[element]

    def _references(self, element: Any) -> list[Any]:
        """Return the elements, except gradients, that an element refers to by a link, `url(#id)` or a style rule."""
        if element.tag in _GRADIENTS:
            return []
        values = [element.get("href") or element.get(_XLINK) or ""]
        names = [value[1:] for value in values if value.startswith("#")]
        names += [name for value in element.attrib.values() for name in css.references(value)]
        if element.tag == f"{{{SVG}}}a":  # a link does not draw the linked element again
            names = [name for name in names if f"#{name}" != values[0]]
        if self._style_references:
            names += [name for key in _selectors_for(element) for name in self._style_references.get(key, ())]
        targets = (self._elements_by_id.get(name) for name in names)
        return [target for target in targets if target is not None and target.tag not in _GRADIENTS]


def _selectors_for(element: Any) -> list[str]:
    classes = [f".{name}" for name in element.get("class", "").split()]
    attributes = [f"[{name}]" for name in element.attrib]
    return [*classes, *attributes, f"#{element.get('id', '')}", str(element.tag).rpartition("}")[2], "*"]
