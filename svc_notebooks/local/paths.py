"""Finds distinct paths for the files of one call, and a free path beside one that is taken."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, count
from os.path import lexists
from pathlib import Path
from unicodedata import normalize


class DistinctPaths:
    """The paths of one call, each given once: the second file of a name gets `name (1).ext`.

    Names are compared as the systems do that know no capital letters (macOS, Windows), so that the paths are the
    same everywhere. What lies on the disk does not matter, so that the same call gets the same paths again.

    >>> paths = DistinctPaths()
    >>> [str(paths.claim(Path(name))) for name in ("a.txt", "A.txt", "b", "a.txt")]
    ['a.txt', 'A (1).txt', 'b', 'a (2).txt']
    """

    def __init__(self) -> None:
        self._claimed: set[str] = set()

    def claim(self, path: Path) -> Path:
        """This path, or the first numbered one that no other file of the call has."""
        chosen = next(candidate for candidate in chain([path], numbered(path)) if _key(candidate) not in self._claimed)
        self._claimed.add(_key(chosen))
        return chosen


def free_path(path: Path) -> Path:
    """The first numbered path beside this one where nothing lies.

    >>> free_path(Path("report.tar.gz")).name
    'report (1).tar.gz'
    """
    return next(candidate for candidate in numbered(path) if not lexists(candidate))


def numbered(path: Path) -> Iterator[Path]:
    """`name (1).ext`, `name (2).ext` and so on, as browsers number downloads."""
    extension = f".tar{path.suffix}" if path.stem.endswith(".tar") else path.suffix
    stem = path.name.removesuffix(extension)
    return (path.with_name(f"{stem} ({number}){extension}") for number in count(1))


def _key(path: Path) -> str:
    return normalize("NFC", str(path)).casefold()
