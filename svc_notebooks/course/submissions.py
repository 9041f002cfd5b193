"""What students handed in: whose it is, which notebooks have exercises in them, and the cells of those."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_SUFFIX = ".ipynb"
_LARGEST = 64 * 1024 * 1024


class Unreadable(Exception):
    """A file is no notebook; the message says why."""


@dataclass(frozen=True, slots=True)
class Submission:
    """What one student handed in: all notebooks of a folder, or one."""

    student: str
    notebooks: tuple[Path, ...]


def submissions(folder: Path) -> list[Submission]:
    """One for each folder below this one and for each notebook in it, by name; what is hidden is left out.

    Raises ValueError where two would have one name.
    """
    found = [_submission(path) for path in sorted(folder.iterdir()) if _counts(path)]
    names = [one.student for one in found]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"{twice[0]!r} is a folder and a notebook: whose is which?")
    return found


def _counts(path: Path) -> bool:
    return not path.name.startswith(".") and (path.is_dir() or path.suffix == _SUFFIX)


def _submission(path: Path) -> Submission:
    if path.is_dir():
        return Submission(path.name, tuple(sorted(one for one in path.rglob(f"*{_SUFFIX}") if _is_own(one, path))))
    return Submission(path.stem, (path,))


def _is_own(path: Path, folder: Path) -> bool:
    """A file of this folder: no checkpoint, and no link to somebody else's."""
    hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
    return not hidden and path.is_file() and path.resolve().is_relative_to(folder.resolve())


def exercise_cells(path: Path) -> list[str]:
    """The code cells of a notebook; none where it has no exercise. Raises Unreadable."""
    cells = list(_code(_notebook(path)))
    return cells if any("course" in cell for cell in cells) else []


def _notebook(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > _LARGEST:
            raise Unreadable(f"it has more than {_LARGEST // 1024**2} MiB")
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise Unreadable(f"it is no notebook: {error}"[:200]) from None
    if not isinstance(found, dict) or not isinstance(found.get("cells"), list):
        raise Unreadable("it is JSON, and has no cells")
    return found


def _code(notebook: dict[str, Any]) -> Iterator[str]:
    for cell in notebook["cells"]:
        if isinstance(cell, dict) and cell.get("cell_type") == "code":
            source = cell.get("source", "")
            yield source if isinstance(source, str) else "".join(map(str, source))
