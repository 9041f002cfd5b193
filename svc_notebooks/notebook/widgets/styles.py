"""Adds the style sheets of this folder to the page of a form."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import ipywidgets as widgets

from .html import Markup, tag

_FOLDER = Path(__file__).parent


def style_sheet(name: str, extra_rules: str = "") -> widgets.HTML:
    """Return an invisible widget with a style sheet and extra rules."""
    return widgets.HTML(tag("style", Markup(_text(name) + extra_rules)), layout={"display": "none"})


@cache
def _text(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def row(*parts: widgets.Widget) -> widgets.HBox:
    """Return buttons side by side, which wrap on narrow pages."""
    box = widgets.HBox(parts)
    box.add_class("svc-buttons")
    return box
