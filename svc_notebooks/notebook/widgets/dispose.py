"""Closes a widget and all widgets inside it. ipywidgets keeps every widget in memory until the widget is closed."""

from __future__ import annotations

from ipywidgets import Widget


def dispose(*roots: Widget) -> None:
    """Close widgets and, recursively, their children, layouts and styles."""
    for part in widget_tree(*roots):
        Widget.close(part)


def widget_tree(*roots: Widget) -> dict[Widget, None]:
    """Return a dict whose keys are the widgets and, recursively, their children, layouts and styles.

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
            held = [getattr(part, name) for name in part.keys if part.trait_has_value(name)]
            values = [value if isinstance(value, list | tuple) else [value] for value in held]
            pending += [inner for value in reversed(values) for inner in reversed(value) if isinstance(inner, Widget)]
    return tree
