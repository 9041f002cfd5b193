"""Builds the DataFrames of the package from records and a schema.

The columns and dtypes of a DataFrame do not depend on the number of records (D-01). Column names are snake_case, and
wire names are camelCase. Only `snake` and `camel` convert these names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, cached_property, lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ...core.errors.errors import ServiceFailed
from ...core.printable_text import printable
from ...core.suggestions import nearest_name

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


@lru_cache(maxsize=1024)
def snake(name: str) -> str:
    """Convert a wire name in camelCase to a column name in snake_case.

    >>> snake("mimeType"), snake("md5Checksum"), snake("id")
    ('mime_type', 'md5_checksum', 'id')
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


@lru_cache(maxsize=1024)
def camel(name: str) -> str:
    """Convert the name of a column or of a Python argument to a wire name in camelCase.

    >>> camel("mime_type"), camel("mimeType")
    ('mimeType', 'mimeType')
    """
    head, *rest = name.split("_")
    return head + "".join(word[:1].upper() + word[1:] for word in rest)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a DataFrame. `key` is the record key of the column's values."""

    name: str
    dtype: Dtype
    key: str


@dataclass(frozen=True)
class Schema:
    """The columns of a DataFrame with their dtypes, in order."""

    columns: tuple[Column, ...]

    @cached_property
    def keys(self) -> tuple[str, ...]:
        return tuple([column.key for column in self.columns])

    @property
    def dtypes(self) -> dict[str, str]:
        """A dict from column names to dtypes, as in the attribute `dtypes` of the DataFrame."""
        return {column.name: _text_dtype() if column.dtype == "str" else column.dtype for column in self.columns}

    @cached_property
    def query(self) -> dict[str, str]:
        """The query parameter that requests the fields of all columns."""
        return {"fields": ",".join(self.keys)}

    def pick(self, keys: Iterable[str]) -> Schema:
        """Return a schema with only the columns for the given record keys, in the order of the keys."""
        by_key = {column.key: column for column in self.columns}
        return Schema(tuple(by_key[key] for key in keys))


def schema(columns: str) -> Schema:
    """Parse a record key and a type (text, count, flag, seconds, time or any) for each column, between commas."""
    rows = [column.split() for column in columns.split(",")]
    return Schema(tuple(Column(snake(key), _DTYPES[kind], key) for key, kind in rows))


def select_columns(fields: str | Iterable[str] | None, default: Schema, everything: Schema, owner: str) -> Schema:
    """Return the schema for a `fields` argument: `default` for None, `everything` for "*", or the named columns.

    Names are separated by commas or in a list, in camelCase or snake_case. `owner` is for error messages, such as "a
    file". Raises TypeError for another type, and ValueError with the nearest column for an unknown name.
    """
    if fields is None:
        return default
    if isinstance(fields, str) and fields.strip() == "*":
        return everything
    if not isinstance(fields, Iterable):
        raise TypeError(f'fields must be "*", a str of comma-separated names or a list of names, not {fields!r}')
    columns = {column.name: column for column in everything.columns}
    selected: list[Column] = []
    for name in fields.split(",") if isinstance(fields, str) else fields:
        if not isinstance(name, str):
            raise TypeError(f'fields must be "*", a str of comma-separated names or a list of names, not {name!r}')
        column = columns.get(snake(name.strip()))
        if column is None:
            near = nearest_name(name, columns)
            hint = f"; did you mean {near!r}?" if near else ""
            raise ValueError(f"fields has {name!r}, which is not a field of {owner}{hint}")
        selected.append(column)
    return Schema(tuple(selected))


def frame(schema: Schema, records: Sequence[Record]) -> DataFrame:
    """Return a DataFrame with a row for each record. A key that a record does not have becomes a missing value.

    Raises ServiceFailed for a value that the dtype of its column does not allow.

    >>> from svc_notebooks.notebook.frames.schemas import FILES
    >>> dict(frame(FILES, []).dtypes.astype(str)) == FILES.dtypes
    True
    """
    import numpy as np
    import pandas as pd

    if not records and schema in _empty_frames:
        return _empty_frames[schema].copy()
    columns: dict[str, Any] = {}
    for column in schema.columns:
        dtype: Dtype = column.dtype
        made: Any
        try:
            values = list(map(itemgetter(column.key), records))
        except KeyError:
            if len(records) == 1 and dtype in _missing:
                columns[column.name] = _missing[dtype].copy()
                continue
            values = [record.get(column.key) for record in records]
        try:
            if dtype == "Int64" and None not in values:
                numbers = np.fromiter(
                    map(int, values), dtype="int64", count=len(values)
                )  # int64 is a string on the wire
                made = pd.arrays.IntegerArray(numbers, np.zeros(len(values), dtype=bool))
            elif dtype == "Int64":
                made = pd.array([None if value is None else int(value) for value in values], dtype=dtype)
            elif dtype == "boolean" and (flags := np.array(values)).dtype == bool:
                made = pd.arrays.BooleanArray(flags, np.zeros(len(values), dtype=bool))
            elif dtype == TIME:
                made = pd.DatetimeIndex(_instants(values), tz="UTC").array
            elif dtype == "object":
                made = np.empty(len(values), dtype=object)
                made[:] = values
            elif dtype == "str" and _text_dtype() == "object":
                made = np.array([np.nan if value is None else value for value in values], dtype=object)
            else:
                made = pd.array(values, dtype=dtype)
        except UnicodeEncodeError:  # Arrow, which stores texts where pyarrow is installed, has no lone surrogates
            made = pd.array(values, dtype=pd.StringDtype("python", na_value=np.nan))
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            problem = f"The service returned a value of {column.key} that is not a {dtype}: {printable(str(error))}"
            raise ServiceFailed(problem, location=column.key, advice="Check base_url.") from None
        columns[column.name] = made
        if len(values) == 1 and values[0] is None:
            _missing[dtype] = made.copy()
    result = pd.DataFrame(columns, copy=False)
    if not records:
        _empty_frames[schema] = result.copy()
    return result


_empty_frames: dict[Schema, DataFrame] = {}
"""DataFrames without rows. A copy takes a tenth of the time of a new one."""


_missing: dict[Dtype, Any] = {}
"""Columns of one missing value. An event has dozens of them, and a copy takes a tenth of the time of a new one."""


def concatenate(schema: Schema, frames: Sequence[DataFrame], numbers: Sequence[int] | None = None) -> DataFrame:
    """Return a DataFrame with the rows of all given DataFrames, which have this schema. The rows are numbered from 0.

    A single DataFrame whose rows are numbered is returned itself. With `numbers`, the rows are sorted by them, and the
    given DataFrames lose their columns, so that only one column is in memory twice.

    >>> from svc_notebooks.notebook.frames.schemas import FILES
    >>> len(concatenate(FILES, [frame(FILES, [{}]), frame(FILES, [{}])]))
    2
    """
    import numpy as np
    import pandas as pd

    if not frames:
        return frame(schema, [])
    if len(frames) == 1 and numbers is None:
        is_numbered = frames[0].index.equals(pd.RangeIndex(len(frames[0])))  # without the copy of reset_index
        return frames[0] if is_numbered else frames[0].reset_index(drop=True)
    order = None if numbers is None else np.argsort(np.asarray(numbers))
    is_sorted = order is None or bool((np.diff(order) == 1).all())
    columns: dict[str, Any] = {}
    for column in schema.columns:
        pieces = [each[column.name] if order is None else each.pop(column.name) for each in frames]
        if column.dtype == "str" and len({piece.dtype for piece in pieces}) > 1:  # some have lone surrogates
            pieces = [piece.astype(pd.StringDtype("python", na_value=np.nan)) for piece in pieces]
        values = pd.concat(pieces, ignore_index=True).array
        columns[column.name] = values if is_sorted else values.take(order)
    return pd.DataFrame(columns, copy=False)


@cache
def _text_dtype() -> Dtype:
    """Return the dtype of texts, which is "str" since pandas 3 and "object" before. A missing text is NaN in both."""
    import pandas as pd

    return "str" if int(pd.__version__.partition(".")[0]) >= 3 else "object"


def _instants(values: list[Any]) -> Any:
    """Convert ISO 8601 texts, datetimes and None to a numpy array of UTC instants in milliseconds."""
    import numpy as np
    import pandas as pd

    try:
        texts = np.frombuffer("".join(values).encode(), dtype="u1").reshape(len(values), 24)
    except (TypeError, ValueError):
        pass
    else:
        if (texts[:, 19] == ord(".")).all() and (texts[:, 23] == ord("Z")).all():
            return texts.view("S24").ravel().astype("S23").astype("datetime64[ms]")
    if set(map(type, values)) == {str} and min(map(len, values)) >= len("2026-01-01T00:00:00Z"):
        with suppress(ValueError):  # before pandas 3, the years before 1678 and after 2261 are out of bounds
            return pd.to_datetime(values, utc=True, format="ISO8601").tz_localize(None).as_unit("ms").to_numpy()
    instants: list[str] = []
    for value in values:
        instant = datetime.fromisoformat(value) if isinstance(value, str) else value
        instants.append("NaT" if instant is None else instant.astimezone(UTC).replace(tzinfo=None).isoformat())
    return np.array(instants, dtype="datetime64[ms]")
