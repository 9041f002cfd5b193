"""Where the notebooks are, and how a person gets a copy of their own."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
START = "00-start.ipynb"


class Outcome(Enum):
    """What became of one file; the value is how it is said."""

    COPIED = "copied"
    SAME = "already there"
    KEPT = "kept yours, which differs from the one of this version"


@dataclass(frozen=True, slots=True)
class Copied:
    """One file of the notebooks, by its path below their folder."""

    name: str
    outcome: Outcome


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


def copy_notebooks(target: Path, source: Path | None = None) -> list[Copied]:
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


def _copy_one(source: Path, target: Path, name: str) -> Copied:
    if target.exists():
        same = target.is_file() and target.read_bytes() == source.read_bytes()
        return Copied(name, Outcome.SAME if same else Outcome.KEPT)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    return Copied(name, Outcome.COPIED)
