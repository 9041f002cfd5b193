"""Finds the notebooks of the package and copies them to a folder."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import count
from os.path import lexists
from pathlib import Path

from ..core.errors.errors import PathExists
from ..local.saving import UNCHANGED, move_into_place, save_bytes

PACKAGE = Path(__file__).parents[1]
START = "00-start.ipynb"


class CopyOutcome(Enum):
    """What became of one file; the value is how it is said."""

    COPIED = "copied"
    SAME = "already there"
    KEPT = "kept yours, which differs from the one of this version"


@dataclass(frozen=True, slots=True)
class CopiedFile:
    """One file of the notebooks, by its path below their folder."""

    name: str
    outcome: CopyOutcome


def notebooks_folder() -> Path:
    """The folder of the notebooks: inside the package in a wheel, beside it in a checkout.

    >>> notebooks_folder().name in ("notebooks", "notebooks_shipped")
    True
    """
    inside = PACKAGE / "notebooks_shipped"
    return inside if inside.is_dir() else PACKAGE.with_name("notebooks")


def notebooks_in(folder: Path) -> list[Path]:
    """The notebooks below a folder, in the order of their names."""
    return sorted(path for path in folder.rglob("*.ipynb") if not _is_hidden(path, folder))


def copy_notebooks(target: Path, source: Path | None = None) -> list[CopiedFile]:
    """Copy what is not there yet; a file that is there belongs to whoever works in it."""
    source = source or notebooks_folder()
    return [_copy_one(source / name, target / name, name) for name in _names(source)]


def _names(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not _is_hidden(path, folder):
            yield path.relative_to(folder).as_posix()


def _is_hidden(path: Path, folder: Path) -> bool:
    parts = path.relative_to(folder).parts
    return any(part.startswith((".", "__pycache__")) for part in parts)


def _copy_one(source: Path, target: Path, name: str) -> CopiedFile:
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        outcome = save_bytes(target, source.read_bytes(), overwrite=False).outcome
    except PathExists:
        return CopiedFile(name, CopyOutcome.KEPT)
    return CopiedFile(name, CopyOutcome.SAME if outcome == UNCHANGED else CopyOutcome.COPIED)


def restore_notebook(target: Path, word: str, source: Path | None = None) -> tuple[str, str | None]:
    """Put the shipped copy of one notebook in its place; its name, and where the one that was there is kept."""
    source = source or notebooks_folder()
    name = _find_notebook(word, [path.relative_to(source).as_posix() for path in notebooks_in(source)])
    own_path = target / name
    if _copy_one(source / name, own_path, name).outcome is not CopyOutcome.KEPT:
        return name, None
    kept = next(path for path in _backup_paths(own_path) if not lexists(path))
    move_into_place(own_path, kept, overwrite=False)
    _copy_one(source / name, own_path, name)
    return name, kept.relative_to(target).as_posix()


def _find_notebook(text: str, names: Sequence[str]) -> str:
    exact = [name for name in names if text in (name, name.removesuffix(".ipynb"))]
    matches = exact or [name for name in names if text in name]
    if len(matches) != 1:
        which = f"could be {', '.join(matches)}" if matches else f"is none of {', '.join(names)}"
        raise LookupError(f"{text} {which}")
    return matches[0]


def _backup_paths(path: Path) -> Iterator[Path]:
    return (path.with_name(f"{path.stem}.kept-{number}{path.suffix}") for number in count(1))
