"""Adds the style sheets of this folder to the page of a form."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import ipywidgets as widgets

from ...notebook.html import Markup, tag

_FOLDER = Path(__file__).parent


def style_sheet(name: str, extra_rules: str = "") -> widgets.HTML:
    """Create an invisible widget that adds a style sheet of this folder and extra CSS rules to the page."""
    return widgets.HTML(tag("style", Markup(_text(name) + extra_rules)), layout={"display": "none"})


@cache
def _text(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def row(*parts: widgets.Widget) -> widgets.HBox:
    """Create a box with buttons side by side, which wrap on narrow pages."""
    box = widgets.HBox(parts)
    box.add_class("svc-buttons")
    return box


def side_by_side(main: widgets.Widget, panel: widgets.Widget) -> widgets.Box:
    """Create a box with a panel beside the main part on wide pages, and below it on narrow pages."""
    box = widgets.Box([main, panel])
    box.add_class("svc-side-by-side")
    return box
