"""Builds the DataFrames of the package from records.

A frame is built column by column from plain values: the columns and dtypes are the schema's, whether
there are no records, one or ten thousand (D-01). Each kind of column has a fast way, for values that
are all there and all alike, and a patient way for what else may come.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias

from .schemas import TIME, Schema

if TYPE_CHECKING:
    from pandas import DataFrame

Record: TypeAlias = Mapping[str, Any]
Values: TypeAlias = list[Any]


def frame(schema: Schema, records: Sequence[Record]) -> DataFrame:
    """The records as a DataFrame with the schema's columns and dtypes; a missing key is missing.

    >>> from svc_notebooks.notebook.frames.schemas import FILES
    >>> dict(frame(FILES, []).dtypes.astype(str)) == FILES.dtypes
    True
    """
    import pandas as pd

    built = {column.name: _BUILD[column.dtype](_values(column.key, records)) for column in schema.columns}
    return pd.DataFrame(built, copy=False)


def concatenated(schema: Schema, frames: Sequence[DataFrame]) -> DataFrame:
    """Frames of this schema one below the other, in one.

    >>> from svc_notebooks.notebook.frames.schemas import FILES
    >>> len(concatenated(FILES, [frame(FILES, [{}]), frame(FILES, [{}])]))
    2
    """
    import pandas as pd

    return pd.concat(frames, ignore_index=True) if frames else frame(schema, [])


def _values(key: str, records: Sequence[Record]) -> list[Any]:
    try:
        return list(map(itemgetter(key), records))
    except KeyError:
        return [record.get(key) for record in records]


def _text(values: Values) -> Any:
    import pandas as pd

    return pd.array(values, dtype="str")


def _count(values: Values) -> Any:
    """int64 numbers are strings on the wire."""
    import numpy as np
    import pandas as pd

    if None in values:
        return pd.array([None if v is None else int(v) for v in values], dtype="Int64")
    numbers = np.fromiter(map(int, values), dtype="int64", count=len(values))
    return pd.arrays.IntegerArray(numbers, np.zeros(len(values), dtype=bool))


def _flag(values: Values) -> Any:
    import numpy as np
    import pandas as pd

    flags = np.array(values)
    if flags.dtype == bool:
        return pd.arrays.BooleanArray(flags, np.zeros(len(values), dtype=bool))
    return pd.array(values, dtype="boolean")


def _number(values: Values) -> Any:
    import pandas as pd

    return pd.array(values, dtype="Float64")


def _time(values: Values) -> Any:
    import pandas as pd

    return pd.DatetimeIndex(_instants(values), tz="UTC").array


def _instants(values: Values) -> Any:
    import numpy as np

    timestamps = _service_timestamps(values)
    if timestamps is not None:
        return timestamps.astype("S23").astype("datetime64[ms]")
    return np.array([_utc_text(value) for value in values], dtype="datetime64[ms]")


def _service_timestamps(values: Values) -> Any:
    """The texts as one array, where all are like 2026-01-02T03:04:05.678Z; else None."""
    import numpy as np

    try:
        texts = np.frombuffer("".join(values).encode(), dtype="u1").reshape(len(values), 24)
    except (TypeError, ValueError):
        return None
    uniform = (texts[:, 19] == ord(".")).all() and (texts[:, 23] == ord("Z")).all()
    return texts.view("S24").ravel() if uniform else None


def _utc_text(value: str | datetime | None) -> str:
    if value is None:
        return "NaT"
    instant = datetime.fromisoformat(value) if isinstance(value, str) else value
    return instant.astimezone(UTC).replace(tzinfo=None).isoformat()


def _any(values: Values) -> Any:
    import numpy as np

    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


_BUILD: dict[str, Callable[[Values], Any]] = {
    "str": _text,
    "Int64": _count,
    "Float64": _number,
    "boolean": _flag,
    TIME: _time,
    "object": _any,
}
