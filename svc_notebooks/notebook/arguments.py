"""Checks and normalizes the arguments of public functions, without importing pandas."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

if TYPE_CHECKING:
    import os
    from typing import IO

    from pandas import DataFrame, Series

    File: TypeAlias = str | Mapping[str, Any] | Series[Any] | DataFrame | list[str] | tuple[str, ...]
    Source: TypeAlias = str | os.PathLike[str] | bytes | bytearray | memoryview | IO[bytes] | DataFrame
    Sources: TypeAlias = Source | list[Source] | tuple[Source, ...]


def is_frame(value: object) -> TypeGuard[DataFrame]:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, pandas.DataFrame)


def file_ids(file: object, argument: str = "file") -> list[str]:
    """Return the ids of a file argument, which is an id, a row, a DataFrame or a list of ids (D-02).

    Raises TypeError for another type, and ValueError for an empty id or for rows without a column `id`.

    >>> file_ids("abc"), file_ids({"id": "abc"}), file_ids(["a", "b"])
    (['abc'], ['abc'], ['a', 'b'])
    """
    ids = _ids(file, argument)
    for file_id in ids:
        if not isinstance(file_id, str) or not file_id:
            raise ValueError(f"{argument} has {file_id!r} as an id, which must be a str that is not empty")
    return ids


def _ids(file: Any, argument: str) -> list[Any]:
    if isinstance(file, str):
        return [file]
    if isinstance(file, list | tuple):
        return list(file)
    pandas = sys.modules.get("pandas")
    is_row = isinstance(file, Mapping) or (pandas is not None and isinstance(file, pandas.Series))
    if not is_frame(file) and not is_row:
        raise TypeError(f"{argument} must be an id, a row, a DataFrame or a list of ids, not {type(file).__name__}")
    if "id" not in file:
        raise ValueError(f"{argument} has no column id; give rows like those of files()")
    return list(file["id"]) if is_frame(file) else [file["id"]]


def one_id(file: object, argument: str = "file") -> str:
    """Return the id of a file argument that has exactly one file. Raises ValueError for no file or several files."""
    ids = file_ids(file, argument)
    if len(ids) != 1:
        raise ValueError(f"{argument} has {len(ids)} files; this call takes one")
    return ids[0]


def sources(source: object) -> list[Any]:
    """Return a list of upload sources. A DataFrame becomes the bytes of a CSV file without the index.

    >>> sources(b"hello"), sources(["a.csv", "b.csv"])
    ([b'hello'], ['a.csv', 'b.csv'])
    """
    contents = source if isinstance(source, list | tuple) else [source]
    return [content.to_csv(index=False).encode() if is_frame(content) else content for content in contents]


def single_source(source: object) -> Any:
    """Return the only source of an upload argument, a DataFrame as CSV. Raises ValueError for none or several."""
    contents = sources(source)
    if len(contents) != 1:
        raise ValueError(f"source has {len(contents)} sources; this call takes one")
    return contents[0]


def media_types(source: object, mime_type: str | None) -> list[str | None]:
    """Return the media type of each source, which is `mime_type`, or else "text/csv" for a DataFrame, or else None."""
    contents = source if isinstance(source, list | tuple) else [source]
    return [mime_type or ("text/csv" if is_frame(content) else None) for content in contents]


def names_for(count: int, name: object) -> list[str | None]:
    """Return the list of `count` file names from a `name` argument, or `count` times None if `name` is None.

    `name` is a str for one source, or a list with a name for each source. Raises TypeError for another type, and
    ValueError for another number of names.
    """
    if name is None:
        return [None] * count
    names = [name] if isinstance(name, str) else name
    if not isinstance(names, list | tuple) or not all(isinstance(text, str) for text in names):
        raise TypeError(f"name must be a str, or a list of them, not {type(name).__name__}")
    if len(names) != count:
        raise ValueError(f"name has {len(names)} names for {count} sources; give one for each")
    return list(names)


def target_path(count: int, to: str | os.PathLike[str] | None) -> Path:
    """Return the path to which files are saved. Raises ValueError for several files if the path is not a folder."""
    path = Path() if to is None else Path(to).expanduser()
    if count > 1 and not path.is_dir():
        raise ValueError(f"to is {str(to)!r}; for {count} files it must be an existing folder")
    return path


def choice(argument: str, value: object, allowed: Iterable[str]) -> str:
    """Return an allowed value of an argument. Raises ValueError for any other value."""
    options = list(allowed)
    if not isinstance(value, str) or value not in options:
        raise ValueError(f"{argument} is {value!r}; it must be one of {', '.join(options)}")
    return value


def whole(argument: str, value: object, minimum: int, maximum: int | None = None) -> int:
    """Return an int from `minimum` to `maximum`, or above without a maximum. Raises TypeError or ValueError."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{argument} must be a whole number, not {type(value).__name__}")
    if value < minimum or (maximum is not None and value > maximum):
        bounds = f"{minimum} or more" if maximum is None else f"between {minimum} and {maximum}"
        raise ValueError(f"{argument} is {value}; it must be {bounds}")
    return value


def flag(argument: str, value: object) -> bool:
    """Return True or False unchanged. Raises TypeError for any other value."""
    if not isinstance(value, bool):
        raise TypeError(f"{argument} must be True or False, not {value!r}")
    return value


def optional_text(argument: str, value: object) -> str | None:
    """Return a str or None unchanged. Raises TypeError for any other value."""
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{argument} must be a str or None, not {type(value).__name__}")
    return value
