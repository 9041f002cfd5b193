"""What people pass: files as ids, rows or frames, and sources of every kind, checked before a byte is sent.

pandas is never imported here: who passes a frame has it loaded already.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

if TYPE_CHECKING:
    from pandas import DataFrame, Series

    File: TypeAlias = str | Mapping[str, Any] | Series[Any] | DataFrame | Iterable[str]
    Source: TypeAlias = str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO | DataFrame
    Sources: TypeAlias = Source | list[Source] | tuple[Source, ...]


def is_frame(value: object) -> bool:
    """Whether this is a DataFrame."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, pandas.DataFrame)


def _is_row(value: object) -> bool:
    pandas = sys.modules.get("pandas")
    return isinstance(value, Mapping) or (
        pandas is not None and isinstance(value, pandas.Series) and "id" in value.index
    )


def file_ids(file: object, argument: str = "file") -> list[str]:
    """The ids that are meant: of one id, one row, a whole DataFrame, or a list of ids (D-02).

    >>> file_ids("abc"), file_ids({"id": "abc"}), file_ids(["a", "b"])
    (['abc'], ['abc'], ['a', 'b'])
    """
    found = _ids(file, argument)
    wrong = [one for one in found if not isinstance(one, str) or not one]
    if wrong:
        raise ValueError(f"{argument} has {wrong[0]!r} where the id of a file should be")
    return found


def _ids(file: Any, argument: str) -> list[str]:
    if isinstance(file, str):
        return [file]
    if is_frame(file) or _is_row(file):
        if "id" not in file:
            raise ValueError(f"{argument} has no id: pass rows with a column id, as files() gives them")
        return list(file["id"]) if is_frame(file) else [file["id"]]
    if isinstance(file, Iterable) and not isinstance(file, bytes):
        return list(file)
    raise TypeError(f"{argument} must be an id, a row, a DataFrame or a list of ids, not {type(file).__name__}")


def one_id(file: object, argument: str = "file") -> str:
    """The one id that is meant; ValueError for none or several."""
    found = file_ids(file, argument)
    if len(found) != 1:
        raise ValueError(f"{argument} names {len(found)} files; this call takes one")
    return found[0]


def sources(source: object) -> list[Any]:
    """The sources that are meant, each a path, bytes or a binary file; a DataFrame becomes its CSV.

    >>> sources(b"hello")
    [b'hello']
    """
    many = source if isinstance(source, list | tuple) else [source]
    return [_source(one) for one in many]


def _source(source: Any) -> Any:
    if is_frame(source):
        return source.to_csv(index=False).encode()
    if isinstance(source, bytearray | memoryview):
        return bytes(source)
    if isinstance(source, bytes):
        return source
    if isinstance(source, str | os.PathLike):
        return _path(Path(source))
    return _file_object(source)


def _path(path: Path) -> Path:
    if path.is_dir():
        raise ValueError(f"source {str(path)!r} is a folder; pass the files in it, one or a list of them")
    if not path.exists():
        raise FileNotFoundError(
            f"source {str(path)!r} is no file here; give a path that exists, or the content itself as bytes"
        )
    return path


def _file_object(source: Any) -> Any:
    if isinstance(source, io.TextIOBase):
        raise TypeError('source is open as text; open it with mode "rb", so that its bytes go as they are')
    if not callable(getattr(source, "read", None)):
        raise TypeError(
            "source must be a path, bytes, a file opened with mode 'rb', a DataFrame or a list of those,"
            f" not {type(source).__name__}"
        )
    return source


def names_for(count: int, name: object) -> list[str | None]:
    """A name for each source: one name for one source, or a list with as many names as sources."""
    if name is None:
        return [None] * count
    names = [name] if isinstance(name, str) else name
    if not isinstance(names, list | tuple) or not all(isinstance(one, str) for one in names):
        raise TypeError(f"name must be a str, or a list of them, not {type(name).__name__}")
    if len(names) != count:
        raise ValueError(f"name has {len(names)} names for {count} sources; give one for each")
    return list(names)


def choice(argument: str, value: object, allowed: Iterable[str]) -> str:
    """The value, if it is one of those allowed."""
    options = list(allowed)
    if value not in options:
        raise ValueError(f"{argument} is {value!r}; it must be one of {', '.join(options)}")
    return str(value)


def whole(argument: str, value: object, least: int, most: int | None = None) -> int:
    """The value, if it is a whole number within its bounds."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{argument} must be a whole number, not {type(value).__name__}")
    if value < least or (most is not None and value > most):
        bounds = f"{least} or more" if most is None else f"between {least} and {most}"
        raise ValueError(f"{argument} is {value}; it must be {bounds}")
    return value
