"""The checkbox that allows viewers to download, export and copy a file (A6-05).

If the field `viewersCanCopyContent` is true, viewers can NOT copy the file, contrary to the name of the field.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import ipywidgets as widgets

from .field import checkbox

if TYPE_CHECKING:
    from ...core.resources.files import File

FIELD = "viewersCanCopyContent"
ARGUMENT = "viewers_can_copy_content"
_TOOLTIP = "Off: only people who may edit the file can download, export and copy it (viewersCanCopyContent=true)"


def viewers_switch() -> widgets.Checkbox:
    """Create the checkbox "Viewers may download, export and copy", which is checked by default."""
    return checkbox("Viewers may download, export and copy", _TOOLTIP, value=True)


def is_restricted(facts: File) -> bool:
    """Return whether only people who can edit the file can download, export and copy the file."""
    return facts.get(FIELD) is True


def may_edit(facts: File) -> bool:
    return (facts.get("capabilities") or {}).get("canEdit") is True
