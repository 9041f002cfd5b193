"""Widgets taken away with all that they are made of: ipywidgets keeps each part that nobody closes, for good."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ipywidgets import Widget


def dispose(*roots: Widget) -> None:
    """Close widgets and all that they are made of."""
    for part in whole(*roots):
        Widget.close(part)


def whole(*roots: Widget) -> dict[Widget, None]:
    """Widgets and all that they are made of: what stands in them, and how each of that is laid out and looks.

    >>> from ipywidgets import HBox, Label
    >>> [type(part).__name__ for part in whole(HBox([Label("a")]))]
    ['HBox', 'Label', 'Layout', 'LabelStyle', 'Layout']
    """
    found: dict[Widget, None] = {}
    _add(found, roots)
    return found


def _add(found: dict[Widget, None], parts: Iterable[Widget]) -> None:
    for part in parts:
        if part not in found:
            found[part] = None
            _add(found, _parts(part))


def _parts(widget: Widget) -> Iterator[Widget]:
    for value in widget.trait_values().values():
        yield from (one for one in _flat(value) if isinstance(one, Widget))


def _flat(value: object) -> tuple[object, ...]:
    return tuple(value) if isinstance(value, list | tuple) else (value,)
