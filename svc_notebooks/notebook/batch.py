"""Calls a function for each row, and continues with the next row if the call for a row fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from ..core.errors.errors import (
    AlreadyExists,
    BadRequest,
    ContentMismatch,
    NotAllowed,
    NotFound,
    SessionExpired,
    SourceChanged,
)
from .frames.frames import Record, frame

if TYPE_CHECKING:
    from pandas import DataFrame

    from .frames.frames import Schema

Item = TypeVar("Item")

ROW_ERRORS = (
    AlreadyExists,
    BadRequest,
    ContentMismatch,
    NotAllowed,
    NotFound,
    SessionExpired,
    SourceChanged,
    OSError,
)
"""The exception types that concern only one row, so that the calls for the other rows may succeed."""


def apply_to_rows(schema: Schema, items: Iterable[Item], call: Callable[[Item], Record]) -> DataFrame:
    """Call `call` for each item and return the DataFrame of the records that the calls return.

    The first error in `ROW_ERRORS` is raised after the last item. Any other error, which would also occur for every
    other row, is raised at once. The attributes of the error are `result`, the DataFrame of the successful calls, and
    `failed`, a dict from row numbers to errors.
    """
    every = list(items)
    done: list[Record] = []
    failed: list[tuple[int, Exception]] = []
    for n, item in enumerate(every):
        try:
            done.append(call(item))
        except ROW_ERRORS as error:
            failed.append((n, error))
        except BaseException as error:
            _annotate_error(error, frame(schema, done), failed, len(every))
            raise
    if failed:
        _annotate_error(failed[0][1], frame(schema, done), failed, len(every))
        raise failed[0][1]
    return frame(schema, done)


def _annotate_error(error: Any, result: DataFrame, failed: list[tuple[int, Exception]], count: int) -> None:
    error.failed = dict(failed)
    if count == 1:
        return
    error.result = result
    error.add_note(f"{len(result)} of {count} worked; they are in the error's .result")
    for n, row_error in failed:
        error.add_note(f"row {n}: {type(row_error).__name__}: {row_error}")
