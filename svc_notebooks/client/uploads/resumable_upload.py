"""Runs resumable uploads by the state machine in core/uploads/client_state_machine.py, with a history (A3)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, RLock
from typing import cast

from ...core.errors.errors import (
    ContentMismatch,
    Interrupted,
    ServiceFailed,
    SessionExpired,
    SourceChanged,
    SvcError,
    Unreachable,
    UnverifiedUploadWarning,
    read_envelope,
)
from ...core.http.messages import JSONObject, Request, Response
from ...core.http.ranges import ContentRange
from ...core.platform import after_fork
from ...core.resources.files import File
from ...core.uploads.client_state_machine import (
    Begin,
    Done,
    Failed,
    FailureReason,
    QueryStatus,
    ResponseFacts,
    ResumableUpload,
    Send,
    Wait,
)
from ...core.uploads.transitions import UploadState
from ..files import get_file
from ..json_response import parse_object, read_object, read_resource
from ..retry import Retry, response_error, warn_of_waiting
from ..session import Session
from ..transport.in_process import TransportError
from ..transport.urls import foreign_url
from ..upload_journal import JournalLock
from .idempotent_creation import check_content
from .sources import Progress, SourceStream
from .upload_request import DEFAULT_CHUNK, UploadRequest, check_stored_size

# -- parsing of the responses in a resumable upload, and the errors of the upload


# The failures after which the upload session cannot be resumed.
SESSION_GONE = frozenset(
    {FailureReason.EXPIRED, FailureReason.CANCELLED, FailureReason.DATA_LOSS, FailureReason.UNREWINDABLE}
)


def session_location(url: str, response: Response) -> str:
    """Return the session URI in a Location header, on any host (C62). Raises ServiceFailed if missing or invalid."""
    location = response.headers.get("Location")
    if not location:
        if response.content():
            read_object(response, url)  # raises an error that names a page, such as the sign-in page of a network
        raise ServiceFailed(
            "The service opened an upload session without a Location header; check base_url.", location="Location"
        )
    return foreign_url(location, url, "Location")


def response_facts(session: Session, response: Response) -> ResponseFacts:
    """Return a response's status, Range, error reason and Retry-After for the upload state machine."""
    if response.status < 400:
        stored = response.headers.get("Range")
        is_redirect = response.status == 308 and not stored and response.headers.get("Location")
        return ResponseFacts(307 if is_redirect else response.status, stored)
    reason = read_envelope(response.content())[1]
    return ResponseFacts(response.status, reason=reason, retry_after=session.retry_after(response))


class ClientUpload:
    """A resumable upload that can be run to its end or step by step.

    `session_uri` is the URL with which any process can resume the session, None before the session is open. `file` is
    the file's metadata, None until the upload is complete. `progress` is called with (bytes sent, size or None).
    `history` has a dict for each step with n, action (begin, send, ask, wait, cancel), first, last, total, sent (bytes,
    also of a broken request), status, stored, waited (seconds), state and error.

    Methods raise SvcError if the upload cannot continue, and OSError if the source cannot be read. After an error or
    KeyboardInterrupt, `resume` completes the upload. Thread-safe. Calls wait for each other, except that `cancel` waits
    only for the current step of another call, which then raises SessionExpired.
    """

    def __init__(
        self,
        session: Session,
        request: UploadRequest,
        *,
        session_uri: str | None = None,
        progress: Progress | None = None,
        claim: JournalLock | None = None,
    ) -> None:
        self.request = request
        self.session_uri = session_uri
        self.progress = progress
        self.history: list[dict[str, object]] = []
        self.file: File | None = None
        self._session = session
        self._source = request.source
        self._claim = claim
        self._token_renewed = False
        self._resumed = False  # the service may have bytes of the source as it was earlier, or of another source
        self._all_sent = False  # an earlier session received all bytes and may have created the file
        self._response = Response(0)
        self._broken: TransportError | None = None  # the error of the last request without a response
        self._renew_lock()
        after_fork(self, ClientUpload._renew_lock)
        self._start_machine()
        self._source.keep((request.chunk_size or DEFAULT_CHUNK) + 1)  # one byte more, to detect the end of a stream

    def _renew_lock(self) -> None:
        self._lock = RLock()
        self._cancelling = Event()

    def _start_machine(self) -> None:
        """Start a new state machine and retry time. If the session is open, the first step queries its status."""
        self._resumed |= self.session_uri is not None
        self._machine = ResumableUpload(
            self._source.size,
            self.request.chunk_size,
            session_open=self.session_uri is not None,
            retry=self._session.retry,
            now=self._session.elapsed(),
        )

    @property
    def done(self) -> bool:
        """True if the upload is complete."""
        return self.file is not None

    @property
    def state(self) -> UploadState:
        """The state of the upload session according to the responses so far."""
        return self._machine.state

    @property
    def stored(self) -> int:
        """The number of stored bytes according to the responses so far."""
        machine = self._machine
        if machine.state is UploadState.COMPLETE and machine.total is not None:
            return machine.total
        return machine.stored

    @property
    def total(self) -> int | None:
        """The size of the whole content in bytes, or None if not yet known."""
        return self._machine.total

    @property
    def resumes_later(self) -> bool:
        """True if the journal has the session, so that a repeated call continues this upload."""
        return self._claim is not None and self._session.pending.read(self._claim.key) is not None

    def __repr__(self) -> str:
        whole = "an unknown number of" if self.total is None else self.total
        if self._resumed and not self.history:
            return f"<Upload {self.request.name}: status() asks how many of {whole} bytes are stored>"
        return f"<Upload {self.request.name}: {self.stored} of {whole} bytes, {self.state.value}>"

    def close(self) -> None:
        """Close the source and release the lock on the journal entry. The session stays open on the service."""
        self._source.close()
        if self._claim is not None:
            self._claim.release()

    def run(self) -> File:
        """Send all remaining bytes and return the metadata of the uploaded file."""
        with self._lock:
            if self._claim is not None and not self._claim.held:
                self._claim = self._session.pending.claim(self._claim.key)
            try:
                with self._sending():
                    while self.file is None:
                        self._step()
            finally:
                self.close()
            return self.file

    def resume(self) -> File:
        """Query the number of stored bytes, send the rest with a new retry time, and return the file's metadata."""
        with self._lock:
            if self.file is None:
                self._start_machine()
            return self.run()

    def begin(self) -> ClientUpload:
        """Open the upload session if it is not open yet, and return this upload."""
        with self._sending():
            while self.session_uri is None:
                self._step()
        return self

    def send_chunk(self) -> dict[str, object]:
        """Perform steps up to the next sent chunk and return its history row. Raises ValueError if already complete."""
        with self._sending():
            if self.file is not None:
                raise ValueError("the upload is complete; there is no chunk left to send")
            while True:
                self._step()
                if self.file is not None or self.history[-1]["action"] == "send":
                    return self.history[-1]

    def status(self) -> dict[str, object]:
        """Query the number of stored bytes and return the history row. Raises ValueError without an open session."""
        self._check_open()
        with self._sending():
            if self.state is not UploadState.OPEN:
                # The session has ended. Record the query, but do not change the state by its response.
                query = self._status_query()
                response = self._session.send(query)
                response.content()
                self._record("ask", query, status=response.status)
                return self.history[-1]
            self._machine.invalidate()
            while True:
                self._step()
                if self.history[-1]["action"] == "ask":
                    return self.history[-1]

    def cancel(self) -> dict[str, object]:
        """Cancel the session on the service and return the history row. Raises ValueError without an open session."""
        self._check_open()
        self._cancelling.set()
        try:
            with self._lock:
                tries = Retry(self._session, repeatable=True)
                while not self._send_cancel():
                    if not tries.wait():
                        raise self._error(FailureReason.GAVE_UP)
                self.close()
                return self.history[-1]
        finally:
            self._cancelling.clear()

    def _check_open(self) -> None:
        if self.session_uri is None:
            raise ValueError("the upload has no session yet; call begin() or send_chunk() first")

    @contextmanager
    def _sending(self) -> Iterator[None]:
        """Hold the lock and mark the journal lock as busy during the block. Close the source at the end."""
        with self._lock:
            # An earlier call sent the bytes that are stored.
            self._resumed |= self._source.can_change and self._machine.stored > 0
            claim = self._claim
            was_busy = claim is not None and claim.busy
            if claim is not None:
                claim.busy = True
            try:
                yield
            finally:
                if claim is not None:
                    claim.busy = was_busy
                self._source.close()
                if self.file is not None and self._claim is not None:
                    self._claim.release()

    def _step(self) -> None:
        if self._cancelling.is_set():
            raise SessionExpired("Another thread cancelled this upload.")
        machine = self._machine
        try:
            machine.first_available = self._source.lowest
            match machine.next_step():
                case Send() as step:
                    self._resumed |= self._source.can_change and step.first < machine.sent_end  # they are read again
                    self._send_bytes(step)
                case Begin():
                    self._open_session()
                case QueryStatus():
                    self._resumed |= self._source.can_change
                    self._send("ask", self._status_query())
                case Wait(seconds):
                    self._session.sleep(seconds)
                    machine.end_wait()
                    self._record("wait", None, waited=seconds)
                case Done():
                    self._start_machine()  # the stored file has a wrong size, so query the session again
            if self.file is None and isinstance(after := machine.next_step(), Failed):
                self._fail(after.reason)
        except BaseException:
            machine.invalidate()  # the number of stored bytes is unknown after an interrupt
            raise

    def _open_session(self) -> None:
        if not self.request.restartable:
            self._fail(FailureReason.EXPIRED)
        ends = ((row["last"], row["total"]) for row in self.history)
        self._all_sent |= any(isinstance(last, int) and total == last + 1 for last, total in ends)
        self._forget()
        self.session_uri = None
        request = self.request.initiation(self._session)
        response = self._send("begin", request)
        if response is not None and self.state is UploadState.OPEN:
            self.session_uri = session_location(request.url, response)
            self._resumed = False
            if self._claim is not None:
                entry = self.request.journal_entry(self._session, self._claim.key, self.session_uri)
                self._claim.save(entry)

    def _send_bytes(self, step: Send) -> None:
        """Send the bytes of a step. Raises OSError if the source cannot be read."""
        source, first, size, total = self._source, step.first, step.size or 0, step.total
        if source.size is None:  # one byte more is read, to detect the end of a stream
            size = step.size or DEFAULT_CHUNK
            available = len(source.read(first, size + 1))
            if available <= size:
                self._machine.total = total = first + available
            size = min(available, size)
        pairs = [("Content-Length", str(size))]
        if first or size != total or (total and self.request.chunk_size is not None):
            pairs.append(("Content-Range", str(step.content_range(size, total))))
        body = SourceStream(source, first, size, self.progress) if size else b""
        request = Request("PUT", str(self.session_uri), self._session.headers(*pairs), body)
        self._send("send", request, first, first + size - 1 if size else None)

    def _status_query(self) -> Request:
        pairs = (("Content-Length", "0"), ("Content-Range", str(ContentRange(None, self._machine.total))))
        return Request("PUT", str(self.session_uri), self._session.headers(*pairs))

    def _send(
        self, action: str, request: Request, first: int | None = None, last: int | None = None
    ) -> Response | None:
        """Send a request, update the state machine, record the step and return the response.

        Returns None if no response arrived, or after a 401 with which the session got a new token.
        """
        session, machine = self._session, self._machine
        if last is not None:
            machine.note_sent(last + 1)
        try:
            response = session.send(request)
            if not isinstance(response.body, bytes):
                response = Response(response.status, response.headers, response.content())
        except TransportError as error:
            self._response, self._broken = Response(0), error
            warn_of_waiting(session, error, machine.backoff.failures)
            machine.lose_connection(session.elapsed(), session.random.random())
            self._record(action, request, first=first, last=last, error=str(error))
            if error.hopeless:
                raise self._interruption(f"No response to {request.method} {request.path}: {error}.") from error
            return None
        if response.status == 401 and not self._token_renewed:
            self._token_renewed = True
            if session.renew():
                self._record(action, request, first=first, last=last, status=401)
                return None
        self._response, self._broken, self._token_renewed = response, None, False
        now, chance = session.elapsed(), session.random.random()
        finished = response.status in (200, 201) and action != "begin"
        file = parse_object(response.content()) if finished else None
        if finished and file is None:
            # The upload is complete, but its response is unreadable. A status query has the same response (C53).
            machine.lose_connection(now, chance)
        else:
            machine.first_available = self._source.lowest  # the first byte that a stream can send again
            machine.feed(response_facts(session, response), now, chance)
        self._record(action, request, first=first, last=last, status=response.status)
        is_page = "html" in response.headers.get("Content-Type", "").lower()
        if finished and file is None and (is_page or (action == "ask" and response.content())):
            read_object(response, request.url)  # raises an error
        if file is not None:
            self._finish(file, request.url)
        return response

    def _send_cancel(self) -> bool:
        """Send DELETE to the session URI. Returns True if the session has ended, or False if another try may help."""
        request = Request("DELETE", str(self.session_uri), self._session.headers(("Content-Length", "0")))
        try:
            response = self._session.send(request)
            response = Response(response.status, response.headers, response.content())
        except TransportError as error:
            self._record("cancel", request, error=str(error))
            return False
        self._response, self._broken = response, None
        status = response.status
        retry = response_facts(self._session, response).worth_retrying
        over = not retry and (status < 300 or status in (404, 410, 499))
        if status in (200, 201) and (answer := parse_object(response.content())) is not None:
            self._finish(answer, request.url)  # too late, because the upload is complete
        elif over:
            # All these statuses end the session. In particular, a 404 must not open a new session.
            self._machine.feed(ResponseFacts(499), self._session.elapsed(), 0.0)
            self._forget()
        self._record("cancel", request, status=status)
        if not (retry or over):
            raise response_error(self._session, response)
        return over

    def _finish(self, answer: JSONObject, url: str) -> None:
        """Check the stored file and complete the upload. If the check is interrupted, the next call repeats it."""
        identifier = self.request.file_id or self.request.generated_id
        file = read_resource(answer, File, url, self.request.query.get("fields"), identifier=identifier)
        total = self.total
        try:
            if self._resumed:
                check_content(self._session, self.request, file)
        except (SourceChanged, UnverifiedUploadWarning):
            self._forget()
            raise
        self._forget()
        check_stored_size(file, total)
        self.file = file
        if self.progress is not None and total is not None:
            self.progress(total, total)

    def _record(self, action: str, request: Request | None, **facts: object) -> None:
        """Add a history row, with `facts` as values of the keys first, last, status, waited and error."""
        body = None if request is None else request.body
        row = {
            "n": len(self.history) + 1,
            "action": action,
            "total": self._machine.total,
            "sent": body.sent if isinstance(body, SourceStream) else len(body) if isinstance(body, bytes) else None,
            "stored": self.stored,
            "state": (UploadState.EXPIRED if facts.get("status") in (404, 410) else self._machine.state).value,
        }
        self.history.append(dict.fromkeys(("first", "last", "status", "waited", "error")) | row | facts)

    def _forget(self) -> None:
        if self._claim is not None:
            self._claim.drop()

    def _fail(self, reason: FailureReason) -> None:
        """Raise the error for a failure, or return if an earlier session has completed the upload."""
        error = self._error(reason)
        if error.status == 409 and self._all_sent and self.request.generated_id:
            # An earlier session received all bytes and created the file with this id.
            self._resumed = self._source.can_change
            stored = get_file(self._session, self.request.generated_id)
            self._finish(cast(JSONObject, stored), self._session.base_url)
            return
        if reason in SESSION_GONE or error.status == 400:
            self._forget()
        if reason is FailureReason.DATA_LOSS and not self.request.restartable:  # nothing compared the source before
            raise SourceChanged(
                f"{self.request.name} has {self.total} bytes, fewer than the service has stored of this upload.",
                advice="Give the source with which the upload began, or call upload(source).",
            ) from error
        raise error

    def _error(self, reason: FailureReason) -> SvcError:
        """Return the error of a failed upload, by the last response, or by the reason for its absence."""
        response, backoff = self._response, self._machine.backoff
        status = response.status or None
        if reason is FailureReason.REFUSED:
            return response_error(self._session, response)
        if reason is FailureReason.DATA_LOSS:
            return ContentMismatch(
                f"The service reports more stored bytes ({response.headers.get('Range')}) than this upload has sent:"
                " another thread or process sends to the same upload session, or the report is wrong.",
                advice="Wait for the other upload and check the file, or start a new upload.",
            )
        if reason is not FailureReason.GAVE_UP:
            return SessionExpired(f"The upload cannot continue: {reason.value}.", status=status)
        if backoff.too_long is not None:
            too_long = backoff.rule.too_long_message(backoff.too_long)
            return self._interruption(f"The upload stopped at status {status}. {too_long}")
        detail = f"the last response had status {status}" if status else f"there was no response: {self._broken}"
        return self._interruption(f"The upload made no progress for too long; {detail}.")

    def _interruption(self, text: str) -> Interrupted:
        """Return the Interrupted error of this upload, or Unreachable if no connection was made."""
        kind = Unreachable if self._broken is not None and self._broken.unreachable else Interrupted
        return kind(text, session_uri=self.session_uri, status=self._response.status or None)
