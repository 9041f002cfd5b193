"""Calls a function for each row of a list or DataFrame, and returns a frame with a row for each of them.

With a ledger of the rows that are done, a call that has stopped continues.
"""

from __future__ import annotations

import gc
import json
import os
from array import array
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import islice
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

from ...client.files import ROOT, generate_ids, get_file
from ...client.retry import Retry, repeated_requests
from ...core.errors.errors import (
    AlreadyExists,
    ContentMismatch,
    Interrupted,
    NotAllowed,
    NotFound,
    SourceChanged,
    warn_caller,
)
from ..arguments import choice
from ..display import listed, ranges
from ..frames import Record, Schema, concatenate, frame, schema
from ..sandbox.sandbox_numbers import open_sandboxes
from .progress import BAR_MIN_SIZE, BatchProgress, Counts, Progress, Report, check_progress, session_progress, showing
from .workers import ROW_ERRORS, Executor, Row, RowCall, RowOutcome, check_workers, row_outcomes

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.session import Session
    from ...local.ledger import Ledger, LedgerRow


# What the functions for many rows also use, from the other modules of this package.
__all__ = ["ROW_ERRORS", "Executor", "Progress", "Report", "Resumable", "Resume", "RowCall", "row_outcomes"]


_MAX_NOTES = 10  # the maximum number of failed rows that an error lists. All of them are in its attribute `failed`.


# What happens with the error of a row: "raise" raises the first one after the last row, "return" returns all in the
# frame. None raises the error of a single row, and returns the errors of several rows.
Errors: TypeAlias = Literal["raise", "return"] | None

DONE, FAILED = "done", "failed"

_PIECE = 10_000  # the number of records from which a frame is built before the call ends

# The columns that the result of a call for many rows has beside the columns of its function.
BATCH_COLUMNS = schema("outcome text, error text, attempts count, seconds seconds").columns


@cache
def batch_schema(schema: Schema) -> Schema:
    """Return a schema with the columns of a batch: the outcome second, and the others, which often say nothing, in the
    middle, where a terminal of 80 columns leaves them out.
    """
    names = {column.name for column in schema.columns}
    outcome, *others = (column for column in BATCH_COLUMNS if column.name not in names - {"outcome"})
    first, *rest = (column for column in schema.columns if column.name != "outcome")
    middle = (len(rest) + 1) // 2
    return Schema((first, outcome, *rest[:middle], *others, *rest[middle:]))


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
            closing(AllRows(operation.call, rows, session, operation.resumable, batch.resume, skip)) as calls,
            showing(progress),
            closing(
                row_outcomes(calls.call, session, calls.pending, calls.begin, progress, batch.workers, batch.executor)
            ) as outcomes,
        ):
            for n, outcome in outcomes:
                calls.end(n, outcome, results.failure(outcome))
                progress.end(n, failed=outcome.error is not None, outcome=results.add(n, outcome)["outcome"])
    except BaseException as error:
        continue_hint = operation.continue_hint if batch.resume is None else "run the cell again to go on"
        _explain_interrupt(error, counts, continue_hint)
        results.annotate(error, batch.resume)
        raise
    if results.failed:
        first = results.failed[min(results.failed)]
        if batch.errors == "raise" or (batch.errors is None and len(rows) == 1):
            results.annotate(first, batch.resume)
            raise first
        warn_caller(
            f"{len(results.failed)} of {len(rows)} rows failed; their outcome is 'failed', and the column error says"
            f" why. The first is {results.label(min(results.failed))}: {type(first).__name__}: {first}"
        )
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
            record = operation.call(session, row, lambda done, total: None)
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


def failed_record(operation: RowOperation[Row], row: Row, error: Exception) -> dict[str, Any]:
    """Return what is known of a row whose call failed."""
    known = {**operation.known(row), **operation.error_columns(error)}
    return {**known, "outcome": FAILED, "error": f"{type(error).__name__}: {error}"}


@dataclass(slots=True)
class _Results(Generic[Row]):
    """The outcomes of the rows that have ended."""

    operation: RowOperation[Row]
    rows: Sequence[Row]
    failed: dict[int, Exception] = field(default_factory=dict)
    # The numbers of the rows, in the order in which they ended.
    numbers: array[int] = field(default_factory=lambda: array("q"))
    _records: list[Record] = field(default_factory=list)
    # Frames of rows that ended before those of `_records`. They take a third of the memory of records.
    _pieces: list[DataFrame] = field(default_factory=list)

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
        numbers = f": rows {listed(ranges(done), _MAX_NOTES)}" if done else ""
        succeeded = f"{len(done)} of {len(self.rows)} succeeded{numbers}"
        error.add_note(f"{succeeded}; the attribute result has the rows that ended")
        for n in sorted(self.failed)[:_MAX_NOTES]:
            error.add_note(f"{self.label(n)}: {type(self.failed[n]).__name__}: {self.failed[n]}")
        if len(self.failed) > _MAX_NOTES:
            error.add_note(f"and {len(self.failed) - _MAX_NOTES} more, in the attribute failed of this error")
        error.add_note(
            "to go on, call again with the rows that are not in the attribute done of this error"
            if resume is None
            else "to go on, run the cell again: the ledger has the rows that are done"
        )

    def label(self, n: int) -> str:
        """Return the name of a row for a message."""
        return self.operation.label(n, self.rows[n])


# The argument `resume`, which is the name or the path of a ledger, or None for a call without a ledger.
Resume: TypeAlias = str | os.PathLike[str] | None

# The columns of a row that an earlier call with the same ledger has done.
_SKIPPED: Mapping[str, Any] = {"outcome": "skipped", "attempts": 0, "seconds": 0.0}

# The errors after which a file with the chosen id exists, which is not the file of the row.
_ID_IS_USED = (AlreadyExists, ContentMismatch, SourceChanged)

_STARTED = 32  # the number of rows that are recorded as started at a time

_IDS = 1000  # the number of ids for new files that one request returns


@dataclass(frozen=True, slots=True)
class Resumable(Generic[Row]):
    """How a public function repeats a row, and records its rows in a ledger.

    Attributes:
        function: The name of the public function.
        arguments: What all rows have in common. A ledger is refused for other arguments. None is left out.
        identity: A function that returns what identifies a row, such as a file id, as a JSON value.
        with_id: A function that returns the row of a new file or event with a new id. None if rows need no id.
        new_ids: A function that returns a number of new ids.
        needs_id: A function that returns whether a row can be repeated only with an id. With a ledger all rows get ids.
        fewest: The number of rows from which they get ids without a ledger.
        repeat: The call for a row that may be done already. None means the same call.
        is_done: A function that returns whether a row that is recorded as done is still done, given the row and its
            record. A row that is not is called again, with a new id.
        current: A function that returns the columns that a skipped row takes from the row and not from the ledger.
    """

    function: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    identity: Callable[[Row], Any] = str
    with_id: Callable[[Row, str], Row] | None = None
    new_ids: Callable[[Session, int], Sequence[str]] = generate_ids
    needs_id: Callable[[Row], bool] = lambda row: True
    fewest: int = 2
    repeat: RowCall[Row] | None = None
    is_done: Callable[[Row, Record], bool] = lambda row, record: True
    current: Callable[[Row], Record] = lambda row: {}


def ledger_path(resume: Resume) -> Path | None:
    """Return the path of a ledger, or None for None. A name is a file in the current folder.

    >>> ledger_path("survey").name, ledger_path("lists/survey.sqlite").name
    ('survey.resume.sqlite', 'survey.sqlite')
    """
    if resume is None:
        return None
    if not isinstance(resume, str | os.PathLike) or not isinstance(os.fspath(resume), str):
        raise TypeError(f"resume must be a name or a path, not {type(resume).__name__}")
    text = os.fspath(resume)
    if not text:
        raise ValueError("resume is empty; give a name such as 'survey'")
    path = Path(text).expanduser()
    is_name = isinstance(resume, str) and path.name == text and not text.endswith(".sqlite")
    return Path(f"{text}.resume.sqlite") if is_name else path


class _RowToCall(NamedTuple):
    """A row of a call. `repeated` is True if an earlier call may have done it already."""

    row: Any
    repeated: bool
    has_generated_id: bool


class AllRows(Generic[Row]):
    """The rows of a call. New files and events of several rows get ids, so that none is made twice.

    The ledger `resume` records each row before and after its call. `skip` gets the rows that an earlier call with it
    has done. The caller calls `begin` and `end` for each pending row, and `close`.
    """

    def __init__(
        self,
        call: RowCall[Row],
        rows: Sequence[Row],
        session: Session,
        resumable: Resumable[Row] | None,
        resume: Resume,
        skip: Callable[[int, Record], None],
    ) -> None:
        path = ledger_path(resume)
        ledger = None if path is None or resumable is None else _open_ledger(path, session, resumable)
        resumable = resumable or Resumable("")
        self._rows, self._session, self._resumable, self._ledger = rows, session, resumable, ledger
        self.call: RowCall[Any] = partial(_call_or_repeat, call=call, repeat=resumable.repeat or call)
        # The numbers of the rows that an earlier call has not done.
        self.pending: Sequence[int] = range(len(rows))
        self._stored: dict[int, LedgerRow] = {}
        if ledger is not None:
            try:
                self._read(ledger, skip)
            except BaseException:
                ledger.close()
                raise
        self._ids = {n: row.id for n, row in self._stored.items() if row.id is not None}
        with_id = {*self._ids}
        needs_id = resumable.needs_id if ledger is None else lambda row: True
        few = resumable.with_id is None or (ledger is None and len(rows) < resumable.fewest)
        self._without_id = (n for n in self.pending if not few and n not in with_id and needs_id(rows[n]))
        self._next_without_id = next(self._without_id, None)
        self._waiting, self._started = iter(self.pending), set[int]()

    def _read(self, ledger: Ledger, skip: Callable[[int, Record], None]) -> None:
        """Skip the rows that the ledger has as done, and keep what it has of the others."""
        numbers = _numbers(self._rows, self._resumable.identity)
        collects = gc.isenabled()
        gc.disable()  # the garbage collector would look through a million records again and again
        try:
            for row in ledger.rows():
                n = numbers.get(row.key)
                if n is None:
                    continue
                if row.state != "done":
                    self._stored[n] = row
                elif self._resumable.is_done(self._rows[n], record := row.record or {}):
                    record |= self._resumable.current(self._rows[n])
                    record |= _SKIPPED
                    skip(n, record)
                    del numbers[row.key]
        finally:
            if collects:
                gc.enable()
        self._keys = {n: key for key, n in numbers.items()}
        self.pending = list(self._keys)

    def begin(self, n: int) -> _RowToCall:
        """Return the argument of `call` for a row, immediately before it is called."""
        row, with_id, before = self._rows[n], self._resumable.with_id, self._stored.get(n)
        if n == self._next_without_id:
            self._choose_ids(n)
        if n in self._ids and with_id is not None:
            row = with_id(row, self._ids.pop(n))
        if self._ledger and n not in self._started:
            # One transaction for each of them would slow the threads down.
            following = list(islice(self._waiting, _STARTED))
            self._ledger.start([self._keys[n] for n in following])
            self._started.update(following)
        was_sent = before is not None and (before.state == "started" or (before.state == "failed" and bool(before.id)))
        return _RowToCall(row, repeated=was_sent, has_generated_id=row is not self._rows[n])

    def _choose_ids(self, n: int) -> None:
        """Generate ids for the row and the next ones without an id."""
        following = [n, *islice(self._without_id, _IDS - 1)]
        self._next_without_id = next(self._without_id, None)
        ids = dict(zip(following, self._resumable.new_ids(self._session, len(following)), strict=True))
        self._ids |= ids
        if self._ledger:
            self._ledger.choose([(self._keys[n], file_id) for n, file_id in ids.items()])

    def end(self, n: int, outcome: RowOutcome, failure: str | None) -> None:
        """Record the outcome of a row. `failure` is the error message of a failed row."""
        if self._ledger and outcome.error is None:
            self._ledger.save(self._keys[n], "done", record=outcome.record)
        elif self._ledger and failure is not None:
            keep_id = not isinstance(outcome.error, _ID_IS_USED)
            self._ledger.save(self._keys[n], "failed", error=failure, keep_id=keep_id)

    def close(self) -> None:
        """Close the ledger."""
        if self._ledger:
            self._ledger.close()


def _open_ledger(path: Path, session: Session, resumable: Resumable[Any]) -> Ledger:
    """Open the ledger of a call. That of a sandbox that has ended is kept under another name, with a warning."""
    from ...local.ledger import Ledger, OtherCallError
    from ...local.saving import set_aside

    common = _common(session, resumable)
    try:
        return Ledger(path, common)
    except OtherCallError as error:
        if not _has_ended(error.call.get("service", "")):
            raise ValueError(str(error)) from None
        kept = set_aside(path)
        warn_caller(
            f"resume is {str(path)!r}, the ledger of a sandbox in memory, which has ended with its files."
            f" The call does all rows; the old ledger is kept as {kept.name!r}"
        )
        return Ledger(path, common)


def _common(session: Session, resumable: Resumable[Any]) -> dict[str, str]:
    """Return the values that all rows of a ledger have in common. The top folder stands for the service and user."""
    service = session.base_url
    if session.in_process and session.pending.folder is None:
        service += _SANDBOX + _in_memory.setdefault(session.owner or session, token_hex(4))
    try:
        top = str(get_file(session, ROOT, fields="id").get("id"))
    except (NotAllowed, NotFound):  # the access token is for other files only
        top = "unknown"
    values = {name: value for name, value in resumable.arguments.items() if value is not None}
    arguments = {name: json.dumps(value, sort_keys=True, default=str) for name, value in values.items()}
    return {"function": resumable.function, "service": service, "top folder": top, **arguments}


# The random names of the sandboxes whose data are in memory. Another sandbox can have the same address and ids.
_in_memory: WeakKeyDictionary[object, str] = WeakKeyDictionary()


_SANDBOX = ", sandbox "


def _has_ended(service: str) -> bool:
    """Return True for the service of a ledger that was a sandbox in memory, unless it is open in this kernel."""
    _, mark, name = service.partition(_SANDBOX)
    gc.collect()  # a sandbox that a cell has replaced by another one
    owners = [owner for owner, own_name in _in_memory.items() if own_name == name]
    return bool(mark) and not any(owner in open_sandboxes() or not hasattr(owner, "closes") for owner in owners)


def _numbers(rows: Sequence[Row], identity: Callable[[Row], Any]) -> dict[str, int]:
    """Return the numbers of the rows by their keys in the ledger. Rows with the same identity are numbered, too."""
    encode = json.JSONEncoder(sort_keys=True, default=str).encode
    numbers: dict[str, int] = {}
    repeated: Counter[str] = Counter()
    for n, row in enumerate(rows):
        if (key := encode(identity(row))) in numbers:
            repeated[key] += 1
            key = f"{key} {repeated[key] + 1}"
        numbers[key] = n
    return numbers


def _call_or_repeat(
    session: Session, item: _RowToCall, report: Report, call: RowCall[Any], repeat: RowCall[Any]
) -> Mapping[str, Any]:
    """Call the function of a row, or `repeat` if the row may be done already.

    This is so if a connection was lost, and if a cluster calls the row twice, because a worker has ended.
    """
    tries, repeated = Retry(session, repeatable=True), item.repeated
    tries.progress()
    while True:
        try:
            return (repeat if repeated else call)(session, item.row, report)
        except AlreadyExists:
            if repeated or not item.has_generated_id:
                raise
        except Interrupted as lost:
            if not (lost.uncertain and item.has_generated_id and tries.wait()):
                raise
        repeated = True
