"""Files at URLs such as `s3://bucket/people.csv`, which are read and written through fsspec."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard
from urllib.parse import urlsplit
from urllib.request import url2pathname

from ..core.errors.errors import PathExists, cannot_write
from .saving import REPLACED, SAVED, UNCHANGED, SameContent

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
