"""Finds the submissions of students in a folder, and reads the code cells of their notebooks."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

_SUFFIX = ".ipynb"
_MAX_SIZE = 64 * 1024 * 1024


class UnreadableNotebookError(Exception):
    """Raised for a file that cannot be read as a notebook. The message has the reason."""


@dataclass(frozen=True, slots=True)
class Submission:
    """The student's name and the paths of the submitted notebooks."""

    student: str
    notebooks: tuple[Path, ...]


def submissions(folder: Path) -> list[Submission]:
    """Return the submissions in a folder, sorted by path.

    A submission is a direct subfolder with all of its notebooks, or a notebook directly in the folder. Its name is the
    student's name. Hidden folders and notebooks are left out. Raises ValueError if two submissions have the same name.
    """
    all_submissions: list[Submission] = []
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.name.startswith("."):
            notebooks = sorted(notebook for notebook in path.rglob(f"*{_SUFFIX}") if _is_own(notebook, path))
            all_submissions.append(Submission(path.name, tuple(notebooks)))
        elif path.suffix == _SUFFIX and not path.name.startswith("."):
            all_submissions.append(Submission(path.stem, (path,)))
    names = [submission.student for submission in all_submissions]
    if duplicates := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"{duplicates[0]!r} is both a folder and a notebook; rename one of them")
    return all_submissions


def _is_own(path: Path, folder: Path) -> bool:
    """Return whether a path is a file in the folder, not hidden, and not a link to a file outside the folder."""
    hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
    return not hidden and path.is_file() and path.resolve().is_relative_to(folder.resolve())


def exercise_cells(path: Path) -> list[str]:
    """Return the code cells of a notebook, or [] without an exercise. Raises UnreadableNotebookError."""
    try:
        if path.stat().st_size > _MAX_SIZE:
            raise UnreadableNotebookError(f"the file has more than {_MAX_SIZE // 1024**2} MiB")
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UnreadableNotebookError(f"the file is not a notebook: {error}"[:200]) from None
    if not isinstance(content, dict) or not isinstance(content.get("cells"), list):
        raise UnreadableNotebookError("the JSON has no list of cells")
    code = [cell for cell in content["cells"] if isinstance(cell, dict) and cell.get("cell_type") == "code"]
    sources = [cell.get("source", "") for cell in code]
    cells = [source if isinstance(source, str) else "".join(map(str, source)) for source in sources]
    return cells if any("course" in cell for cell in cells) else []
