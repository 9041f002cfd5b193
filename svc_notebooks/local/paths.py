"""Distinct paths for the files of one call, and free paths in place of existing paths."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, count
from os.path import lexists
from pathlib import Path
from unicodedata import normalize

from ..core.files.fields import composed


class DistinctPaths:
    """The paths of the files that one call saves. A second file with the same name gets the path `name (1).ext`.

    Upper and lower case count as equal on every system, and so do Unicode forms. Existing files do not matter, so that
    a repeated call gets the same paths. But if the name exists in another Unicode form, it is the path of that file.

    >>> paths = DistinctPaths()
    >>> [str(paths.claim(Path(name))) for name in ("a.txt", "A.txt", "b", "a.txt")]
    ['a.txt', 'A (1).txt', 'b', 'a (2).txt']
    """

    def __init__(self) -> None:
        self._claimed: set[str] = set()

    def claim(self, path: Path) -> Path:
        """Reserve a path and return it, or the first `name (1).ext` that is free if the path is reserved."""
        for candidate in chain([path], numbered_paths(path)):
            key = composed(str(candidate)).casefold()
            if key not in self._claimed:
                self._claimed.add(key)
                return as_on_disk(candidate)
        raise AssertionError("unreachable: the numbers never end")


def as_on_disk(path: Path) -> Path:
    """Return the path of an existing file whose name differs at most in its Unicode form, or else the path itself."""
    if path.name.isascii():
        return path
    forms = (path.with_name(normalize(form, path.name)) for form in ("NFC", "NFD"))
    return next(filter(lexists, (path, *forms)), path)


def free_path(path: Path) -> Path:
    """Return the first path of `name (1).ext`, `name (2).ext` and so on where no file exists.

    >>> free_path(Path("report.tar.gz")).name
    'report (1).tar.gz'
    """
    return next(candidate for candidate in numbered_paths(path) if not lexists(candidate))


def numbered_paths(path: Path) -> Iterator[Path]:
    """Return an endless iterator over the paths `name (1).ext`, `name (2).ext` and so on in a path's folder."""
    extension = f".tar{path.suffix}" if path.stem.endswith(".tar") else path.suffix
    stem = path.name.removesuffix(extension)
    for number in count(1):
        yield path.with_name(f"{stem} ({number}){extension}")
