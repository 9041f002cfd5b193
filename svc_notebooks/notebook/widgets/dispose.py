"""Closes a widget with all of its parts, because ipywidgets keeps every widget that is not closed."""

from __future__ import annotations

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
    pending = [*reversed(roots)]
    while pending:
        part = pending.pop()
        if part not in tree:
            tree[part] = None
            values = [value if isinstance(value, list | tuple) else [value] for value in part.trait_values().values()]
            pending += [inner for value in reversed(values) for inner in reversed(value) if isinstance(inner, Widget)]
    return tree
