"""Lists the files and folders below a folder of this machine, or the matches of a pattern such as `data/**/*.csv`.

Symbolic links are not followed: they can lead to files outside of the folder, and around in circles.
"""

from __future__ import annotations

import glob
import os
import stat
from dataclasses import dataclass, field
from errno import EILSEQ
from pathlib import Path, PurePosixPath
from typing import TypeGuard

from .saving import as_on_disk
from .url_files import is_url, without_file_scheme

LINK, HIDDEN, SPECIAL = "a symbolic link", "hidden", "not a regular file"
"""The reasons for which an entry of a folder is skipped."""


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A file at `path`, with its path in the tree. `error` is set for a file or folder that cannot be read."""

    path: Path
    relative: PurePosixPath
    size: int = 0
    error: OSError | None = None


@dataclass(slots=True)
class LocalTree:
    """The folders (parents first), the files and the skipped entries of a tree, with the reason for each of these."""

    folders: list[PurePosixPath] = field(default_factory=list)
    files: list[LocalFile] = field(default_factory=list)
    skipped: list[tuple[PurePosixPath, str]] = field(default_factory=list)

    @property
    def size(self) -> int:
        """The size of all files in bytes."""
        return sum(file.size for file in self.files)


def names_tree(source: object) -> TypeGuard[str | os.PathLike[str]]:
    """Return True if a source is the path of a folder, or a pattern that is not the path of a file."""
    if not isinstance(source, str | os.PathLike) or not isinstance(os.fspath(source), str):
        return False
    source_or_path = without_file_scheme(source)
    if is_url(source_or_path):
        return False
    path = os.path.expanduser(source_or_path)  # noqa: PTH111 -- a Path would drop the slash at the end of a pattern
    on_disk = as_on_disk(Path(path))
    return os.path.isdir(on_disk) or (glob.has_magic(path) and not os.path.lexists(on_disk))  # noqa: PTH112


def list_tree(source: str | os.PathLike[str], *, name: str | None = None, include_hidden: bool = False) -> LocalTree:
    """Return the files of a folder, of the matches of a pattern, or a single file, sorted by path.

    The paths in a folder's tree begin with the folder's name, or with `name`. The paths of a pattern's matches begin
    after the part of the pattern that has no wildcards. `include_hidden` is True to list entries whose names begin with
    a dot.

    Raises FileNotFoundError if a path does not exist or nothing matches a pattern, and ValueError for a folder without
    a name, a `name` that is a path, or a pattern with `name`.
    """
    source = without_file_scheme(source)
    path = as_on_disk(Path(source).expanduser())
    tree = LocalTree()
    if path.is_dir():
        title = name or (path.resolve() if path.name in ("", "..") else path).name
        if not title:
            raise ValueError(f"source {os.fspath(source)!r} has no name; give a name for the folder")
        if "/" in title or title == ".":
            raise ValueError(
                f"name is {title!r}, which is a path; give a name without /, and the folder above as parent"
            )
        _add(tree, path.resolve() if path.is_symlink() else path, PurePosixPath(title), include_hidden=include_hidden)
    elif path.exists():
        tree.files.append(LocalFile(path, PurePosixPath(name or path.name), path.stat().st_size))
    elif not names_tree(source):
        raise FileNotFoundError(f"source {os.fspath(source)!r} does not exist")
    elif name is not None:
        raise ValueError(f"name is for one file or folder, and source {os.fspath(source)!r} is a pattern")
    else:
        _add_matches(tree, os.path.expanduser(source), include_hidden=include_hidden)  # noqa: PTH111
    tree.files.sort(key=lambda file: file.relative)
    return tree


def _add_matches(tree: LocalTree, pattern: str, *, include_hidden: bool) -> None:
    base = _base(pattern)
    names = glob.glob(pattern, recursive=True, include_hidden=include_hidden)  # noqa: PTH207 -- Path.glob has no option
    matches = sorted(map(Path, names))
    if not matches:
        raise FileNotFoundError(f"source {pattern!r} matches no file")
    listed, folders = set[Path](), set[Path]()
    for match in matches:
        relative = match.relative_to(base)
        if ".." in relative.parts:
            raise ValueError(f"source {pattern!r} has .. after a wildcard; write the folder itself")
        if match == base or not listed.isdisjoint((match, *match.parents)):
            continue  # the folder above is a match too, so the match is in the tree already
        above = [*reversed(relative.parents)][1:]
        if linked := next((part for part in (*above, relative) if (base / part).is_symlink()), None):
            tree.skipped.append((PurePosixPath(linked.as_posix()), LINK))
            listed.add(base / linked)
            continue
        tree.folders += [PurePosixPath(folder.as_posix()) for folder in above if folder not in folders]
        folders.update(above)
        _add(tree, match, PurePosixPath(relative.as_posix()), include_hidden=include_hidden)
        listed.add(match)


def _base(pattern: str) -> Path:
    """Return the folder before the first part of a pattern with a wildcard.

    >>> _base("data/*/a.csv").as_posix(), _base("*.csv").as_posix()
    ('data', '.')
    """
    parts = Path(pattern).parts
    first = next(n for n, part in enumerate(parts) if glob.has_magic(part))
    return Path(*parts[:first])


def _add(tree: LocalTree, path: Path, relative: PurePosixPath, *, include_hidden: bool) -> None:
    """Add a file, or a folder with everything below it, to a tree."""
    pending = [(path, relative)]
    while pending:
        path, relative = pending.pop()
        try:
            _check_name(path.name)
            mode = path.lstat()
            if stat.S_ISDIR(mode.st_mode):
                entries = sorted(path.iterdir(), reverse=True)
                tree.folders.append(relative)
                pending += [
                    (entry, relative / entry.name)
                    for entry in entries
                    if include_hidden or not _skip_hidden(tree, entry, relative / entry.name)
                ]
            elif stat.S_ISREG(mode.st_mode):
                tree.files.append(LocalFile(path, relative, mode.st_size))
            else:
                tree.skipped.append((relative, LINK if stat.S_ISLNK(mode.st_mode) else SPECIAL))
        except OSError as error:
            shown = PurePosixPath(*(part.encode(errors="replace").decode() for part in relative.parts))
            tree.files.append(LocalFile(path, shown, error=error))


def _check_name(name: str) -> None:
    try:
        name.encode()
    except UnicodeEncodeError:  # bytes of another encoding, which cannot be sent as JSON
        raise OSError(EILSEQ, "the name is not valid UTF-8; rename it") from None


def _skip_hidden(tree: LocalTree, entry: Path, relative: PurePosixPath) -> bool:
    if not entry.name.startswith("."):
        return False
    tree.skipped.append((relative, HIDDEN))
    return True
