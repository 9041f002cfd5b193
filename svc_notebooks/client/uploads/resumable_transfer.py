"""The talk of a resumable upload: each step is carried out, each answer heard, each leaves a row (A3-20 to A3-25).

core.resume decides what to do next and what an answer means; here requests are sent, time passes and bytes are
read.
"""

from __future__ import annotations

import json
from typing import Protocol
from urllib.parse import urljoin, urlsplit

from ...core.errors.errors import (
    ContentMismatch,
    Interrupted,
    ServiceFailed,
    SessionExpired,
    SvcError,
    Unreachable,
    read_envelope,
)
from ...core.http.messages import JSON, JSONObject, Request, Response
from ...core.http.ranges import ContentRange
from ...core.uploads.client_state_machine import (
    Begin,
    Failed,
    FailureReason,
    QueryStatus,
    ResponseFacts,
    ResumableUpload,
    Send,
    Wait,
)
from ...core.uploads.states import UploadState
from ..files import get_file
from ..session import Session
from ..transport.in_process import TransportError
from .bodies import Progress, SourceStream
from .sources import SourceFailed, UploadSource
from .upload_target import UploadTarget

DEFAULT_CHUNK = 8 * 1024 * 1024
"""Bytes of a chunk unless the person says otherwise: 32 times the quantum."""

_SESSION_GONE = frozenset(
    {FailureReason.EXPIRED, FailureReason.CANCELLED, FailureReason.DATA_LOSS, FailureReason.UNREWINDABLE}
)


_EXPIRED = UploadState.EXPIRED.value

_CHECK_FILE = "Look at the file before you use it, and upload it again."
_MORE_STORED = (
    "The service reports more of this upload ({stored}) than was sent from here: another thread or process is sending"
    " to the same session, or the report is wrong."
)
_WAIT_FOR_OTHER = "Let the other one finish and look at the file; or start a new upload."


class Ticket(Protocol):
    """The upload's place in the journal."""

    def opened(self, session_uri: str) -> None:
        """There is a session to resume."""

    def closed(self) -> None:
        """There is none any more."""


class UploadDriver:
    """One upload with its service; `file` is the metadata when it is complete.

    `step` raises SvcError when the upload cannot go on, and the source's own OSError when it cannot be read;
    whatever it raises, the next step asks where the service stands.
    """

    def __init__(
        self,
        session: Session,
        source: UploadSource,
        target: UploadTarget,
        ticket: Ticket,
        *,
        chunk_size: int | None,
        session_uri: str | None,
        progress: Progress | None,
    ) -> None:
        self.source = source
        self.target = target
        self.session_uri = session_uri
        self.history: list[dict[str, object]] = []
        self.file: JSONObject | None = None
        self.chunk_size = chunk_size
        self._session = session
        self._ticket = ticket
        self._progress = progress
        self._renewed = False
        self._all_sent = False  # a session that is gone now had everything: it may have made the file
        self._last = Response(0)
        self._broken: TransportError | None = None  # why there was no last answer
        self.refresh()
        source.keep((chunk_size or DEFAULT_CHUNK) + 1)  # one more, to see whether a stream ends

    def refresh(self) -> None:
        """Begin with fresh patience: a session that is open is asked first."""
        self.machine = ResumableUpload(
            self.source.size,
            self.chunk_size,
            session_open=self.session_uri is not None,
            retry=self._session.retry,
            now=self._session.elapsed(),
        )

    @property
    def stored(self) -> int:
        """The bytes that the service is known to have."""
        total = self.machine.total
        return total if self.machine.state is UploadState.COMPLETE and total is not None else self.machine.stored

    # -- steps

    def step(self) -> None:
        """Carry out the machine's next step, or raise why there is none."""
        try:
            self._carry_out()
            if isinstance(after := self.machine.next_step(), Failed) and self.file is None:
                self._fail(after.reason)
        except SourceFailed as failed:
            self.machine.invalidate()
            raise failed.error from None
        except BaseException:
            # The person broke it off, or the source changed: what the service has is not known.
            self.machine.invalidate()
            raise

    def _carry_out(self) -> None:
        self.machine.first_available = self.source.lowest
        match self.machine.next_step():
            case Begin():
                self._begin()
            case Send() as step:
                self._send(step)
            case QueryStatus(total):
                self._query_status(total)
            case Wait(seconds):
                self._wait(seconds)
            case Failed(reason):
                self._fail(reason)

    def _begin(self) -> None:
        if not self.target.whole:
            self._fail(FailureReason.EXPIRED)
        self._all_sent |= self._sent_everything()
        self._ticket.closed()
        self.session_uri = None
        request = self.target.begin(self._session, self.source.size)
        answer = self._exchange(request, "begin")
        if answer is not None and self.machine.state is UploadState.OPEN:
            self.session_uri = _location(request.url, answer)
            self._ticket.opened(self.session_uri)

    def _send(self, step: Send) -> None:
        size = self._size_to_send(step)
        self.machine.sent(step.first + size)
        total = self.machine.total
        pairs = [("Content-Length", str(size))]
        if not (step.first == 0 and size == total and (self.chunk_size is None or not total)):
            pairs.append(("Content-Range", str(step.content_range(size, total))))
        body = SourceStream(self.source, step.first, size, self._progress)
        request = Request("PUT", self._uri, self._session.headers(*pairs), body if size else b"")
        self._exchange(request, "send", step.first, size)

    def _size_to_send(self, step: Send) -> int:
        """How many bytes this step sends; a stream is read one byte further, to see whether it ends."""
        if self.source.size is not None:
            return step.size or 0
        size = step.size or DEFAULT_CHUNK
        available = len(self.source.read(step.first, size + 1))
        if available <= size:
            self.machine.set_total(step.first + available)
        return min(available, size)

    def _query_status(self, total: int | None) -> None:
        """Ask for the status."""
        self._exchange(self._status_query(total), "ask")

    def query_finished(self) -> None:
        """Ask for the status of a session that is over; a row, and nothing follows from it."""
        question = self._status_query(self.machine.total)
        answer = self._session.send(question)
        answer.content()
        self._row("ask", question, status=answer.status)

    def _status_query(self, total: int | None) -> Request:
        pairs = (("Content-Length", "0"), ("Content-Range", str(ContentRange(None, total))))
        return Request("PUT", self._uri, self._session.headers(*pairs))

    def _wait(self, seconds: float) -> None:
        self._session.sleep(seconds)
        self.machine.waited()
        self._row("wait", None, waited=seconds)

    @property
    def _uri(self) -> str:
        assert self.session_uri is not None
        return self.session_uri

    # -- answers

    def _exchange(self, request: Request, action: str, first: int | None = None, size: int = 0) -> Response | None:
        """Send, and let the machine hear; None when no answer came or another token is worth a try."""
        last = first + size - 1 if first is not None and size else None
        try:
            response = self._session.send(request)
            answer = Response(response.status, response.headers, response.content())
        except TransportError as broken:
            self._no_answer(broken, request, action, first, last)
            return None
        if answer.status == 401 and not self._renewed:
            self._renewed = True
            if self._session.renew():
                self._row(action, request, first, last, 401)
                return None
        self._renewed = False
        self._last = answer
        self._handle_response(answer, begun=action == "begin")
        self._row(action, request, first, last, answer.status)
        return answer

    def _no_answer(
        self, broken: TransportError, request: Request, action: str, first: int | None, last: int | None
    ) -> None:
        self._last, self._broken = Response(0), broken
        self.machine.connection_lost(self._session.elapsed(), self._session.chance())
        self._row(action, request, first, last, error=str(broken))
        if broken.hopeless:
            raise self._interrupted(f"No answer to {request.method} {request.path}: {broken}.")

    def _handle_response(self, answer: Response, *, begun: bool) -> None:
        session = self._session
        now, chance = session.elapsed(), session.chance()
        finished = answer.status in (200, 201) and not begun
        metadata = _object(answer) if finished else None
        if finished and metadata is None:
            # The upload is complete and its answer unreadable: ask again, the question has the same one (C53).
            self.machine.connection_lost(now, chance)
            return
        self.machine.first_available = self.source.lowest  # where a restart can begin in a stream that does not seek
        self.machine.feed(self._response_facts(answer), now, chance)
        if metadata is not None:
            self._finish(metadata)

    def _response_facts(self, answer: Response) -> ResponseFacts:
        reason = read_envelope(answer.content())[1] if answer.status >= 400 else None
        wait = self._session.retry_after(answer)
        return ResponseFacts(answer.status, answer.headers.get("Range"), reason, wait)

    def _finish(self, file: JSONObject) -> None:
        total, size = self.machine.total, file.get("size")
        self._ticket.closed()
        if None not in (total, size) and str(size) != str(total):
            raise ContentMismatch(f"The service says that it stored {size} bytes of {total}.", advice=_CHECK_FILE)
        self.file = file
        if self._progress is not None and total is not None:
            self._progress(total, total)

    def delete(self) -> Response | None:
        """DELETE on the session URI; None when it is worth another try."""
        request = Request("DELETE", self._uri, self._session.headers(("Content-Length", "0")))
        try:
            response = self._session.send(request)
            answer = self._last = Response(response.status, response.headers, response.content())
        except TransportError as broken:
            self._row("cancel", request, error=str(broken))
            return None
        if self._response_facts(answer).worth_retrying:
            self._row("cancel", request, status=answer.status)
            return None
        self._cancelled(answer, request)
        return answer

    def _cancelled(self, answer: Response, request: Request) -> None:
        if answer.status in (200, 201) and (metadata := _object(answer)) is not None:
            self._finish(metadata)  # too late: it is complete
        elif answer.status in (204, 404, 410, 499) or answer.status < 300:
            # Whatever the words, it is over: not even a 404 may begin it anew.
            self.machine.feed(ResponseFacts(499), self._session.elapsed(), 0.0)
            self._ticket.closed()
        else:
            self._row("cancel", request, status=answer.status)
            raise self._session.error(answer.status, answer.content())
        self._row("cancel", request, status=answer.status)

    def _row(
        self,
        action: str,
        request: Request | None,
        first: int | None = None,
        last: int | None = None,
        status: int | None = None,
        *,
        waited: float | None = None,
        error: str | None = None,
    ) -> None:
        row: dict[str, object] = {
            "n": len(self.history) + 1,
            "action": action,
            "first": first,
            "last": last,
            "total": self.machine.total,
            "sent": None if request is None else _bytes_sent(request),
            "status": status,
            "stored": self.stored,
            "waited": waited,
            "state": _EXPIRED if status in (404, 410) else self.machine.state.value,
            "error": error,
        }
        self.history.append(row)

    # -- failures

    def _fail(self, reason: FailureReason) -> None:
        """Raise what it means for a person; or find out that it is no failure."""
        error = self.failure(reason)
        if error.status == 409 and self._all_sent and self.target.chosen_id:
            # The first session had everything and took the id with it: the upload is complete.
            self._finish(get_file(self._session, self.target.chosen_id))
            return
        if reason in _SESSION_GONE or error.status == 400:
            self._ticket.closed()
        raise error

    def failure(self, reason: FailureReason) -> SvcError:
        """What it means for a person, in the service's words where it said some."""
        answer, status = self._last, self._last.status or None
        if reason is FailureReason.REFUSED:
            return self._session.error(answer.status, answer.content())
        if reason is FailureReason.GAVE_UP:
            return self._interrupted(self._why_given_up(), status)
        if reason is FailureReason.DATA_LOSS:
            return ContentMismatch(_MORE_STORED.format(stored=answer.headers.get("Range")), advice=_WAIT_FOR_OTHER)
        return SessionExpired(f"The upload cannot go on: {reason.value}.", status=status)

    def _why_given_up(self) -> str:
        status, requested_wait = self._last.status, self.machine.too_long
        if requested_wait is not None:
            return f"The upload stopped at a {status}. {self.machine.retry.too_long_message(requested_wait)}"
        detail = f"the last answer was {status}" if status else f"no answer came: {self._broken}"
        return f"The upload made no progress for too long; {detail}."

    def _interrupted(self, text: str, status: int | None = None) -> Interrupted:
        kind = Unreachable if not status and self._broken and self._broken.unreachable else Interrupted
        return kind(text, session_uri=self.session_uri, status=status)

    def _sent_everything(self) -> bool:
        ends = ((row["last"], row["total"]) for row in self.history)
        return any(isinstance(last, int) and total == last + 1 for last, total in ends)


def _location(url: str, answer: Response) -> str:
    """The session URI: opaque, kept letter by letter, whatever host or path it names (C62)."""
    location = answer.headers.get("Location")
    if not location:
        raise ServiceFailed("The service opened an upload session without saying where.", location="Location")
    uri: str = location if urlsplit(location).scheme else urljoin(url, location)
    if urlsplit(uri).scheme not in ("http", "https"):
        raise ServiceFailed("The service named a session URI that is no web address.", location="Location")
    return uri


def _bytes_sent(request: Request) -> int:
    """How many bytes of the request's body have left, whether it was answered or not."""
    if isinstance(request.body, bytes):
        return len(request.body)
    assert isinstance(request.body, SourceStream)
    return request.body.sent


def _object(answer: Response) -> JSONObject | None:
    try:
        parsed: JSON = json.loads(answer.content())
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) else None
