"""Runs the calls of all rows one after another, in threads, or on an executor such as those of Dask and ipyparallel."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from itertools import islice
from queue import Empty, SimpleQueue
from threading import Event
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, TypeVar

from ...client.transport.retry import repeated_requests, thread_sleep
from ...core.errors.caller_warning import CallerWarnings, collected_warnings
from ...core.errors.errors import (
    AlreadyExists,
    BadRequest,
    ContentMismatch,
    NotAllowed,
    NotFound,
    SessionExpired,
    SourceChanged,
)
from ...core.platform import capabilities
from ...core.user_functions import check_function
from ..arguments import whole

if TYPE_CHECKING:
    from ...client.session import Session, SessionRecipe


# -- calls the function of one row, in this process or in a worker process, and returns the outcome of the call


Row = TypeVar("Row")

Report: TypeAlias = Callable[[int, int | None], None]
"""A function that is called with the bytes done and the total bytes. The total is None if it is not known."""

RowCall: TypeAlias = "Callable[[Session, Row, Report], Mapping[str, Any]]"
"""A function that is called for each row and returns the record of its result.

For worker processes it must be picklable: a function of a module, or a `functools.partial` of one.
"""

ROW_ERRORS = (AlreadyExists, BadRequest, ContentMismatch, NotAllowed, NotFound, SessionExpired, SourceChanged, OSError)
"""The exception types that concern only one row, so that the calls for the other rows may succeed."""


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


_sessions: dict[str, Session] = {}
"""The sessions of this worker process by the keys of their recipes. The calls of all rows share a session."""


def call_row_in_worker(recipe: SessionRecipe, call: RowCall[Row], row: Row) -> RowOutcome:
    """Call the function of a row in a worker process, with a session that is opened once in this process."""
    from ...client.session import Session

    session = _sessions.get(recipe.key) or _sessions.setdefault(recipe.key, Session.from_recipe(recipe))
    return call_row(call, session, row, lambda done, total: None)


DEFAULT_WORKERS = 8
"""The number of threads for the rows of a call to a service outside of this process."""

MAX_WORKERS = 64
"""The maximum number of threads. The connection pool of a session keeps as many connections open."""

_QUEUED = 4
"""The number of rows for each worker that are given to an executor before their turn."""

_TICK = 0.25
"""The seconds between two calls of `tick`."""


class Executor(Protocol):
    """An object with the method `submit` of `concurrent.futures.Executor`."""

    def submit(self, function: Callable[..., Any], /, *args: Any) -> Future[Any]:
        """Call a function with arguments in a worker, and return the future of its result."""


Item = TypeVar("Item")

Outcomes: TypeAlias = Generator[tuple[int, RowOutcome], None, None]
"""A generator of row numbers and outcomes, in the order in which the calls end. Closing it stops the calls."""


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
    reports: Callable[[int], Report],
    tick: Callable[[], None] = lambda: None,
    *,
    workers: int | None = None,
    executor: Executor | None = None,
) -> Outcomes:
    """Call the function for each row, and yield the number and the outcome of each row.

    `begin` returns the row with a number. It is called in this thread, before the row waits for a worker. `reports`
    returns the function that reports the progress of a row, given its number. None as `workers` means one for a service
    in this process, and `DEFAULT_WORKERS` threads otherwise. The threads of this process share the session. The workers
    of any other executor open sessions of their own, so `call` and the rows must be picklable. `tick` is called in this
    thread again and again while it waits for workers.
    """
    if executor is not None and not isinstance(executor, ThreadPoolExecutor):
        recipe = session.recipe()
        return _on_executor(
            executor, numbers, lambda n: executor.submit(call_row_in_worker, recipe, call, begin(n)), tick
        )
    threads = min(workers or (1 if session.in_process else DEFAULT_WORKERS), len(numbers))
    if executor is not None or (threads > 1 and capabilities().threads):
        return _in_threads(executor or threads, call, session, numbers, begin, reports, tick)
    return ((n, call_row(call, session, begin(n), reports(n))) for n in numbers)


class BatchStopped(BaseException):
    """Ends the transfer of a row in a thread, because the call was interrupted or another row failed for all rows."""


def _in_threads(
    pool: ThreadPoolExecutor | int,
    call: RowCall[Row],
    session: Session,
    numbers: Sequence[int],
    begin: Callable[[int], Row],
    reports: Callable[[int], Report],
    tick: Callable[[], None],
) -> Outcomes:
    """Run the calls in the threads of a pool, or in that number of new threads. An interrupt stops the transfers."""
    stop = Event()

    def sleep(seconds: float) -> None:
        if stop.wait(seconds):
            raise BatchStopped

    def run(n: int, row: Row) -> RowOutcome:
        report = reports(n)

        def report_or_stop(done: int, total: int | None) -> None:
            if stop.is_set():
                raise BatchStopped
            report(done, total)

        token = thread_sleep.set(sleep)
        try:
            return call_row(call, session, row, report_or_stop)
        finally:
            thread_sleep.reset(token)

    with ExitStack() as stack:
        threads = stack.enter_context(ThreadPoolExecutor(pool, "svc-row")) if isinstance(pool, int) else pool
        stack.callback(stop.set)
        yield from _on_executor(threads, numbers, lambda n: threads.submit(run, n, begin(n)), tick)


def _on_executor(
    executor: Executor, numbers: Sequence[int], submit: Callable[[int], Future[RowOutcome]], tick: Callable[[], None]
) -> Outcomes:
    """Submit the calls of rows to an executor, a few ahead of their turn, and yield their outcomes."""
    ended: SimpleQueue[tuple[int, Future[RowOutcome]]] = SimpleQueue()
    ahead = _QUEUED * (getattr(executor, "_max_workers", None) or MAX_WORKERS)
    futures: dict[int, Future[RowOutcome]] = {}
    waiting = iter(numbers)

    def start(n: int) -> None:
        future = futures[n] = submit(n)
        future.add_done_callback(lambda done: ended.put((n, done)))

    try:
        for n in islice(waiting, ahead):
            start(n)
        while futures:
            n, future = _wait_for(ended, tick)
            del futures[n]
            for following in islice(waiting, 1):
                start(following)
            yield n, future.result()
    finally:
        for future in futures.values():
            future.cancel()


def _wait_for(queue: SimpleQueue[Item], tick: Callable[[], None]) -> Item:
    """Return the next item of a queue. Call `tick` while there is none."""
    while True:
        try:
            return queue.get(timeout=_TICK)
        except Empty:
            tick()
