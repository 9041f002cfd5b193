"""Replaces columns of a DataFrame by position."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pandas import DataFrame


def with_columns(frame: DataFrame, changed: Mapping[int, Any]) -> DataFrame:
    """Return the DataFrame with other columns at some positions. `isetitem` would need quadratic time for all."""
    import pandas as pd

    columns = {position: changed.get(position, column) for position, (_, column) in enumerate(frame.items())}
    table = pd.DataFrame(columns, index=frame.index) if changed else frame.copy(deep=False)
    table.columns, table.attrs = frame.columns, frame.attrs
    return table
