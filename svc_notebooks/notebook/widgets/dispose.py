"""Closes a widget with all of its parts, because ipywidgets keeps every widget that is not closed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ipywidgets import Widget


def dispose(*roots: Widget) -> None:
    """Close widgets and all of their parts."""
    for part in widget_tree(*roots):
        Widget.close(part)


def widget_tree(*roots: Widget) -> dict[Widget, None]:
    """Return widgets and all of their parts, which are children, layouts and styles.

    >>> from ipywidgets import HBox, Label
    >>> [type(part).__name__ for part in widget_tree(HBox([Label("a")]))]
    ['HBox', 'Label', 'Layout', 'LabelStyle', 'Layout']
    """
    tree: dict[Widget, None] = {}
    _add(tree, roots)
    return tree


def _add(tree: dict[Widget, None], parts: Iterable[Widget]) -> None:
    for part in parts:
        if part not in tree:
            tree[part] = None
            _add(tree, _parts(part))


def _parts(widget: Widget) -> Iterator[Widget]:
    for value in widget.trait_values().values():
        yield from (part for part in _flat(value) if isinstance(part, Widget))


def _flat(value: object) -> tuple[object, ...]:
    return tuple(value) if isinstance(value, list | tuple) else (value,)
