"""Moves files that do not belong to a store to its folder aside/ when the store is opened.

Only old unfinished parts are deleted. A part that no row names is moved, because the database may lack rows.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import chain, count
from pathlib import Path
from typing import NamedTuple

from .directory import PART_NAME, UNFINISHED

ASIDE = "aside"
UNFINISHED_AGE = 24 * 3600.0
"""The age in seconds at which an unfinished part is deleted. Until then a person can still inspect the part."""

HARMLESS = frozenset({".DS_Store", ".directory", ".gitignore", ".gitkeep", "Thumbs.db", "desktop.ini", "lost+found"})
"""Files of file managers, git and file systems. Such files stay in place, and their folder still counts as empty."""

_SNAPSHOTS_BEFORE_MARKERS = "kept"


def files_aside(folder: Path) -> int:
    """Return the number of files in the folder aside/ of a store."""
    return sum(not path.is_dir() for path in (folder / ASIDE).rglob("*"))


class _Contents(NamedTuple):
    """The keys of the parts that rows name, and the paths of unfinished parts and of all other files in parts/."""

    parts: set[str]
    unfinished: list[Path]
    others: list[Path]


def move_strays_aside(folder: Path, known: set[str], number: int, now: float, *, adopted: bool) -> list[str]:
    """Move the stray files of a store to aside/, and return a sentence for each fact that the user should know.

    `known` has the keys of the parts that rows name, and `number` is the number of this opening. `adopted` is true for
    a store of an older version, which may contain snapshots.
    """
    contents = _read(folder / "parts", known)
    for path in contents.unfinished:
        if now - path.lstat().st_mtime > UNFINISHED_AGE:
            path.unlink(missing_ok=True)
    missing = known - contents.parts
    returned = _restore_from_aside(folder, missing)
    others = contents.others
    if adopted and (folder / _SNAPSHOTS_BEFORE_MARKERS).exists():
        others = [*others, folder / _SNAPSHOTS_BEFORE_MARKERS]
    for path in others:
        target = folder / ASIDE / f"opening-{number}" / path.relative_to(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        numbered = (target.with_name(f"{target.name} ({copy})") for copy in count(1))
        path.rename(next(name for name in chain([target], numbered) if not os.path.lexists(name)))
    return [*_notes(folder, len(others), number, len(returned), len(missing - returned))]


def _read(parts: Path, known: set[str]) -> _Contents:
    contents = _Contents(set(), [], [])
    for entry in _entries(parts):
        if len(entry.name) == 2 and set(entry.name) <= set("0123456789abcdef") and entry.is_dir(follow_symlinks=False):
            for file in _entries(Path(entry.path)):
                key = file.name.removesuffix(UNFINISHED)
                is_named = PART_NAME.fullmatch(key) and key.startswith(entry.name)
                is_part = is_named and file.is_file(follow_symlinks=False)
                if is_part and file.name in known:
                    contents.parts.add(key)
                elif is_part and file.name != key:
                    contents.unfinished.append(Path(file.path))
                else:
                    contents.others.append(Path(file.path))
        else:
            contents.others.append(Path(entry.path))
    return contents


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    if folder.exists():
        with os.scandir(folder) as entries:
            yield from (entry for entry in entries if entry.name not in HARMLESS)


def _restore_from_aside(folder: Path, missing: set[str]) -> set[str]:
    """Move missing parts back from aside/ to parts/, and return the keys of these parts."""
    returned = set[str]()
    candidates = (folder / ASIDE).glob("*/parts/??/*") if missing else ()
    for path in candidates:
        if path.name in missing - returned and not path.is_symlink():
            target = folder / "parts" / path.name[:2] / path.name
            target.parent.mkdir(parents=True, exist_ok=True)
            path.rename(target)
            returned.add(path.name)
    return returned


def _notes(folder: Path, moved: int, number: int, returned: int, missing: int) -> Iterator[str]:
    if moved:
        yield (
            f"Moved {_files(moved)} without a database entry from {folder / 'parts'} to"
            f" {folder / ASIDE / f'opening-{number}'}, probably parts of interrupted uploads:"
            " delete this folder if no file is missing"
        )
    if returned:
        yield f"Moved {_files(returned)} with a database entry back from {folder / ASIDE}"
    if missing:
        yield f"Missing in {folder / 'parts'}: {_files(missing)} with a database entry, which cannot be downloaded"


def _files(number: int) -> str:
    return f"{number:,} file{'s' if number != 1 else ''}"
