"""The label of a control: one column for all forms, with a tooltip wherever the person points."""

from __future__ import annotations

from typing import Any

from .markup import tag

LABEL = {"description_width": "var(--svc-label)"}
"""A label of the first column; the forms' style sheet puts it above its control where there is no room."""

FREE = {"description_width": "initial"}
"""A label as wide as its words."""


def labelled(text: str, tooltip: str) -> dict[str, Any]:
    """A label with its tooltip; ipywidgets shows that of a text field only where it has no label."""
    label = tag("span", text, title=tooltip)
    return {"description": label, "description_allow_html": True, "tooltip": tooltip}
