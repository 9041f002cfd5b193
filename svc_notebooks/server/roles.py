"""Who may do what with a file."""

from __future__ import annotations

from .house import House
from .store.files import FileRow


def role(house: House, user: str, row: FileRow) -> str | None:
    """What a user is to a file; None: they do not see it."""
    return "owner" if row.owner == user else None


def audience(house: House, row: FileRow) -> frozenset[str]:
    """Everybody who has the file by name."""
    return frozenset({row.owner})
