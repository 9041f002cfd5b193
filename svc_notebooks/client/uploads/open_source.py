"""Opens upload sources: paths, URLs, bytes and file objects."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import cast

from ...local.paths import as_on_disk
from ...local.url_files import is_url, without_file_scheme
from . import sources


def open_source(source: object, *, name: str | None = None, size: int | None = None) -> sources.UploadSource:
    """Return an UploadSource for a path, bytes or a binary file object. `size` is a stream's length in bytes or None.

    Raises TypeError or ValueError for an invalid source, and OSError if the file cannot be read.

    >>> source = open_source(b"a,b\\n", name="numbers.csv")
    >>> source.size, source.media_type
    (4, 'text/csv')
    """
    if isinstance(source, (bytes, bytearray, memoryview)):
        return sources.BytesSource(bytes(source), name)
    if isinstance(source, Mapping) and isinstance(source.get("content"), bytes | bytearray | memoryview):
        return sources.BytesSource(bytes(source["content"]), name or source.get("name"), source.get("type"))
    if isinstance(source, sources.UnreadableSource):
        return source
    source = without_file_scheme(source)
    if is_url(source):
        return sources.UrlSource(source, name)
    if isinstance(source, (str, os.PathLike)):
        return _path_source(source, name)
    if not callable(getattr(source, "read", None)):
        if isinstance(source, Mapping | list | tuple | set):
            raise TypeError(
                f"source is a {type(source).__name__}; give a path, bytes, or a file object, such as"
                " pandas.DataFrame(source) for a table, or json.dumps(source).encode() for a JSON file"
            )
        raise TypeError(
            f"source is {type(source).__name__}; give a path, bytes, or a file object opened in binary mode;"
            " of a widget FileUpload, give its value"
        )
    if isinstance(source, io.StringIO):
        raise TypeError("source is a text buffer; give source.getvalue().encode()")
    if isinstance(source, io.TextIOBase):
        raise TypeError("source is a file in text mode; open the file with mode 'rb'")
    name = name or own_name(source)
    if is_stream(source):
        return sources.StreamSource(cast(sources.Readable, source), name, size)
    return sources.FileSource(cast(sources.Seekable, source), name)


def is_stream(source: object) -> bool:
    """Return True for a file object without seek or with a wrong size, whose content can be read only once."""
    seekable = getattr(source, "seekable", None)
    if not callable(getattr(source, "read", None)):
        return False
    return not (callable(seekable) and seekable()) or not _ends_at_its_size(source)


def _ends_at_its_size(source: object) -> bool:
    """Return False for an open file on disk whose size is wrong, such as 0 in /proc. It is read like a stream."""
    if not isinstance(file := getattr(source, "raw", source), io.FileIO) or not file.readable():
        return True
    start, size = file.tell(), os.fstat(file.fileno()).st_size
    file.seek(max(0, size - 1))
    ends = len(file.read(2)) == min(size, 1)
    file.seek(start)
    return ends


def _path_source(source: str | os.PathLike[str], name: str | None) -> sources.UploadSource:
    """Return the source of a file on disk."""
    text = os.fspath(source)
    if not isinstance(text, str):
        raise TypeError("source is a path of type bytes; give a str or a pathlib.Path")
    if not text:
        raise ValueError("source is empty; give the path of a file, or b'' for a file without content")
    path = as_on_disk(Path(text).expanduser())
    if path.is_dir():
        raise IsADirectoryError(f"source {text!r} is a folder; give one file at a time")
    if not path.exists():
        raise FileNotFoundError(f"source {text!r} does not exist; to upload text itself, give bytes")
    if not path.is_file():
        raise ValueError(f"source {text!r} is not a regular file; open it and give the file object")
    with path.open("rb", buffering=0) as file:  # raises an error for an unreadable file before the upload
        has_size = _ends_at_its_size(file)
    name = name or path.name
    return sources.PathSource(path, name) if has_size else sources.StreamSource(sources.UnsizedFile(path), name)


def own_name(source: object) -> str | None:
    """Return the file name of a path or file object without its folder, or None without a name.

    >>> own_name("data/survey.csv"), own_name(b"a,b")
    ('survey.csv', None)
    """
    name = source if isinstance(source, (str, PurePath)) else getattr(source, "name", None)
    return PurePath(name).name if isinstance(name, (str, PurePath)) else None
