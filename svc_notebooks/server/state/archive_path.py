"""Saves a service to a path: a new one, or that of another saved service."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from ...local.existing_file import FILE, check_path, path_exists
from ..blobs.atomic_write import BACKUP, atomic_write
from .archive import is_saved


def save_to(path: Path, dump: Callable[[BinaryIO], None], *, overwrite: bool) -> None:
    """Let `dump` write a service to a path, unless the same state is saved there.

    Args:
        overwrite: Replace another saved service, and keep it under `.bak`.

    Raises PathExists and OSError; what was there is then as it was.
    """
    _check_is_saved(path, overwrite=overwrite)
    if overwrite:
        _check_is_saved(path.with_name(path.name + BACKUP), overwrite=True)
    atomic_write(path, dump, overwrite=overwrite)


def _check_is_saved(path: Path, *, overwrite: bool) -> None:
    existing = check_path(path, overwrite=overwrite)
    if existing is not None and existing.kind == FILE and not is_saved(path):
        raise path_exists(existing, f"exists and is not a saved service ({existing.facts})", "Choose another path.")
