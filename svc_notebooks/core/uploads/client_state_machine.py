"""The client side of a resumable upload as a state machine without I/O (A3-20 to A3-25).

    machine = ResumableUpload(total, chunk_size)
    while not isinstance(step := machine.next_step(), Done | Failed):
        machine.feed(response to the step, now, chance)

The machine never assumes that sent bytes are stored. It continues after the Range of a 308 response, and queries the
status after a lost connection or a 5xx. The caller performs the steps, and passes the time and random numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, TypeAlias

from ..errors.catalogue import LASTING_REASONS, RATE_LIMIT_REASONS
from ..http.backoff import Backoff, RetryRule
from ..http.ranges import ByteSpan, ContentRange, parse_stored
from .transitions import EVENT_BY_STATUS, UploadEvent, UploadState, transition

# The statuses after which the client waits and retries, in addition to a 403 with a rate limit reason.
RETRIED = frozenset({408, 429, 500, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class Begin:
    """A step that starts an upload session."""


class Send(NamedTuple):
    """A step that sends `size` bytes (None for all) from offset `first`. `total` is the upload size, or None."""

    first: int
    size: int | None
    total: int | None

    def content_range(self, sent: int, total: int | None) -> ContentRange:
        """Return the Content-Range for `sent` bytes from `first` on, or for a status query if `sent` is 0."""
        return ContentRange(ByteSpan(self.first, self.first + sent - 1) if sent else None, total)


@dataclass(frozen=True, slots=True)
class QueryStatus:
    """A step that queries the number of stored bytes by an empty PUT with Content-Range bytes */total."""

    total: int | None


@dataclass(frozen=True, slots=True)
class Wait:
    """A step that waits before the next request."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Done:
    """The last step of a complete upload, whose last response has the file's metadata."""


class FailureReason(Enum):
    """The reasons for which an upload can fail."""

    REFUSED = "the service refused the upload"
    EXPIRED = "the upload session no longer exists"
    CANCELLED = "the upload was cancelled"
    GAVE_UP = "no progress for too long"
    UNREWINDABLE = "the service needs earlier bytes again, and the source cannot be read again"
    DATA_LOSS = "the service reports more stored bytes than were sent"


@dataclass(frozen=True, slots=True)
class Failed:
    """The last step of an upload that cannot continue."""

    reason: FailureReason


Step: TypeAlias = Begin | Send | QueryStatus | Wait | Done | Failed


class ResponseFacts(NamedTuple):
    """The response values for the state machine, such as the Range header and Retry-After in seconds."""

    status: int
    stored_range: str | None = None
    reason: str | None = None
    retry_after: float | None = None

    @property
    def worth_retrying(self) -> bool:
        """True if a later repetition of the request may succeed."""
        if self.status in RETRIED:
            return self.reason not in LASTING_REASONS
        return self.status == 403 and self.reason in RATE_LIMIT_REASONS


class ResumableUpload:
    """The state machine of a resumable upload, which determines the next step.

    `total` is the size in bytes, or None if unknown. `chunk_size` is the content size per request, or None to send all
    content in one request. `session_open` means that an earlier process opened the session. `first_available` is the
    first byte that the source can still read, which increases for a stream that cannot be rewound.
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
        self.backoff = Backoff(retry or RetryRule(), now)
        self.state = UploadState.OPEN if session_open else UploadState.NONE
        self.stored = 0
        self.first_available = 0
        self.restarts_left = restarts
        self._certain = not session_open
        self._highest = 0  # the most bytes that the session ever acknowledged; only more bytes are progress
        self._losses = 0  # the number of losses since the last progress
        self._range_missing = False  # a 308 to a chunk had no Range, and the status query after it has no response yet
        self.sent_end = 0  # the end of the bytes sent in this session; the service cannot hold more
        self._is_resumed = session_open
        self._pending: Step | None = None

    def next_step(self) -> Step:
        """Return the next step, which stays the same until the caller reports its result."""
        if self._pending is not None:
            return self._pending
        if self.state is UploadState.NONE:
            return Begin()
        if self.state is UploadState.COMPLETE:
            return Done()
        if not self._certain:
            return QueryStatus(self.total)
        if self.stored < self.first_available:
            return Failed(FailureReason.UNREWINDABLE)
        size = self.chunk_size
        if self.total is not None:
            left = self.total - self.stored
            size = left if size is None else min(left, size)
        return Send(self.stored, size, self.total)

    def note_sent(self, end: int) -> None:
        """Record that bytes up to `end` are being sent, so that the service may report them as stored."""
        self.sent_end = max(self.sent_end, end)

    def invalidate(self) -> None:
        """Make the next step a status query, for example after an interrupt. No effect without an open session."""
        if self.state is UploadState.OPEN:
            self._certain, self._pending = False, None

    def end_wait(self) -> None:
        """Record the end of a `Wait` step."""
        self._pending = None

    def lose_connection(self, now: float, chance: float) -> None:
        """Record a lost connection or unreadable response at `now` seconds. `chance` is random from 0 to 1."""
        self._certain = False
        self._back_off(None, now, chance)

    def feed(self, response: ResponseFacts, now: float, chance: float) -> None:
        """Update the state by the response to the last step at `now` seconds. `chance` is random from 0 to 1."""
        if response.status >= 400 and response.worth_retrying:
            self._certain = False
            return self._back_off(response.retry_after, now, chance)
        if self.state is UploadState.NONE:
            if response.status not in (200, 201):
                return self._fail(FailureReason.REFUSED)
            self.state = transition(UploadState.NONE, UploadEvent.ACCEPTED).state
            self.stored = self.sent_end = self._highest = 0
            self._certain, self._is_resumed = True, False
            return self._progress(now)
        event = EVENT_BY_STATUS.get(response.status)
        if event is None:
            return self._fail(FailureReason.REFUSED)
        was_query = not self._certain
        self.state = transition(self.state, event).state
        if self.state is UploadState.EXPIRED:
            if self.first_available or not self.restarts_left:
                return self._fail(FailureReason.EXPIRED)
            self.restarts_left -= 1
            self.state = UploadState.NONE
            self._certain = True
        elif self.state is UploadState.CANCELLED:
            self._fail(FailureReason.CANCELLED)
        elif self.state is UploadState.OPEN:
            self._handle_range(response.stored_range, was_query, now, chance)
        return None

    def _handle_range(self, stored_range: str | None, was_query: bool, now: float, chance: float) -> None:
        try:
            stored = parse_stored(stored_range)
        except ValueError:
            return self.lose_connection(now, chance)
        # After a resume, another process may have sent more bytes than this process has sent.
        limit = self.sent_end if not self._is_resumed else float("inf") if self.total is None else self.total
        if stored > limit:
            return self._fail(FailureReason.DATA_LOSS)
        # A 308 without a Range in response to data is rare and may be wrong: a query settles it.
        self._certain = was_query or stored_range is not None or not self.sent_end
        self._range_missing |= not self._certain
        has_grown, is_setback = stored > self.stored, stored < self.stored or self._range_missing
        self.stored = stored
        if not self._certain:
            return None
        if self._is_resumed:
            self.sent_end, self._is_resumed = max(self.sent_end, stored), False
        self._range_missing = False
        if stored > self._highest:
            self._highest = stored
            self._progress(now)
        elif not (was_query or has_grown):
            self._back_off(None, now, chance)  # the service accepted the chunk and stored no byte
        elif is_setback:
            self._losses += 1  # the service lost stored bytes: one loss is tolerated, a second is a failure
            if self._losses > 1:
                self._back_off(None, now, chance)
        return None

    def _progress(self, now: float) -> None:
        self._losses = 0
        self.backoff.progress(now)

    def _back_off(self, retry_after: float | None, now: float, chance: float) -> None:
        wait = self.backoff.wait(now, chance, retry_after)
        self._pending = Failed(FailureReason.GAVE_UP) if wait is None else Wait(wait)

    def _fail(self, reason: FailureReason) -> None:
        self._pending = Failed(reason)
