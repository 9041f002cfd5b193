"""Checks the arguments of public functions: files as ids, rows or frames, and upload sources.

pandas is never imported here: who passes a frame has it loaded already.
"""

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
    """Whether this is a DataFrame."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, pandas.DataFrame)


def _is_row(value: object) -> bool:
    pandas = sys.modules.get("pandas")
    return isinstance(value, Mapping) or (pandas is not None and isinstance(value, pandas.Series))


def file_ids(file: object, argument: str = "file") -> list[str]:
    """The ids that are meant: of one id, one row, a whole DataFrame, or a list of ids (D-02).

    >>> file_ids("abc"), file_ids({"id": "abc"}), file_ids(["a", "b"])
    (['abc'], ['abc'], ['a', 'b'])
    """
    ids = _ids(file, argument)
    for file_id in ids:
        if not isinstance(file_id, str) or not file_id:
            raise ValueError(f"{argument} has {file_id!r} where an id is expected: a text that is not empty")
    return ids


def _ids(file: Any, argument: str) -> list[Any]:
    if isinstance(file, str):
        return [file]
    if isinstance(file, list | tuple):
        return list(file)
    if not is_frame(file) and not _is_row(file):
        raise TypeError(f"{argument} must be an id, a row, a DataFrame or a list of ids, not {type(file).__name__}")
    if "id" not in file:
        raise ValueError(f"{argument} has no id: give rows with a column id, as files() does")
    return list(file["id"]) if is_frame(file) else [file["id"]]


def one_id(file: object, argument: str = "file") -> str:
    """The one id that is meant; ValueError for none or several."""
    ids = file_ids(file, argument)
    if len(ids) != 1:
        raise ValueError(f"{argument} names {len(ids)} files; this call takes one")
    return ids[0]


def sources(source: object) -> list[Any]:
    """The sources that are meant; a DataFrame becomes the bytes of its CSV, without its index.

    >>> sources(b"hello"), sources(["a.csv", "b.csv"])
    ([b'hello'], ['a.csv', 'b.csv'])
    """
    contents = source if isinstance(source, list | tuple) else [source]
    return [_csv(content) if is_frame(content) else content for content in contents]


def single_source(source: object) -> Any:
    """Return the one source that a call takes. Raises ValueError for none or several."""
    contents = sources(source)
    if len(contents) != 1:
        raise ValueError(f"source has {len(contents)} sources; this call takes one")
    return contents[0]


def _csv(frame: DataFrame) -> bytes:
    return frame.to_csv(index=False).encode()


def media_types(source: object, mime_type: str | None) -> list[str | None]:
    """The media type of each source: the one that was given, that of CSV for frames, None elsewhere."""
    contents = source if isinstance(source, list | tuple) else [source]
    return [mime_type or ("text/csv" if is_frame(content) else None) for content in contents]


def names_for(count: int, name: object) -> list[str | None]:
    """A name for each source: one name for one source, or a list with as many names as sources."""
    if name is None:
        return [None] * count
    names = [name] if isinstance(name, str) else name
    if not isinstance(names, list | tuple) or not all(isinstance(text, str) for text in names):
        raise TypeError(f"name must be a str, or a list of them, not {type(name).__name__}")
    if len(names) != count:
        raise ValueError(f"name has {len(names)} names for {count} sources; give one for each")
    return list(names)


def target_path(count: int, to: str | os.PathLike[str] | None) -> Path:
    """Where the results of so many files go: None is the notebook's folder, and for several it must be a folder."""
    path = Path() if to is None else Path(to).expanduser()
    if count > 1 and not path.is_dir():
        raise ValueError(f"to is {str(to)!r}; for {count} files it must be a folder that exists")
    return path


def choice(argument: str, value: object, allowed: Iterable[str]) -> str:
    """The value, if it is one of those allowed."""
    options = list(allowed)
    if not isinstance(value, str) or value not in options:
        raise ValueError(f"{argument} is {value!r}; it must be one of {', '.join(options)}")
    return value


def whole(argument: str, value: object, minimum: int, maximum: int | None = None) -> int:
    """The value, if it is a whole number within its bounds."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{argument} must be a whole number, not {type(value).__name__}")
    if value < minimum or (maximum is not None and value > maximum):
        bounds = f"{minimum} or more" if maximum is None else f"between {minimum} and {maximum}"
        raise ValueError(f"{argument} is {value}; it must be {bounds}")
    return value


def flag(argument: str, value: object) -> bool:
    """The value, if it is True or False."""
    if not isinstance(value, bool):
        raise TypeError(f"{argument} must be True or False, not {value!r}")
    return value


def optional_text(argument: str, value: object) -> str | None:
    """The value, if it is None or a text."""
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{argument} must be a str or None, not {type(value).__name__}")
    return value
