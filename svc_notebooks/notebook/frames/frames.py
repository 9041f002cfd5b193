"""Builds the DataFrames of the package from records, by a schema.

A `Schema` declares the columns and dtypes of one frame; they are the same for no record, one or ten thousand (D-01).
A frame is built column by column. Integers, booleans and times have a fast way for values that are all there and all
alike, and a slow one for the others. Column names are snake_case, wire names are camelCase; `snake` and `camel` are the
only functions that convert them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from pandas import DataFrame

Dtype: TypeAlias = Literal["str", "Int64", "boolean", "Float64", "datetime64[ms, UTC]", "object"]
Record: TypeAlias = Mapping[str, Any]
TIME: Dtype = "datetime64[ms, UTC]"
_DTYPES: dict[str, Dtype] = {
    "text": "str",
    "count": "Int64",
    "flag": "boolean",
    "seconds": "Float64",
    "time": TIME,
    "any": "object",
}


def snake(name: str) -> str:
    """Return the column of a wire name.

    >>> snake("mimeType"), snake("md5Checksum"), snake("id")
    ('mime_type', 'md5_checksum', 'id')
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def camel(name: str) -> str:
    """Return the wire name of a column or of a Python argument.

    >>> camel("mime_type"), camel("mimeType")
    ('mimeType', 'mimeType')
    """
    head, *rest = name.split("_")
    return head + "".join(word[:1].upper() + word[1:] for word in rest)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a frame. `key` is its name in a record."""

    name: str
    dtype: Dtype
    key: str


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns of a frame, in order."""

    columns: tuple[Column, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of a record, in the order of the columns."""
        return tuple(column.key for column in self.columns)

    @property
    def dtypes(self) -> dict[str, str]:
        """The dtype of each column by its name, as `frame.dtypes` has them."""
        return {column.name: column.dtype for column in self.columns}

    def pick(self, keys: Iterable[str]) -> Schema:
        """Return a schema with the columns of these keys, in this order."""
        by_key = {column.key: column for column in self.columns}
        return Schema(tuple(by_key[key] for key in keys))


def schema(table: str) -> Schema:
    """Return the schema of a table whose lines have a key and a kind of column."""
    rows = [line.split() for line in table.strip().splitlines()]
    return Schema(tuple(Column(snake(key), _DTYPES[kind], key) for key, kind in rows))


def frame(schema: Schema, records: Sequence[Record]) -> DataFrame:
    """Return the records as a DataFrame with the schema's columns and dtypes. A missing key is a missing value.

    >>> from svc_notebooks.notebook.frames.schemas import FILES
    >>> dict(frame(FILES, []).dtypes.astype(str)) == FILES.dtypes
    True
    """
    import pandas as pd

    columns: dict[str, Any] = {}
    for column in schema.columns:
        try:
            values = list(map(itemgetter(column.key), records))
        except KeyError:
            values = [record.get(column.key) for record in records]
        columns[column.name] = _column(column.dtype, values)
    return pd.DataFrame(columns, copy=False)


def concatenate(schema: Schema, frames: Sequence[DataFrame]) -> DataFrame:
    """Return the rows of several frames of this schema as one frame.

    >>> from svc_notebooks.notebook.frames.schemas import FILES
    >>> len(concatenate(FILES, [frame(FILES, [{}]), frame(FILES, [{}])]))
    2
    """
    import pandas as pd

    return pd.concat(frames, ignore_index=True) if frames else frame(schema, [])


def _column(dtype: Dtype, values: list[Any]) -> Any:
    """Return the values as an array of the dtype."""
    import numpy as np
    import pandas as pd

    if dtype == "Int64":
        if None in values:
            return pd.array([None if value is None else int(value) for value in values], dtype=dtype)
        numbers = np.fromiter(map(int, values), dtype="int64", count=len(values))  # int64 is a string on the wire
        return pd.arrays.IntegerArray(numbers, np.zeros(len(values), dtype=bool))
    if dtype == "boolean":
        flags = np.array(values)
        if flags.dtype == bool:
            return pd.arrays.BooleanArray(flags, np.zeros(len(values), dtype=bool))
    if dtype == TIME:
        return pd.DatetimeIndex(_instants(values), tz="UTC").array
    if dtype == "object":
        column = np.empty(len(values), dtype=object)
        column[:] = values
        return column
    return pd.array(values, dtype=dtype)


def _instants(values: list[Any]) -> Any:
    """Return texts, datetimes and None as an array of instants in UTC.

    Texts that are all like 2026-01-02T03:04:05.678Z, as the service writes them, are read in one step.
    """
    import numpy as np

    try:
        texts = np.frombuffer("".join(values).encode(), dtype="u1").reshape(len(values), 24)
    except (TypeError, ValueError):
        pass
    else:
        if (texts[:, 19] == ord(".")).all() and (texts[:, 23] == ord("Z")).all():
            return texts.view("S24").ravel().astype("S23").astype("datetime64[ms]")
    instants: list[str] = []
    for value in values:
        instant = datetime.fromisoformat(value) if isinstance(value, str) else value
        instants.append("NaT" if instant is None else instant.astimezone(UTC).replace(tzinfo=None).isoformat())
    return np.array(instants, dtype="datetime64[ms]")
