"""Lists the files below a folder of this machine or of a pattern such as `data/**/*.csv`, and opens files at URLs.

Symbolic links are not followed: they can lead to files outside of the folder, and around in circles.
"""

from __future__ import annotations

import glob
import os
import re
import stat
from dataclasses import dataclass, field
from errno import EILSEQ
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, TypeGuard
from urllib.parse import urlsplit
from urllib.request import url2pathname

from ..core.errors.errors import PathExists, cannot_write
from .saving import REPLACED, SAVED, UNCHANGED, SameContent, as_on_disk

# The reasons for which an entry of a folder is skipped.
LINK, HIDDEN, SPECIAL = "a symbolic link", "hidden", "not a regular file"


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
                for entry in entries:
                    if include_hidden or not entry.name.startswith("."):
                        pending.append((entry, relative / entry.name))
                    else:
                        tree.skipped.append((relative / entry.name, HIDDEN))
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


# -- files at a URL, such as s3://bucket/name


_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+::)*[A-Za-z][A-Za-z0-9+.-]+://")  # not C:\, a drive of Windows
_BLOCK = 8 * 1024 * 1024


def is_url(path: object) -> TypeGuard[str]:
    """Return True for a str that is a URL, such as "s3://bucket/people.csv".

    >>> is_url("s3://bucket/people.csv"), is_url("people.csv"), is_url("C:/people.csv")
    (True, False, False)
    """
    return isinstance(path, str) and _URL.match(path) is not None


def without_file_scheme(path: Any) -> Any:
    """Return the path in a URL such as "file:///data/people.csv", or anything else unchanged.

    >>> without_file_scheme("file:///data/my%20people.csv"), without_file_scheme("people.csv")
    ('/data/my people.csv', 'people.csv')
    """
    if not isinstance(path, str) or not path.lower().startswith("file://"):
        return path
    return url2pathname(urlsplit(path).path)


class UrlFacts(NamedTuple):
    """A file at a URL. `size` is in bytes, None if not known. `stamp` is a text that changes with the content."""

    size: int | None
    stamp: str


@dataclass(frozen=True, slots=True)
class UrlFile:
    """The URL of a file or folder. It can be pickled, and has no connection of its own.

    The methods raise ImportError if fsspec or the package for this kind of URL is missing, ValueError for an unknown
    kind of URL, and OSError if the file system refuses the access.
    """

    url: str

    def find(self) -> UrlFacts | None:
        """Return the size and the stamp of the file, or None if the file does not exist. Raises IsADirectoryError."""
        system, path = self._open()
        system.invalidate_cache(path)  # a list of the folder may be old
        try:
            facts = system.info(path)
        except FileNotFoundError:
            return None
        if facts["type"] == "directory":
            raise IsADirectoryError(f"{self.url!r} is a folder; give the URL of a file, or a pattern such as '*.csv'")
        return UrlFacts(facts.get("size"), str(system.ukey(path)))

    def is_folder(self) -> bool:
        """Return True if there is a folder at this URL, which is a prefix of names in object storage."""
        system, path = self._open()
        return bool(system.isdir(path))

    def matches(self) -> list[str]:
        """Return the URLs of the files that match the pattern in this URL, or the URL itself if it is that of a file.

        Raises FileNotFoundError if no file matches.
        """
        system, path = self._open()
        if system.isfile(path):
            return [self.url]
        matches = system.glob(path, detail=True)
        urls = [system.unstrip_protocol(name) for name, facts in matches.items() if facts["type"] == "file"]
        if not urls:
            raise FileNotFoundError(f"source {self.url!r} matches no file")
        return urls

    def read(self, first: int, size: int) -> bytes:
        """Return `size` bytes from the offset `first` on, or fewer at the end."""
        system, path = self._open()
        return bytes(system.cat_file(path, start=first, end=first + size)) if size > 0 else b""

    def save(self, content: Path, *, overwrite: bool, same: SameContent | None = None) -> str:
        """Write the content of a file on disk to this URL, and return "saved", "unchanged" or "replaced".

        In object storage the file appears when it is complete, and a file that was created meanwhile is not replaced
        without `overwrite`. Other file systems may show a part of the file before. `same` compares two files on
        disk, and None compares the bytes.

        Raises PathExists for a file with other content if `overwrite` is False, and OSError.
        """
        existing = self.check(content.stat().st_size if same is None else None, overwrite=overwrite)
        if existing and self._has_content_of(content, same):
            return UNCHANGED
        if existing and not overwrite:
            raise self._exists()
        system, path = self._open()
        try:
            system.makedirs(system._parent(path), exist_ok=True)
            system.put_file(str(content), path, mode="overwrite" if overwrite else "create")
        except FileExistsError:
            raise self._exists() from None
        except OSError as error:
            raise cannot_write(self.url, error) from error
        return REPLACED if existing else SAVED

    def check(self, size: int | None, *, overwrite: bool) -> bool:
        """Return True if there is a file, which may have the same content of `size` bytes. None means not known.

        Raises PathExists for a folder, and for a file of another size if `overwrite` is False.
        """
        try:
            existing = self.find()
        except IsADirectoryError:
            words = "is a folder, and a file cannot replace a folder. Nothing was written."
            raise PathExists(f"{self.url!r} {words}") from None
        if existing and not overwrite and None not in (size, existing.size) and existing.size != size:
            raise self._exists()
        return existing is not None

    def _exists(self) -> PathExists:
        return PathExists(f"{self.url!r} exists with other content. Nothing was written.", replaceable=True)

    def _has_content_of(self, content: Path, same: SameContent | None) -> bool:
        if same is not None:
            system, path = self._open()
            copy = content.with_name(f".existing-{content.name}")
            system.get_file(path, str(copy))
            return same(content, copy)
        existing = self.find()
        if existing is None or existing.size not in (None, content.stat().st_size):
            return False
        offset = 0
        with content.open("rb") as file:
            while block := file.read(_BLOCK):
                if self.read(offset, len(block)) != block:
                    return False
                offset += len(block)
        return existing.size is not None or not self.read(offset, 1)  # S3 refuses to read behind the end

    def _open(self) -> tuple[Any, str]:
        """Return the file system of fsspec, of which there is one for each kind of URL, and the path in it."""
        try:
            from fsspec.core import url_to_fs
        except ImportError:
            raise ImportError(f"{self.url!r} needs the package fsspec: pip install 'svc-notebooks[fsspec]'") from None
        system, path = url_to_fs(self.url)
        return system, path
