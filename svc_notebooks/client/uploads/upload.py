"""A resumable upload in a person's hands: run to its end, or stepped chunk by chunk (A3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, RLock
from types import TracebackType

from ...core.clock import format_time
from ...core.errors.errors import SessionExpired
from ...core.http.messages import JSONObject
from ...core.process_fork import after_fork
from ...core.uploads.client_state_machine import FailureReason
from ...core.uploads.states import QUANTUM, UploadState
from ..session import Session
from ..transport.retry import RetryBudget
from ..upload_journal import JournalLock, PendingUpload
from .bodies import Progress
from .resumable_transfer import DEFAULT_CHUNK, UploadDriver
from .sources import UploadSource
from .upload_target import UploadTarget

WHOLE = -1
"""A chunk size that means: everything in a single request."""


def checked_chunk(size: int | None) -> int | None:
    """The chunk size in bytes, None for a single request. Raises ValueError with the nearest ones (A3-24).

    >>> checked_chunk(300_000)
    Traceback (most recent call last):
    ValueError: chunk_size 300000 is no multiple of 262144 (256 KiB); take 262144 or 524288
    """
    if size is None:
        return DEFAULT_CHUNK
    if isinstance(size, bool) or not isinstance(size, int):
        raise TypeError(f"chunk_size is {type(size).__name__}; give a number of bytes")
    if size == WHOLE:
        return None
    if size <= 0 or size % QUANTUM:
        below = max(size - size % QUANTUM, QUANTUM)
        near = f"{below} or {below + QUANTUM}" if size > QUANTUM else str(QUANTUM)
        raise ValueError(f"chunk_size {size} is no multiple of {QUANTUM} (256 KiB); take {near}")
    return size


class ClientUpload:
    """One upload session, to be run to its end or stepped by hand.

    `history` has a dict for each step: n, action (begin, send, ask, wait, cancel), first, last, total, sent (bytes
    that left, of a broken request as well), status, stored, waited (seconds), state and error. `run` and the others
    raise SvcError when the upload cannot go on and the source's own OSError when it cannot be read; either way, and
    after KeyboardInterrupt, `resume` asks the service where it stands and goes on.

    Threads may share it: each call waits until the one before it has returned, but `cancel` waits for one step only,
    and the call that it ends raises SessionExpired.
    """

    def __init__(
        self,
        session: Session,
        source: UploadSource,
        target: UploadTarget,
        *,
        chunk_size: int | None = DEFAULT_CHUNK,
        session_uri: str | None = None,
        progress: Progress | None = None,
        claim: JournalLock | None = None,
    ) -> None:
        self.source = source
        self.target = target
        self._session = session
        self._lock = RLock()
        self._cancelling = Event()
        after_fork(self, ClientUpload._renew_lock)
        self._ticket = _Ticket(session, source, target, chunk_size, claim)
        self._driver = UploadDriver(
            session,
            source,
            target,
            self._ticket,
            chunk_size=chunk_size,
            session_uri=session_uri,
            progress=progress,
        )

    def _renew_lock(self) -> None:
        self._lock = RLock()
        self._cancelling = Event()

    # -- what it knows

    @property
    def history(self) -> list[dict[str, object]]:
        """What was done, step by step."""
        return self._driver.history

    @property
    def session_uri(self) -> str | None:
        """Where the session is; with it any process can go on."""
        return self._driver.session_uri

    @property
    def file(self) -> JSONObject | None:
        """The file's metadata, once the service has all of it."""
        return self._driver.file

    @property
    def done(self) -> bool:
        """Whether the service has all of it."""
        return self.file is not None

    @property
    def state(self) -> UploadState:
        """Where the session stands, as far as the answers tell."""
        return self._driver.machine.state

    @property
    def stored(self) -> int:
        """The bytes that the service is known to have."""
        return self._driver.stored

    @property
    def total(self) -> int | None:
        """The bytes of the whole, None while that is not known."""
        return self._driver.machine.total

    def __repr__(self) -> str:
        whole = "an unknown number of" if self.total is None else self.total
        name = self.target.metadata.get("name") or self.source.name or "bytes"
        return f"<Upload {name}: {self.stored} of {whole} bytes, {self.state.value}>"

    def __enter__(self) -> ClientUpload:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the source and of its place in the journal; the session stays open on the service."""
        self.source.close()
        self._ticket.release()

    # -- what a person asks for

    def run(self) -> JSONObject:
        """Go on until the service has everything; its metadata of the file."""
        with self._lock:
            self._ticket.reclaim()
            try:
                self._until(lambda: self.done)
            finally:
                self.close()
            assert self.file is not None
            return self.file

    def resume(self) -> JSONObject:
        """Ask where the service stands, go on from there to the end; with fresh patience."""
        with self._lock:
            if not self.done:
                self._driver.refresh()
            return self.run()

    def begin(self) -> ClientUpload:
        """Open the session, if there is none yet."""
        with self._lock:
            self._until(lambda: self.session_uri is not None)
        return self

    def step(self) -> dict[str, object]:
        """Make one step, a request or a wait; its row of the history. Raises ValueError when all is done."""
        with self._lock:
            if self.done:
                raise ValueError("the upload is complete; there is no step left")
            seen = len(self.history)
            return self._until(lambda: self.done or len(self.history) > seen)

    def send_chunk(self) -> dict[str, object]:
        """Send the next chunk, after whatever must come before it; its row of the history.

        Raises ValueError when everything is sent already.
        """
        with self._lock:
            if self.done:
                raise ValueError("the upload is complete; there is no chunk left to send")
            return self._until(self._next("send", or_done=True))

    def status(self) -> dict[str, object]:
        """Ask the service what it has; the question's row of the history. Raises ValueError before `begin`."""
        self._check_begun()
        with self._lock:
            if self.state is not UploadState.OPEN:
                self._driver.query_finished()
                return self.history[-1]
            self._driver.machine.invalidate()
            return self._until(self._next("ask"))

    def cancel(self) -> dict[str, object]:
        """Tell the service to forget the session; the row of the history. Raises Interrupted, SvcError."""
        self._check_begun()
        self._cancelling.set()
        try:
            with self._lock:
                patience = RetryBudget(self._session)
                while self._driver.delete() is None:
                    if not patience.wait():
                        raise self._driver.failure(FailureReason.GAVE_UP)
                self.close()
                return self.history[-1]
        finally:
            self._cancelling.clear()

    def _check_begun(self) -> None:
        if self.session_uri is None:
            raise ValueError("the upload has no session yet; begin() or send_chunk() opens one")

    def _next(self, action: str, *, or_done: bool = False) -> Callable[[], bool]:
        """Whether such a step was made from now on."""
        seen = len(self.history)

        def made() -> bool:
            return (or_done and self.done) or any(row["action"] == action for row in self.history[seen:])

        return made

    def _until(self, reached: Callable[[], bool]) -> dict[str, object]:
        """Step until then; the source is open no longer than that."""
        with self._ticket.in_use():
            try:
                while not reached():
                    if self._cancelling.is_set():
                        raise SessionExpired("Another thread cancels this upload.")
                    self._driver.step()
            finally:
                self.source.close()
                if self.done:
                    self._ticket.release()
            return self.history[-1] if self.history else {}


class _Ticket:
    """What the journal is told of an upload."""

    def __init__(
        self,
        session: Session,
        source: UploadSource,
        target: UploadTarget,
        chunk_size: int | None,
        claim: JournalLock | None,
    ) -> None:
        self._session = session
        self._source = source
        self._target = target
        self._chunk_size = chunk_size
        self._claim = claim

    def opened(self, session_uri: str) -> None:
        fingerprint = self._source.fingerprint()
        if self._claim is not None and fingerprint is not None:
            self._claim.save(self._entry(self._claim.key, session_uri, fingerprint))

    def _entry(self, key: str, session_uri: str, fingerprint: str) -> PendingUpload:
        return PendingUpload(
            key=key,
            session_uri=session_uri,
            base_url=self._session.base_url,
            source=self._source.path,
            fingerprint=fingerprint,
            total=self._source.size,
            chunk_size=self._chunk_size,
            media_type=self._target.media_type,
            file_id=self._target.file_id,
            metadata=self._target.metadata,
            query=dict(self._target.query),
            started=format_time(self._session.clock.now()),
        )

    def closed(self) -> None:
        if self._claim is not None:
            self._claim.drop()

    def reclaim(self) -> None:
        """Take the place again, after it was given back."""
        if self._claim is not None and not self._claim.held:
            self._claim = self._session.pending.claim(self._claim.key)

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """While the upload sends, no other call of this process may take its place."""
        claim = self._claim
        if claim is None:
            yield
            return
        before, claim.busy = claim.busy, True
        try:
            yield
        finally:
            claim.busy = before

    def release(self) -> None:
        if self._claim is not None:
            self._claim.release()
