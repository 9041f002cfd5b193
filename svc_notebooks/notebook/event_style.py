"""How an event form looks: the style sheet beside this file, and the colours of the chips."""

from __future__ import annotations

from pathlib import Path

import ipywidgets as widgets

from .colour_chips import chip_styles
from .markup import Markup, tag


def style_sheet() -> widgets.HTML:
    """What puts the style sheet into the page, and cannot be seen."""
    text = (Path(__file__).parent / "event_form.css").read_text(encoding="utf-8")
    return widgets.HTML(tag("style", Markup(text + chip_styles())), layout={"display": "none"})
