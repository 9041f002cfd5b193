"""Finds the submissions in a folder, their notebooks, and the cells of notebooks with exercises."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_SUFFIX = ".ipynb"
_MAX_SIZE = 64 * 1024 * 1024


class UnreadableNotebookError(Exception):
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
    all_submissions = [_submission(path) for path in sorted(folder.iterdir()) if _is_submission(path)]
    names = [submission.student for submission in all_submissions]
    if duplicates := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"{duplicates[0]!r} is a folder and a notebook: whose is which?")
    return all_submissions


def _is_submission(path: Path) -> bool:
    return not path.name.startswith(".") and (path.is_dir() or path.suffix == _SUFFIX)


def _submission(path: Path) -> Submission:
    if path.is_dir():
        return Submission(
            path.name, tuple(sorted(notebook for notebook in path.rglob(f"*{_SUFFIX}") if _is_own(notebook, path)))
        )
    return Submission(path.stem, (path,))


def _is_own(path: Path, folder: Path) -> bool:
    """A file of this folder: no checkpoint, and no link to somebody else's."""
    hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
    return not hidden and path.is_file() and path.resolve().is_relative_to(folder.resolve())


def exercise_cells(path: Path) -> list[str]:
    """The code cells of a notebook; none where it has no exercise. Raises UnreadableNotebookError."""
    cells = list(_code_cells(_notebook(path)))
    return cells if any("course" in cell for cell in cells) else []


def _notebook(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > _MAX_SIZE:
            raise UnreadableNotebookError(f"it has more than {_MAX_SIZE // 1024**2} MiB")
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UnreadableNotebookError(f"it is no notebook: {error}"[:200]) from None
    if not isinstance(content, dict) or not isinstance(content.get("cells"), list):
        raise UnreadableNotebookError("it is JSON, and has no cells")
    return content


def _code_cells(notebook: dict[str, Any]) -> Iterator[str]:
    for cell in notebook["cells"]:
        if isinstance(cell, dict) and cell.get("cell_type") == "code":
            source = cell.get("source", "")
            yield source if isinstance(source, str) else "".join(map(str, source))
