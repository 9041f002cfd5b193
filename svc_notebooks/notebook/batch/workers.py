"""Runs the calls of all rows one after another, in threads, or on an executor such as those of Dask and ipyparallel."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, nullcontext
from itertools import islice
from queue import Empty, SimpleQueue
from threading import Event
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

from ...client.retry import repeated_requests, thread_sleep
from ...client.session import Session, SessionRecipe
from ...core.errors import errors
from ...core.errors.errors import CallerWarnings, collected_warnings
from ...core.errors.public_calls import check_function
from ...core.platform import capabilities
from ..arguments import whole
from .progress import BatchProgress, Report

# -- calls the function of one row, in this process or in a worker process, and returns the outcome of the call


Row = TypeVar("Row")

# A function that is called for each row and returns the record of its result.
#
# For worker processes it must be picklable: a function of a module, or a `functools.partial` of one.
RowCall: TypeAlias = "Callable[[Session, Row, Report], Mapping[str, Any]]"

# The exception types that concern only one row, so that the calls for the other rows may succeed.
ROW_ERRORS = (
    *(errors.AlreadyExists, errors.BadRequest, errors.ContentMismatch, errors.Interrupted, errors.NotAllowed),
    *(errors.NotFound, errors.SessionExpired, errors.SourceChanged, OSError),
)

_SILENCE = 60.0  # the seconds without an answer after which lost connections concern all rows


class RowOutcome(NamedTuple):
    """The outcome of the call of one row: a record, or the error that the call raised.

    `attempts` is 1 and the number of requests that were sent again. `seconds` is the duration of the call. `warnings`
    are the warnings of the call, which the caller of all rows shows.
    """

    record: Mapping[str, Any] | None
    error: Exception | None
    attempts: int
    seconds: float
    warnings: CallerWarnings


def call_row(call: RowCall[Row], session: Session, row: Row, report: Report) -> RowOutcome:
    """Call the function of a row and return the outcome. Only an interrupt is raised."""
    started, repeated = session.elapsed(), repeated_requests.get()
    record, failure = None, None
    with collected_warnings() as warnings:
        try:
            record = call(session, row, report)
        except Exception as error:
            failure = error
    return RowOutcome(record, failure, 1 + repeated_requests.get() - repeated, session.elapsed() - started, warnings)


# The sessions of this worker process by the keys of their recipes. The calls of all rows share a session.
_sessions: dict[str, Session] = {}


def call_rows_in_worker(recipe: SessionRecipe, call: RowCall[Row], rows: Sequence[Row]) -> list[RowOutcome]:
    """Call the function of rows in a worker process, with a session that is opened once in this process."""
    session = _sessions.get(recipe.key) or _sessions.setdefault(recipe.key, Session.from_recipe(recipe))
    return [call_row(call, session, row, lambda done, total: None) for row in rows]


# The number of threads for the rows of a call to a service outside of this process.
DEFAULT_WORKERS = 8

# The maximum number of threads. The connection pool of a session keeps as many connections open.
MAX_WORKERS = 64

_QUEUED = 4  # the number of tasks for each worker that are given to an executor before their turn

# The maximum number of rows in a task of another process. A task costs milliseconds in Dask and ipyparallel.
_MAX_CHUNK = 16

_TICK = 0.25  # the seconds between two calls of `tick`


class Executor(Protocol):
    """An object with the method `submit` of `concurrent.futures.Executor`."""

    def submit(self, function: Callable[..., Any], /, *args: Any) -> Future[Any]:
        """Call a function with arguments in a worker, and return the future of its result."""


# A generator of row numbers and outcomes, in the order in which the calls end. Closing it stops the calls.
Outcomes: TypeAlias = Generator[tuple[int, RowOutcome], None, None]


def check_workers(workers: object, executor: object) -> None:
    """Raise TypeError or ValueError for an argument `workers` or `executor` that is not valid."""
    if workers is not None:
        whole("workers", workers, 1, MAX_WORKERS)
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise TypeError(f"executor must have a method submit, like ThreadPoolExecutor, not {type(executor).__name__}")
    if executor is not None:
        check_function("executor.submit", executor.submit, ("function", "*arguments"))  # type: ignore[attr-defined]
    if workers is not None and executor is not None:
        raise ValueError("workers and executor are both given; the executor has workers of its own")


def row_outcomes(
    call: RowCall[Row],
    session: Session,
    numbers: Sequence[int],
    begin: Callable[[int], Row],
    progress: BatchProgress,
    workers: int | None = None,
    executor: Executor | None = None,
) -> Outcomes:
    """Call the function for each row, and yield the number and the outcome of each row.

    `begin` returns the row with a number. It is called in this thread, before the row waits for a worker. If no
    connection can be made, or if all rows of the last minute have lost theirs, so that the other rows would probably
    lose theirs too, the error of the last row is raised after its outcome. Without
    `workers`, a service in this process has one, and others have `DEFAULT_WORKERS` threads. The threads of this
    process share the session. The workers of any other executor open sessions of their own, so `call` and the rows must
    be picklable. The progress is drawn in this thread again and again while it waits for workers.
    """
    threads = min(workers or (1 if session.in_process else DEFAULT_WORKERS), len(numbers))
    if executor is not None and not isinstance(executor, ThreadPoolExecutor):
        recipe = session.recipe()
        outcomes = _on_executor(
            executor,
            numbers,
            lambda chunk: executor.submit(call_rows_in_worker, recipe, call, list(map(begin, chunk))),
            progress.draw,
            _MAX_CHUNK,
        )
    elif executor is not None or (threads > 1 and capabilities().threads):
        outcomes = _in_threads(executor or threads, call, session, numbers, begin, progress)
    else:
        outcomes = ((n, call_row(call, session, begin(n), progress.reports(n))) for n in numbers)
    lost_at: float | None = None
    with closing(outcomes):
        for n, outcome in outcomes:
            yield n, outcome
            error, now = outcome.error, session.elapsed()
            if not isinstance(error, errors.Interrupted):
                lost_at = None
            elif isinstance(error, errors.Unreachable) or getattr(error.__cause__, "hopeless", False):
                raise error
            elif lost_at is None:
                lost_at = now
            elif now - lost_at >= _SILENCE:
                raise error


class BatchStopped(BaseException):
    """Ends the transfer of a row in a thread, because the call was interrupted or another row failed for all rows."""


def _in_threads(
    pool: ThreadPoolExecutor | int,
    call: RowCall[Row],
    session: Session,
    numbers: Sequence[int],
    begin: Callable[[int], Row],
    progress: BatchProgress,
) -> Outcomes:
    """Run the calls in the threads of a pool, or in that number of new threads. An interrupt stops the transfers."""
    stop = Event()

    def sleep(seconds: float) -> None:
        if stop.wait(seconds):
            raise BatchStopped

    def run(n: int, row: Row) -> list[RowOutcome]:
        report = progress.reports(n)

        def report_or_stop(done: int, total: int | None) -> None:
            if stop.is_set():
                raise BatchStopped
            report(done, total)

        token = thread_sleep.set(sleep)
        try:
            return [call_row(call, session, row, report_or_stop)]
        finally:
            thread_sleep.reset(token)

    with ThreadPoolExecutor(pool, "svc-row") if isinstance(pool, int) else nullcontext(pool) as threads:
        try:
            yield from _on_executor(
                threads, numbers, lambda chunk: threads.submit(run, chunk[0], begin(chunk[0])), progress.draw
            )
        finally:
            stop.set()


def _on_executor(
    executor: Executor,
    numbers: Sequence[int],
    submit: Callable[[Sequence[int]], Future[list[RowOutcome]]],
    tick: Callable[[], None],
    max_chunk: int = 1,
) -> Outcomes:
    """Submit the calls of rows to an executor in chunks, a few ahead of their turn, and yield their outcomes.

    A chunk has at most `max_chunk` rows, and fewer if some workers would otherwise have no rows.
    """
    ended: SimpleQueue[tuple[Sequence[int], Future[list[RowOutcome]]]] = SimpleQueue()
    ahead = _QUEUED * (getattr(executor, "_max_workers", None) or MAX_WORKERS)
    size = min(max_chunk, max(1, len(numbers) // ahead))
    futures: dict[int, Future[list[RowOutcome]]] = {}
    waiting = (numbers[n : n + size] for n in range(0, len(numbers), size))

    def start(chunk: Sequence[int]) -> None:
        future = futures[chunk[0]] = submit(chunk)
        future.add_done_callback(lambda done: ended.put((chunk, done)))

    try:
        for chunk in islice(waiting, ahead):
            start(chunk)
        while futures:
            try:
                chunk, future = ended.get(timeout=_TICK)
            except Empty:
                tick()
                continue
            del futures[chunk[0]]
            for following in islice(waiting, 1):
                start(following)
            yield from zip(chunk, future.result(), strict=True)
    finally:
        for future in futures.values():
            future.cancel()
