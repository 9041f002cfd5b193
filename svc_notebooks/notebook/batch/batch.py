"""Calls a function for each row of a list or DataFrame, and returns a frame with a row for each of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar

from ...client.transport.retry import repeated_requests
from ...core.errors.caller_warning import warn_caller
from ..arguments import choice
from ..frames.frames import Column, Record, Schema, frame
from .progress import BAR_MIN_SIZE, BatchProgress, Counts, Progress, check_progress, session_progress, showing
from .resume import SKIPPED, AllRows, Resumable, Resume, ledger_path, open_rows
from .workers import ROW_ERRORS, Executor, Outcomes, Report, Row, RowCall, RowOutcome, check_workers, row_outcomes

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.session import Session


__all__ = ["ROW_ERRORS", "Executor", "Progress", "Report", "Resumable", "Resume", "RowCall", "row_outcomes"]
"""What the functions for many rows also use, from the other modules of this package."""

Item = TypeVar("Item")


def apply_to_rows(schema: Schema, items: Sequence[Item], call: Callable[[Item], Record]) -> DataFrame:
    """Call `call` for each item and return the DataFrame of the records that the calls return.

    The first error of a row is raised after the last item. Any other error, which would also occur for every other row,
    is raised at once. The attributes of the error are `result`, the DataFrame of the successful calls, and `failed`, a
    dict from row numbers to errors.
    """
    done: list[Record] = []
    failed: dict[int, Exception] = {}
    try:
        for n, item in enumerate(items):
            try:
                done.append(call(item))
            except ROW_ERRORS as error:
                failed[n] = error
        if failed:
            raise failed[min(failed)]
    except BaseException as error:
        _annotate(error, frame(schema, done), failed, len(done), len(items))
        raise
    return frame(schema, done)


_MAX_NOTES = 10
"""The maximum number of failed rows that an error lists. All of them are in its attribute `failed`."""


def _annotate(
    error: BaseException,
    result: DataFrame,
    failed: Mapping[int, Exception],
    done: int,
    count: int,
    label: Callable[[int], str] = "row {}".format,
) -> None:
    """Add the result and the failed rows to an error, and notes about them if there are several rows."""
    vars(error).update({"failed": dict(sorted(failed.items())), "result": result})
    if count > 1:
        error.add_note(f"{done} of {count} succeeded; the attribute result has the rows that ended")
        for n in sorted(failed)[:_MAX_NOTES]:
            error.add_note(f"{label(n)}: {type(failed[n]).__name__}: {failed[n]}")
        if len(failed) > _MAX_NOTES:
            error.add_note(f"and {len(failed) - _MAX_NOTES} more, in the attribute failed of this error")


Errors: TypeAlias = Literal["raise", "return"] | None
"""What happens with the error of a row: "raise" raises the first one after the last row, "return" returns all in the
frame. None raises the error of a single row, and returns the errors of several rows.
"""

DONE, FAILED = "done", "failed"

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
        check_progress(self.progress)
        ledger_path(self.resume)
        check_workers(self.workers, self.executor)
        if self.errors is not None:
            choice("errors", self.errors, ("raise", "return"))


@dataclass(frozen=True, slots=True)
class RowOperation(Generic[Row]):
    """What a public function does with each row: `call`, whose records have the columns of `schema`.

    `known` returns what is known of a row if its call fails, such as its id. `label` names a row in error messages.
    `error_columns` returns further columns of a failed row from its error. `resumable` is what a ledger records. The
    progress bar shows `title`, and `unit` for what is counted. `size` returns the bytes of a row that has content, or
    None if they are not known. `going_on` says how to go on after an interrupt.
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
    going_on: str = ""


def known_id(file_id: str) -> Record:
    """Return what is known of a file if its call fails."""
    return {"id": file_id}


def run(operation: RowOperation[Row], rows: Sequence[Row], session: Session, batch: Batch = Batch()) -> DataFrame:
    """Call the operation for each row, and return a frame with the results in the order of the rows.

    A row whose call raised one of `row_errors` has the outcome "failed" and the message in the column `error`, and a
    UserWarning says how many failed. For a single row, or with `errors="raise"`, the first error is raised after the
    last row instead. Any other error would also occur for every other row, and is raised at once. The attribute
    `result` of an error is the frame of the rows that have ended, and `failed` is a dict from row numbers to errors.

    With `batch.resume`, the rows that an earlier call with the same ledger has done have the outcome "skipped".
    """
    if len(rows) == 1 and batch.executor is None and batch.resume is None and batch.errors != "return":
        return _run_alone(operation, rows[0], session, batch.progress)
    results = _Results(operation, rows)
    counts = Counts(len(rows), operation.unit, None if operation.size is None else map(operation.size, rows))
    progress = session_progress(session, counts, operation.title, batch.progress)
    try:
        with open_rows(operation.call, rows, session, operation.resumable, batch.resume) as calls, showing(progress):
            results.skip(calls.done)
            counts.skip(calls.done)
            with closing(_outcomes(calls, session, batch, progress)) as outcomes:
                for n, outcome in outcomes:
                    calls.end(n, outcome, results.failure(outcome))
                    results.add(n, outcome)
                    progress.end(n, failed=n in results.failed, outcome=results.records[n]["outcome"])
    except BaseException as error:
        _explain_interrupt(error, counts, operation.going_on if batch.resume is None else "run the cell again to go on")
        results.annotate(error)
        raise
    if results.failed:
        first = results.failed[min(results.failed)]
        if batch.errors == "raise" or (batch.errors is None and len(rows) == 1):
            results.annotate(first)
            raise first
        warn_caller(results.warning())
    return results.frame()


def _run_alone(operation: RowOperation[Row], row: Row, session: Session, progress: Progress) -> DataFrame:
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
        _explain_interrupt(error, counts, operation.going_on)
        failed = [error] if isinstance(error, operation.row_errors) else []
        result = frame(schema, [failed_record(operation, row, each) for each in failed])
        vars(error).update({"failed": dict(enumerate(failed)), "result": result})
        raise
    columns = {"attempts": 1 + repeated_requests.get() - repeated, "seconds": session.elapsed() - started}
    return frame(schema, [{"outcome": DONE, **record, **columns}])


def _explain_interrupt(error: BaseException, counts: Counts | None, going_on: str) -> None:
    """Let an interrupt without a message say how far the work is, and how it goes on."""
    if isinstance(error, KeyboardInterrupt) and not error.args:
        stopped = f"stopped at {counts.done_text()}" if counts else "stopped"
        error.args = ("; ".join(filter(None, [stopped, going_on])),)


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
    records: dict[int, Record] = field(default_factory=dict)
    failed: dict[int, Exception] = field(default_factory=dict)

    def add(self, n: int, outcome: RowOutcome) -> None:
        """Add the outcome of a row and show its warnings. Raises the row's error if it concerns all rows."""
        for warning in outcome.warnings:
            warn_caller(*warning)
        columns: dict[str, Any] = {"attempts": outcome.attempts, "seconds": outcome.seconds}
        if outcome.error is None:
            self.records[n] = {"outcome": DONE, **(outcome.record or {}), **columns}
            return
        message = self.failure(outcome)
        if message is None:
            raise outcome.error
        self.records[n] = {**failed_record(self.operation, self.rows[n], outcome.error), **columns}
        self.failed[n] = outcome.error

    def skip(self, done: Mapping[int, Record]) -> None:
        """Add the records of rows that an earlier call has done."""
        for n, record in done.items():
            self.records[n] = {**record, "outcome": SKIPPED, "attempts": 0, "seconds": 0.0}

    def failure(self, outcome: RowOutcome) -> str | None:
        """Return the error message of a failed row, or None if the row is done or its error concerns all rows."""
        error = outcome.error
        return f"{type(error).__name__}: {error}" if isinstance(error, self.operation.row_errors) else None

    def frame(self) -> DataFrame:
        """Return the frame of the rows that have ended, in the order of the rows."""
        return frame(batch_schema(self.operation.schema), [self.records[n] for n in sorted(self.records)])

    def annotate(self, error: BaseException) -> None:
        """Add the result and the failed rows to an error."""
        done = len(self.records) - len(self.failed)
        _annotate(error, self.frame(), self.failed, done, len(self.rows), self._label)

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
