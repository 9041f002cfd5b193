"""Shows operators whether a service can answer, how each request ended, and how much waits."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable, Iterator, Mapping
from time import perf_counter
from typing import TypeAlias

from ..core.http.messages import Response, close_body
from .dispatch.journal import JournalEntry
from .dispatch.service_context import ServiceContext
from .notifications.delivery_queue import DeliveryQueue
from .store.blob_store import BlobStore, StoredPart, missing_part

Observer: TypeAlias = Callable[[JournalEntry, float], None]
"""Is called once for each request that has ended, with its journal entry and its duration in seconds."""

_NO_PART = StoredPart("0" * 32, 0, None)


class Monitor:
    """The state of a service for its operator. `observers` are called for each request that has ended."""

    def __init__(
        self, context: ServiceContext, parts: BlobStore, observers: list[Observer], queue: DeliveryQueue
    ) -> None:
        self._context, self._parts, self._queue = context, parts, queue
        self.observers = observers

    def problems(self) -> dict[str, str]:
        """Return why the "database" or the "contents" cannot be reached, or {} if requests can be answered."""
        problems = {}
        try:
            with self._context.store.reading():
                self._context.store.check_connection()
        except OSError as error:
            problems["database"] = str(error)
        folder = self._context.folder
        try:
            problem = self._parts.problem(_NO_PART)
        except OSError as error:
            problem = str(error)
        if folder and not folder.is_dir():
            problem = f"{folder.name} is missing"
        if problem and problem != missing_part(_NO_PART.key):
            problems["contents"] = problem
        return problems

    def user_hash(self, user: str) -> str:
        """Return a text that is the same for each request of a user, and from which nobody can compute the address."""
        return hmac.new(self._context.secret.encode(), user.encode(), "sha256").hexdigest()[:16]

    def open_upload_sessions(self) -> int:
        """Return the number of upload sessions that still lack bytes."""
        return self._context.store.upload_sessions.count_open()

    def queued_messages(self) -> int:
        """Return the number of messages that were not delivered yet, in the queues of all channels."""
        return self._context.store.outbox.count()

    @property
    def deliveries(self) -> Mapping[str, int]:
        """The number of attempts of this process to deliver a message, by status."""
        return self._queue.attempts

    def measure_waits(self, observe: Callable[[float], None]) -> None:
        """Call `observe` with the seconds for which each transaction waits for others before it begins."""
        self._context.store.observe_waits(observe)


class Observation:
    """A request in progress that observers watch."""

    def __init__(self, observers: list[Observer], entry: JournalEntry) -> None:
        self._observers, self._entry, self._started = observers, entry, perf_counter()

    def end(self) -> None:
        """Call the observers."""
        seconds = perf_counter() - self._started
        for observe in self._observers:
            observe(self._entry, seconds)

    def until_sent(self, response: Response) -> Response:
        """Return a response after whose body the observers are called."""
        if isinstance(response.body, bytes):
            self.end()
            return response
        return Response(response.status, response.headers, _ObservedBody(response.body, self.end))


class _ObservedBody:
    """The blocks of a response body, after which the function `end` is called once."""

    def __init__(self, blocks: Iterable[bytes], end: Callable[[], None]) -> None:
        self._source, self._blocks, self._end = blocks, iter(blocks), end

    def __iter__(self) -> Iterator[bytes]:
        return self._blocks

    def close(self) -> None:
        end, self._end = self._end, lambda: None
        try:
            close_body(self._source)
        finally:
            end()
