"""Runs one call for each row, also after one of them failed.

If some rows failed, the first error is raised at the end, with a note for each failed row, the frame of the other
rows as its `result`, and every error by the number of its row as its `failed`. An error that every row would have (not
signed in, an unreachable service, an interrupt) ends the call at once, with the same `result`.
"""

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
"""Errors of one row, which the next one may not have."""


def apply_to_rows(schema: Schema, items: Iterable[Item], call: Callable[[Item], Record]) -> DataFrame:
    """Return the frame of the records that `call` returns for the items. Raises the first error at the end."""
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
