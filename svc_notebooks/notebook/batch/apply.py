"""Calls a function for each row, and continues with the next row if the call for a row fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sized
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ..frames.frames import Record, frame
from .row_call import ROW_ERRORS

if TYPE_CHECKING:
    from pandas import DataFrame

    from ..frames.frames import Schema

Item = TypeVar("Item")


def apply_to_rows(
    schema: Schema,
    items: Iterable[Item],
    call: Callable[[Item], Record],
    *,
    errors: tuple[type[Exception], ...] = ROW_ERRORS,
    label: Callable[[Item], str] | None = None,
) -> DataFrame:
    """Call `call` for each item and return the DataFrame of the records that the calls return.

    The first error in `errors` is raised after the last item. Any other error, which would also occur for every other
    row, is raised at once. The attributes of the error are `result`, the DataFrame of the successful calls, and
    `failed`, a dict from row numbers to errors. `label` names an item in the notes of the error. None means "row" and
    the row number.
    """
    done: list[Record] = []
    failed: list[_FailedRow] = []
    try:
        for n, item in enumerate(items):
            try:
                done.append(call(item))
            except errors as error:
                failed.append(_FailedRow(n, f"row {n}" if label is None else label(item), error))
    except BaseException as error:
        _annotate_error(error, frame(schema, done), failed, len(items) if isinstance(items, Sized) else None)
        raise
    if failed:
        _annotate_error(failed[0].error, frame(schema, done), failed, len(done) + len(failed))
        raise failed[0].error
    return frame(schema, done)


class _FailedRow(NamedTuple):
    n: int
    label: str
    error: Exception


_MAX_NOTES = 10
"""The maximum number of failed rows that an error lists. All of them are in its attribute `failed`."""


def _annotate_error(error: Any, result: DataFrame, failed: list[_FailedRow], count: int | None) -> None:
    """Add the results and the failed rows to an error. `count` is the number of all rows, or None if not known."""
    error.failed = {row.n: row.error for row in failed}
    if count == 1:
        return
    error.result = result
    if count is not None or len(result):
        share = len(result) if count is None else f"{len(result)} of {count}"
        error.add_note(f"{share} succeeded; their rows are in the attribute result of this error")
    for row in failed[:_MAX_NOTES]:
        error.add_note(f"{row.label}: {type(row.error).__name__}: {row.error}")
    if len(failed) > _MAX_NOTES:
        error.add_note(f"and {len(failed) - _MAX_NOTES} more, in the attribute failed of this error")
