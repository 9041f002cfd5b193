"""The client's half of a resumable upload: what to do next, and what an answer means (A3-20 to A3-25).

    machine = ResumableUpload(total, chunk_size)
    while not isinstance(step := machine.next_step(), Done | Failed):
        machine.feed(outcome of doing the step, now, chance)

The machine never assumes that what was sent is stored. After a 308 it goes on behind the Range of the answer;
after a broken connection or a 5xx it is uncertain, and asks before it sends more. No I/O, no clock, no dice:
the caller carries out the steps, tells the time and throws the chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from ..errors.catalogue import LASTING_REASONS, RATE_LIMIT_REASONS
from ..http.backoff import RetryRule
from ..http.ranges import ByteSpan, ContentRange, parse_stored
from .states import EVENT_BY_STATUS, UploadEvent, UploadState, transition

RETRIED = frozenset({408, 429, 500, 502, 503, 504})
"""Statuses after which it is worth to wait and to ask; a 403 joins them when its reason is a rate limit."""


@dataclass(frozen=True, slots=True)
class Begin:
    """Open a session."""


@dataclass(frozen=True, slots=True)
class Send:
    """Put bytes from `first` on: `size` of them at most (None: to the end); `total` None: not known yet."""

    first: int
    size: int | None
    total: int | None

    def content_range(self, sent: int, total: int | None) -> ContentRange:
        """The Content-Range of the bytes that were really read for this step."""
        return ContentRange(ByteSpan(self.first, self.first + sent - 1) if sent else None, total)


@dataclass(frozen=True, slots=True)
class QueryStatus:
    """Ask for the status: an empty PUT with Content-Range bytes */total."""

    total: int | None


@dataclass(frozen=True, slots=True)
class Wait:
    """Wait so many seconds, then go on."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Done:
    """The upload is complete; the last answer that was fed holds the metadata."""


class FailureReason(Enum):
    """Why an upload failed."""

    REFUSED = "the service refused it"
    EXPIRED = "the session is gone"
    CANCELLED = "the upload was cancelled"
    GAVE_UP = "no progress for too long"
    UNREWINDABLE = "the service needs bytes again that the source cannot give"
    DATA_LOSS = "the service says that it holds more than was sent"


@dataclass(frozen=True, slots=True)
class Failed:
    """The upload cannot go on."""

    reason: FailureReason


Step: TypeAlias = Begin | Send | QueryStatus | Wait | Done | Failed


@dataclass(frozen=True, slots=True)
class ResponseFacts:
    """What the machine needs of an answer."""

    status: int
    stored_range: str | None = None
    reason: str | None = None
    retry_after: float | None = None

    @property
    def worth_retrying(self) -> bool:
        """Whether waiting may help."""
        if self.status in RETRIED:
            return self.reason not in LASTING_REASONS
        return self.status == 403 and self.reason in RATE_LIMIT_REASONS


class ResumableUpload:
    """The next step of an upload, and what becomes of it.

    `total` and `chunk_size` are in bytes, None when not known and for a single request; `session_open`
    starts with the question where an earlier process stopped; `lowest` is the first byte that the source
    can still give (a stream that cannot be rewound moves it on).
    """

    def __init__(
        self,
        total: int | None,
        chunk_size: int | None,
        *,
        session_open: bool = False,
        retry: RetryRule | None = None,
        restarts: int = 3,
        now: float = 0.0,
    ) -> None:
        self.total = total
        self.chunk_size = chunk_size
        self.retry = retry or RetryRule()
        self.state = UploadState.OPEN if session_open else UploadState.NONE
        self.stored = 0
        self.first_available = 0
        self.failures = 0
        self.too_long: float | None = None  # the wait that the service asked for, where it was given up for that
        self.restarts_left = restarts
        self._certain = not session_open
        self._highest = 0  # the most that this session ever acknowledged: only more than that is progress
        self._losses = 0  # since the last progress
        self._range_missing = (
            False  # a chunk was answered without a Range, and the question after it is not answered yet
        )
        self._sent_end = 0  # the end of what was ever sent in this session: the service cannot hold more
        self._is_resumed = session_open  # another process may have sent more than this one knows of
        self._progress_at = self._started_at = now
        self._pending: Step | None = None

    def next_step(self) -> Step:
        """What to do now; the same until something is fed."""
        if self._pending is not None:
            return self._pending
        if self.state is UploadState.NONE:
            return Begin()
        if self.state is UploadState.COMPLETE:
            return Done()
        return self._send() if self._certain else QueryStatus(self.total)

    def _send(self) -> Step:
        if self.stored < self.first_available:
            return Failed(FailureReason.UNREWINDABLE)
        left = None if self.total is None else self.total - self.stored
        sizes = [size for size in (left, self.chunk_size) if size is not None]
        return Send(self.stored, min(sizes, default=None), self.total)

    def set_total(self, total: int) -> None:
        """The source turned out to end here."""
        self.total = total

    def sent(self, end: int) -> None:
        """The bytes up to `end` are about to leave: the service may hold them from now on."""
        self._sent_end = max(self._sent_end, end)

    def invalidate(self) -> None:
        """Ask before more is sent, though nothing failed: a person wants to know, or broke it off."""
        if self.state is UploadState.OPEN:
            self._certain, self._pending = False, None

    def waited(self) -> None:
        """A `Wait` was carried out."""
        self._pending = None

    def connection_lost(self, now: float, chance: float) -> None:
        """The connection broke, or the answer could not be read: whether anything arrived is not known."""
        self._certain = False
        self._back_off(None, now, chance)

    def feed(self, response: ResponseFacts, now: float, chance: float) -> None:
        """Take in what the service answered to the step that was carried out."""
        if response.worth_retrying:
            self._certain = False
            return self._back_off(response.retry_after, now, chance)
        if self.state is UploadState.NONE:
            return self._session_opened(response, now)
        event = EVENT_BY_STATUS.get(response.status)
        if event is None:
            return self._fail(FailureReason.REFUSED)
        return self._apply_event(event, response, now, chance)

    def _session_opened(self, response: ResponseFacts, now: float) -> None:
        if response.status not in (200, 201):
            return self._fail(FailureReason.REFUSED)
        self.state = transition(UploadState.NONE, UploadEvent.ACCEPTED).state
        self.stored = self._sent_end = self._highest = 0
        self._certain, self._is_resumed = True, False
        self._progress(now)

    def _apply_event(self, event: UploadEvent, response: ResponseFacts, now: float, chance: float) -> None:
        was_query = not self._certain
        self.state = transition(self.state, event).state
        if self.state is UploadState.EXPIRED:
            self._restart()
        elif self.state is UploadState.CANCELLED:
            self._fail(FailureReason.CANCELLED)
        elif self.state is UploadState.OPEN:
            self._stored(response, was_query, now, chance)

    def _restart(self) -> None:
        if self.first_available or not self.restarts_left:
            return self._fail(FailureReason.EXPIRED)
        self.restarts_left -= 1
        self.state = UploadState.NONE
        self._certain = True

    def _stored(self, response: ResponseFacts, was_query: bool, now: float, chance: float) -> None:
        try:
            stored = parse_stored(response.stored_range)
        except ValueError:
            return self.connection_lost(now, chance)
        if stored > self._limit():
            return self._fail(FailureReason.DATA_LOSS)
        # A 308 to data without a Range is rare and may be untrue: one question settles it.
        self._certain = was_query or response.stored_range is not None or not self._sent_end
        self._range_missing |= not self._certain
        self._update_stored(stored, was_query, now, chance)
        return None

    def _limit(self) -> float:
        if self._is_resumed:
            return float("inf") if self.total is None else self.total
        return self._sent_end

    def _update_stored(self, stored: int, was_query: bool, now: float, chance: float) -> None:
        grown, setback = stored > self.stored, stored < self.stored or self._range_missing
        self.stored = stored
        if not self._certain:
            return
        if self._is_resumed:
            self._sent_end, self._is_resumed = max(self._sent_end, stored), False
        self._range_missing = False
        if stored > self._highest:
            self._highest = stored
            self._progress(now)
        elif not (was_query or grown):
            self._back_off(None, now, chance)  # the chunk was taken, and not a byte of it kept
        elif setback:
            self._setback(now, chance)

    def _setback(self, now: float, chance: float) -> None:
        """What was taken is not there after all: the first time that is believed, then it is a failure."""
        self._losses += 1
        if self._losses > 1:
            self._back_off(None, now, chance)

    def _progress(self, now: float) -> None:
        self.failures = self._losses = 0
        self._progress_at = now

    def _back_off(self, retry_after: float | None, now: float, chance: float) -> None:
        self.failures += 1
        left = self.retry.time_left(since_progress=now - self._progress_at, since_start=now - self._started_at)
        wait = self.retry.wait(self.failures, chance, retry_after, left)
        if wait is None:
            self.too_long = retry_after if retry_after and retry_after > left else None
            return self._fail(FailureReason.GAVE_UP)
        self._pending = Wait(wait)
        return None

    def _fail(self, reason: FailureReason) -> None:
        self._pending = Failed(reason)
