"""Calls a function for each row of a list or DataFrame, and returns a frame with a row for each of them."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias

from ...client.transport.retry import repeated_requests
from ...core.errors.caller_warning import warn_caller
from ..arguments import choice
from ..frames.frames import Column, Record, Schema, concatenate, frame
from .progress import BAR_MIN_SIZE, BatchProgress, Counts, Progress, check_progress, session_progress, showing
from .resume import AllRows, Resumable, Resume, ledger_path, open_rows
from .workers import ROW_ERRORS, Executor, Outcomes, Report, Row, RowCall, RowOutcome, check_workers, row_outcomes

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.session import Session


__all__ = ["ROW_ERRORS", "Executor", "Progress", "Report", "Resumable", "Resume", "RowCall", "row_outcomes"]
"""What the functions for many rows also use, from the other modules of this package."""


_MAX_NOTES = 10
"""The maximum number of failed rows that an error lists. All of them are in its attribute `failed`."""


Errors: TypeAlias = Literal["raise", "return"] | None
"""What happens with the error of a row: "raise" raises the first one after the last row, "return" returns all in the
frame. None raises the error of a single row, and returns the errors of several rows.
"""

DONE, FAILED = "done", "failed"

_PIECE = 10_000
"""The number of records from which a frame is built before the call ends."""

BATCH_COLUMNS = (
    Column("outcome", "str", "outcome"),
    Column("error", "str", "error"),
    Column("attempts", "Int64", "attempts"),
    Column("seconds", "Float64", "seconds"),
)
"""The columns that the result of a call for many rows has beside the columns of its function."""


@cache
def batch_schema(schema: Schema) -> Schema:
    """Return a schema with the columns of a batch at its end, without those that it has already."""
    names = {column.name for column in schema.columns}
    return Schema((*schema.columns, *(column for column in BATCH_COLUMNS if column.name not in names)))


@dataclass(frozen=True, slots=True)
class Batch:
    """The arguments of a public function that say how it calls many rows, and what happens with errors.

    Raises TypeError or ValueError for an argument that is not valid.
    """

    workers: int | None = None
    executor: Executor | None = None
    errors: Errors = None
    resume: Resume = None
    progress: Progress = None

    def __post_init__(self) -> None:
        if self.progress is not None:
            check_progress(self.progress)
        if self.resume is not None:
            ledger_path(self.resume)
        if self.workers is not None or self.executor is not None:
            check_workers(self.workers, self.executor)
        if self.errors is not None:
            choice("errors", self.errors, ("raise", "return"))

    def is_direct(self, rows: Sequence[object]) -> bool:
        """Return True for a single row that needs no executor and no ledger, and whose error is raised."""
        return len(rows) == 1 and self.executor is None and self.resume is None and self.errors != "return"


@dataclass(frozen=True, slots=True)
class RowOperation(Generic[Row]):
    """What a public function does with each row: `call`, whose records have the columns of `schema`.

    `known` returns what is known of a row if its call fails, such as its id. `label` names a row in error messages.
    `error_columns` returns further columns of a failed row from its error. `resumable` is what a ledger records. The
    progress bar shows `title`, and `unit` for what is counted. `size` returns the bytes of a row that has content, or
    None if they are not known. `continue_hint` says how to go on after an interrupt.
    """

    schema: Schema
    call: RowCall[Row]
    known: Callable[[Row], Record] = lambda row: {}
    label: Callable[[int, Row], str] = lambda n, row: f"row {n}"
    row_errors: tuple[type[Exception], ...] = ROW_ERRORS
    error_columns: Callable[[Exception], Record] = lambda error: {}
    resumable: Resumable[Row] | None = None
    title: str = "Rows"
    unit: str = "files"
    size: Callable[[Row], int | None] | None = None
    continue_hint: str = ""


def _ranges(numbers: Sequence[int]) -> str:
    """Return the row numbers in ascending order as a text for a message.

    >>> _ranges([0, 1, 2, 5]), _ranges([])
    (': rows 0-2, 5', '')
    """
    groups = [[n for _, n in group] for _, group in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0])]
    texts = [f"{group[0]}-{group[-1]}" if len(group) > 1 else f"{group[0]}" for group in groups]
    more = f" and {len(texts) - _MAX_NOTES} more ranges" if len(texts) > _MAX_NOTES else ""
    return f": rows {', '.join(texts[:_MAX_NOTES])}{more}" if texts else ""


def known_id(file_id: str) -> Record:
    """Return what is known of a file if its call fails."""
    return {"id": file_id}


def run(operation: RowOperation[Row], rows: Sequence[Row], session: Session, batch: Batch = Batch()) -> DataFrame:
    """Call the operation for each row, and return a frame with the results in the order of the rows.

    A row whose call raised one of `row_errors` has the outcome "failed" and the message in the column `error`, and a
    UserWarning says how many failed. For a single row, or with `errors="raise"`, the first error is raised after the
    last row instead. Any other error would also occur for every other row, and is raised at once. The attribute
    `result` of an error is the frame of the rows that have ended, `done` is a list of the numbers of the rows that
    succeeded, and `failed` is a dict from row numbers to errors.

    With `batch.resume`, the rows that an earlier call with the same ledger has done have the outcome "skipped".
    """
    if batch.is_direct(rows) and (operation.resumable is None or operation.resumable.fewest > 1):
        return run_alone(operation, rows[0], session, batch.progress)
    results = _Results(operation, rows)
    counts = Counts(len(rows), operation.unit, None if operation.size is None else map(operation.size, rows))
    progress = session_progress(session, counts, operation.title, batch.progress)

    def skip(n: int, record: Record) -> None:
        results.append(n, record)
        counts.skip(n)

    try:
        with (
            open_rows(operation.call, rows, session, operation.resumable, batch.resume, skip) as calls,
            showing(progress),
            closing(_outcomes(calls, session, batch, progress)) as outcomes,
        ):
            for n, outcome in outcomes:
                calls.end(n, outcome, results.failure(outcome))
                progress.end(n, failed=outcome.error is not None, outcome=results.add(n, outcome)["outcome"])
    except BaseException as error:
        _explain_interrupt(
            error, counts, operation.continue_hint if batch.resume is None else "run the cell again to go on"
        )
        results.annotate(error, batch.resume)
        raise
    if results.failed:
        first = results.failed[min(results.failed)]
        if batch.errors == "raise" or (batch.errors is None and len(rows) == 1):
            results.annotate(first, batch.resume)
            raise first
        warn_caller(results.warning())
    return results.frame()


def apply_to_rows(
    schema: Schema, rows: Sequence[Row], call: Callable[[Row], Record], session: Session, workers: int | None = 1
) -> DataFrame:
    """Call a function for each row, and return the frame of the results without the columns of a batch.

    The first error of a row is raised after the last row.
    """
    operation: RowOperation[Row] = RowOperation(schema, lambda session, row, report: call(row))
    result = run(operation, rows, session, Batch(workers, errors="raise", progress=False))
    return result[[column.name for column in schema.columns]]


def run_alone(operation: RowOperation[Row], row: Row, session: Session, progress: Progress) -> DataFrame:
    """Call the operation for the only row, and return a frame with its result. Raises the error of the call."""
    schema, size = batch_schema(operation.schema), None if operation.size is None else operation.size(row)
    may_be_large = operation.size is not None and (size is None or size >= BAR_MIN_SIZE)
    counts: Counts | None = None
    started, repeated = session.elapsed(), repeated_requests.get()
    try:
        if progress is False or (progress is None and not may_be_large):
            record = operation.call(session, row, _report_nothing)
        else:
            counts = Counts(1, operation.unit, None if operation.size is None else [size])
            with showing(BatchProgress(counts, operation.title, progress, elapsed=session.elapsed)) as bar:
                record = operation.call(session, row, bar.reports(0))
                bar.end(0, failed=False, outcome=record.get("outcome"))
    except BaseException as error:
        _explain_interrupt(error, counts, operation.continue_hint)
        failed = [error] if isinstance(error, operation.row_errors) else []
        result = frame(schema, [failed_record(operation, row, each) for each in failed])
        vars(error).update({"failed": dict(enumerate(failed)), "result": result})
        raise
    columns = {"attempts": 1 + repeated_requests.get() - repeated, "seconds": session.elapsed() - started}
    return frame(schema, [{"outcome": DONE, **record, **columns}])


def _explain_interrupt(error: BaseException, counts: Counts | None, continue_hint: str) -> None:
    """Let an interrupt without a message say how far the work is, and how it goes on."""
    if isinstance(error, KeyboardInterrupt) and not error.args:
        stopped = f"stopped at {counts.done_text()}" if counts else "stopped"
        error.args = ("; ".join(filter(None, [stopped, continue_hint])),)


def _report_nothing(done: int, total: int | None) -> None:
    """Report no progress of a row."""


def failed_record(operation: RowOperation[Row], row: Row, error: Exception) -> dict[str, Any]:
    """Return what is known of a row whose call failed."""
    known = {**operation.known(row), **operation.error_columns(error)}
    return {**known, "outcome": FAILED, "error": f"{type(error).__name__}: {error}"}


def _outcomes(calls: AllRows[Any], session: Session, batch: Batch, progress: BatchProgress) -> Outcomes:
    """Call the pending rows with the workers of a batch."""
    return row_outcomes(
        calls.call,
        session,
        calls.pending,
        calls.begin,
        progress.reports,
        progress.draw,
        workers=batch.workers,
        executor=batch.executor,
    )


@dataclass(slots=True)
class _Results(Generic[Row]):
    """The outcomes of the rows that have ended."""

    operation: RowOperation[Row]
    rows: Sequence[Row]
    failed: dict[int, Exception] = field(default_factory=dict)
    numbers: array[int] = field(default_factory=lambda: array("q"))
    """The numbers of the rows, in the order in which they ended."""
    _records: list[Record] = field(default_factory=list)
    _pieces: list[DataFrame] = field(default_factory=list)
    """Frames of rows that ended before those of `_records`. They take a third of the memory of records."""

    def append(self, n: int, record: Record) -> Record:
        """Add the record of a row, and return it."""
        self.numbers.append(n)
        self._records.append(record)
        if len(self._records) == _PIECE:
            self._pieces.append(frame(batch_schema(self.operation.schema), self._records))
            self._records = []
        return record

    def add(self, n: int, outcome: RowOutcome) -> Record:
        """Add the outcome of a row, show its warnings and return its record.

        Raises the row's error if it concerns all rows.
        """
        for warning in outcome.warnings:
            warn_caller(*warning)
        columns: dict[str, Any] = {"attempts": outcome.attempts, "seconds": outcome.seconds}
        if outcome.error is None:
            return self.append(n, {"outcome": DONE, **(outcome.record or {}), **columns})
        if self.failure(outcome) is None:
            raise outcome.error
        self.failed[n] = outcome.error
        return self.append(n, {**failed_record(self.operation, self.rows[n], outcome.error), **columns})

    def failure(self, outcome: RowOutcome) -> str | None:
        """Return the error message of a failed row, or None if the row is done or its error concerns all rows."""
        error = outcome.error
        return f"{type(error).__name__}: {error}" if isinstance(error, self.operation.row_errors) else None

    def frame(self) -> DataFrame:
        """Return the frame of the rows that have ended, in the order of the rows, and forget them."""
        schema = batch_schema(self.operation.schema)
        if not self._pieces:
            records = dict(zip(self.numbers, self._records, strict=True))
            return frame(schema, [records[n] for n in sorted(records)])
        if self._records:
            self._pieces.append(frame(schema, self._records))
        return concatenate(schema, self._pieces, self.numbers)

    def annotate(self, error: BaseException, resume: Resume) -> None:
        """Add the result, the rows done and the failed rows to an error, and notes about them for several rows."""
        done = sorted({*self.numbers} - self.failed.keys())
        vars(error).update({"failed": dict(sorted(self.failed.items())), "result": self.frame(), "done": done})
        if len(self.rows) == 1:
            return
        error.add_note(
            f"{len(done)} of {len(self.rows)} succeeded{_ranges(done)}; the attribute result has the rows that ended"
        )
        for n in sorted(self.failed)[:_MAX_NOTES]:
            error.add_note(f"{self._label(n)}: {type(self.failed[n]).__name__}: {self.failed[n]}")
        if len(self.failed) > _MAX_NOTES:
            error.add_note(f"and {len(self.failed) - _MAX_NOTES} more, in the attribute failed of this error")
        error.add_note(
            "to go on, call again with the rows that are not in the attribute done of this error"
            if resume is None
            else "to go on, run the cell again: the ledger has the rows that are done"
        )

    def warning(self) -> str:
        """Return a line that says how many rows failed, and why the first one did."""
        n = min(self.failed)
        first = self.failed[n]
        return (
            f"{len(self.failed)} of {len(self.rows)} rows failed; their outcome is 'failed', and the column error says"
            f" why. The first is {self._label(n)}: {type(first).__name__}: {first}"
        )

    def _label(self, n: int) -> str:
        return self.operation.label(n, self.rows[n])
