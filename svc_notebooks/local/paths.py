"""Finds distinct paths for the files of one call, and a free path beside one that is taken."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, count
from os.path import lexists
from pathlib import Path
from unicodedata import normalize


class DistinctPaths:
    """The paths of one call, of which no two are equal. The second file of a name gets `name (1).ext`.

    Names are compared without case, as on macOS and Windows, so that the paths are the same on every system. Existing
    files are ignored, so that the same call gets the same paths again.

    >>> paths = DistinctPaths()
    >>> [str(paths.claim(Path(name))) for name in ("a.txt", "A.txt", "b", "a.txt")]
    ['a.txt', 'A (1).txt', 'b', 'a (2).txt']
    """

    def __init__(self) -> None:
        self._claimed: set[str] = set()

    def claim(self, path: Path) -> Path:
        """Return this path, or the first numbered one that no other file of the call has."""
        for candidate in chain([path], numbered_paths(path)):
            key = normalize("NFC", str(candidate)).casefold()
            if key not in self._claimed:
                self._claimed.add(key)
                return candidate
        raise AssertionError("numbered paths do not end")


def free_path(path: Path) -> Path:
    """Return the first numbered path beside this one that does not exist.

    >>> free_path(Path("report.tar.gz")).name
    'report (1).tar.gz'
    """
    return next(candidate for candidate in numbered_paths(path) if not lexists(candidate))


def numbered_paths(path: Path) -> Iterator[Path]:
    """Yield `name (1).ext`, `name (2).ext` and so on, as browsers number downloads."""
    extension = f".tar{path.suffix}" if path.stem.endswith(".tar") else path.suffix
    stem = path.name.removesuffix(extension)
    return (path.with_name(f"{stem} ({number}){extension}") for number in count(1))
