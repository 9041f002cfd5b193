"""A resumable upload, carried out step by step (A3-20 to A3-25).

core.resume decides what to do next and what an answer means; here it is done: requests are sent, time passes,
bytes are read, and each step leaves a row in the history.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from types import TracebackType
from urllib.parse import urljoin, urlsplit

from ..core.clock import format_time
from ..core.errors import (
    ContentMismatch,
    Interrupted,
    ServiceFailed,
    SessionExpired,
    SvcError,
    read_envelope,
)
from ..core.ranges import ContentRange
from ..core.resume import Answer, Ask, Begin, Done, Failed, ResumableUpload, Send, Wait, Why
from ..core.upload import QUANTUM, State
from ..core.wire import JSON, JSONObject, Request, Response
from .attempts import Patience
from .bodies import Progress, SourceBody
from .calls import get_file
from .pending import Claim, PendingUpload
from .session import Session
from .sources import Source, SourceFailed
from .target import Target
from .transport import Broken

DEFAULT_CHUNK = 8 * 1024 * 1024
"""Bytes of a chunk unless the person says otherwise: 32 times the quantum."""

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


class Upload:
    """One upload session, to be run to its end or stepped by hand.

    `history` has a dict for each step: n, action (begin, send, ask, wait, cancel), first, last, total, status,
    stored, waited (seconds), state and error. `run` and the others raise SvcError when the upload cannot go on
    and the source's own OSError when it cannot be read; either way, and after KeyboardInterrupt, `resume`
    asks the service where it stands and goes on.
    """

    def __init__(
        self,
        session: Session,
        source: Source,
        target: Target,
        *,
        chunk_size: int | None = DEFAULT_CHUNK,
        session_uri: str | None = None,
        progress: Progress | None = None,
        claim: Claim | None = None,
    ) -> None:
        self.source = source
        self.target = target
        self.session_uri = session_uri
        self.history: list[dict[str, object]] = []
        self.file: JSONObject | None = None
        self._session = session
        self._chunk_size = chunk_size
        self._progress = progress
        self._claim = claim
        self._renewed = False
        self._all_sent = False
        self._last = Response(0)
        self._machine = self._new_machine()
        source.keep((chunk_size or DEFAULT_CHUNK) + 1)

    def _new_machine(self) -> ResumableUpload:
        return ResumableUpload(
            self.source.size,
            self._chunk_size,
            session_open=self.session_uri is not None,
            retry=self._session.retry,
            now=self._session.elapsed(),
        )

    # -- what it knows

    @property
    def done(self) -> bool:
        """Whether the service has all of it; `file` is then its metadata."""
        return self.file is not None

    @property
    def state(self) -> State:
        """Where the session stands, as far as the answers tell."""
        return self._machine.state

    @property
    def stored(self) -> int:
        """The bytes that the service is known to have."""
        total = self._machine.total
        return self._machine.stored if self.file is None or total is None else total

    @property
    def total(self) -> int | None:
        """The bytes of the whole, None while that is not known."""
        return self._machine.total

    def __repr__(self) -> str:
        whole = "an unknown number of" if self.total is None else self.total
        name = self.target.metadata.get("name") or self.source.name or "bytes"
        return f"<Upload {name}: {self.stored} of {whole} bytes, {self.state.value}>"

    def __enter__(self) -> Upload:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the source and of the journal's lock; the session stays open on the service."""
        self.source.close()
        if self._claim is not None:
            self._claim.release()

    # -- what a person asks for

    def run(self) -> JSONObject:
        """Go on until the service has everything; its metadata of the file."""
        try:
            while not self.done:
                self._step()
        finally:
            self.close()
        assert self.file is not None
        return self.file

    def resume(self) -> JSONObject:
        """Ask where the service stands, go on from there to the end; with fresh patience."""
        if not self.done:
            self._machine = self._new_machine()
            self._reclaim()
        return self.run()

    def begin(self) -> Upload:
        """Open the session, if there is none yet."""
        self._until(lambda: self.session_uri is not None)
        return self

    def send_chunk(self) -> dict[str, object]:
        """Send the next chunk, after whatever must come before it; its row of the history.

        Raises ValueError when everything is sent already.
        """
        if self.done:
            raise ValueError("the upload is complete; there is no chunk left to send")
        seen = len(self.history)
        return self._until(lambda: self.done or any(row["action"] == "send" for row in self.history[seen:]))

    def status(self) -> dict[str, object]:
        """Ask the service what it has; the question's row of the history. Raises ValueError before `begin`."""
        if self.session_uri is None:
            raise ValueError("the upload has no session yet; begin() or send_chunk() opens one")
        self._machine.doubt()
        seen = len(self.history)
        if self.state is State.OPEN:
            return self._until(lambda: any(row["action"] == "ask" for row in self.history[seen:]))
        self._ask(self.total)
        return self.history[-1]

    def cancel(self) -> dict[str, object]:
        """Tell the service to forget the session; the row of the history. Raises Interrupted, SvcError."""
        if self.session_uri is None:
            raise ValueError("the upload has no session yet; there is nothing to cancel")
        patience = Patience(self._session)
        while self._delete() is None:
            if not patience.wait():
                raise self._failure(Why.GAVE_UP)
        self.source.close()
        return self.history[-1]

    # -- steps

    def _until(self, reached: Callable[[], bool]) -> dict[str, object]:
        try:
            while not reached():
                self._step()
        finally:
            self.source.close()
        return self.history[-1] if self.history else {}

    def _step(self) -> None:
        """Carry out the machine's next step, or raise why there is none."""
        self._machine.lowest = self.source.lowest
        try:
            self._carry_out()
        except SourceFailed as failed:
            self._machine.doubt()
            raise failed.error from None
        except BaseException:
            # The person broke it off, or the source changed: what the service has is not known.
            self._machine.doubt()
            raise

    def _carry_out(self) -> None:
        match self._machine.next_step():
            case Begin():
                self._begin()
            case Send() as step:
                self._send(step)
            case Ask(total):
                self._ask(total)
            case Wait(seconds):
                self._wait(seconds)
            case Failed(why):
                self._fail(why)
            case Done():
                raise AssertionError("an upload that is complete has its file")

    def _begin(self) -> None:
        self._all_sent |= self._sent_everything()
        self._drop_pending()
        self.session_uri = None
        request = self.target.begin(self._session, self.source.size)
        answer = self._exchange(request, "begin")
        if answer is not None and self.state is State.OPEN:
            self.session_uri = _location(request.url, answer)
            self._note_pending()

    def _send(self, step: Send) -> None:
        size = self._sized(step)
        self._machine.sent(step.first + size)
        total = self._machine.total
        pairs = [("Content-Length", str(size))]
        if not (step.first == 0 and size == total and (self._chunk_size is None or not total)):
            pairs.append(("Content-Range", str(step.content_range(size, total))))
        body = SourceBody(self.source, step.first, size, self._progress)
        request = Request("PUT", self._uri, self._session.headers(*pairs), body if size else b"")
        self._exchange(request, "send", step.first, size)

    def _sized(self, step: Send) -> int:
        """How many bytes this step sends; a stream is read one byte further, to see whether it ends."""
        if self.source.size is not None:
            return step.size or 0
        wanted = step.size or DEFAULT_CHUNK
        found = len(self.source.read(step.first, wanted + 1))
        if found <= wanted:
            self._machine.ends_at(step.first + found)
        return min(found, wanted)

    def _ask(self, total: int | None) -> None:
        pairs = (("Content-Length", "0"), ("Content-Range", str(ContentRange(None, total))))
        self._exchange(Request("PUT", self._uri, self._session.headers(*pairs)), "ask")

    def _wait(self, seconds: float) -> None:
        self._session.sleep(seconds)
        self._machine.waited()
        self._row("wait", waited=seconds)

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
        except Broken as broken:
            self._no_answer(broken, action, first, last)
            return None
        if answer.status == 401 and not self._renewed:
            self._renewed = True
            if self._session.renew():
                self._row(action, first, last, 401)
                return None
        self._renewed = False
        self._last = answer
        self._hear(answer, begun=action == "begin")
        self._row(action, first, last, answer.status)
        return answer

    def _no_answer(self, broken: Broken, action: str, first: int | None, last: int | None) -> None:
        self._last = Response(0)
        self._machine.broken(self._session.elapsed(), self._session.chance())
        self._row(action, first, last, error=str(broken))
        if broken.hopeless:
            raise Interrupted(f"The service cannot be reached: {broken}.", session_uri=self.session_uri)

    def _hear(self, answer: Response, *, begun: bool) -> None:
        session = self._session
        now, chance = session.elapsed(), session.chance()
        finished = answer.status in (200, 201) and not begun
        found = _object(answer) if finished else None
        if finished and found is None:
            # The upload is complete and its answer unreadable: ask again, the question has the same one (C53).
            self._machine.broken(now, chance)
            return
        self._machine.feed(self._heard(answer), now, chance)
        if found is not None:
            self._finish(found)

    def _heard(self, answer: Response) -> Answer:
        reason = read_envelope(answer.content())[1] if answer.status >= 400 else None
        wait = self._session.retry_after(answer)
        return Answer(answer.status, answer.headers.get("Range"), reason, wait)

    def _finish(self, file: JSONObject) -> None:
        self.file = file
        self._drop_pending()
        self.close()

    def _delete(self) -> Response | None:
        """DELETE on the session URI; None when it is worth another try."""
        request = Request("DELETE", self._uri, self._session.headers(("Content-Length", "0")))
        try:
            response = self._session.send(request)
            answer = self._last = Response(response.status, response.headers, response.content())
        except Broken as broken:
            self._row("cancel", error=str(broken))
            return None
        if self._heard(answer).worth_retrying:
            self._row("cancel", status=answer.status)
            return None
        self._cancelled(answer)
        return answer

    def _cancelled(self, answer: Response) -> None:
        if answer.status in (200, 201) and (found := _object(answer)) is not None:
            self._finish(found)  # too late: it is complete
        elif answer.status in (204, 404, 410, 499) or answer.status < 300:
            gone = Answer(499 if answer.status < 300 else answer.status)
            self._machine.doubt()
            self._machine.feed(gone, self._session.elapsed(), 0.0)
            self._drop_pending()
            self.close()
        else:
            self._row("cancel", status=answer.status)
            raise self._session.error(answer.status, answer.content())
        self._row("cancel", status=answer.status)

    def _row(
        self,
        action: str,
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
            "total": self.total,
            "status": status,
            "stored": self.stored,
            "waited": waited,
            "state": self.state.value,
            "error": error,
        }
        self.history.append(row)

    # -- failures

    def _fail(self, why: Why) -> None:
        """Raise what it means for a person; or find out that it is no failure."""
        error = self._failure(why)
        if error.status == 409 and self._all_sent and self.target.chosen_id:
            # The first session had everything and took the id with it: the upload is complete.
            self._finish(get_file(self._session, self.target.chosen_id))
            return
        if why in _OVER or error.status == 400:
            self._drop_pending()
        raise error

    def _failure(self, why: Why) -> SvcError:
        status = self._last.status or None
        if why is Why.REFUSED:
            return self._session.error(self._last.status, self._last.content())
        if why is Why.GAVE_UP:
            said = f"the last answer was {status}" if status else "no answer came"
            text = f"The upload made no progress for too long; {said}."
            return Interrupted(text, session_uri=self.session_uri, status=status)
        if why is Why.DATA_LOSS:
            said = f"Range {self._last.headers.get('Range')!r}"
            return ContentMismatch(f"The service says that it stored more than was sent: {said}.")
        return SessionExpired(f"The upload cannot go on: {why.value}.", status=status)

    def _sent_everything(self) -> bool:
        return any(row["last"] is not None and row["last"] == _before(row["total"]) for row in self.history)

    # -- the journal

    def _reclaim(self) -> None:
        if self._claim is not None:
            self._claim = self._session.pending.claim(self._claim.key)

    def _note_pending(self) -> None:
        fingerprint = self.source.fingerprint()
        if self._claim is None or fingerprint is None:
            return
        self._claim.save(
            PendingUpload(
                key=self._claim.key,
                session_uri=self._uri,
                base_url=self._session.base_url,
                source=self.source.path,
                fingerprint=fingerprint,
                total=self.source.size,
                chunk_size=self._chunk_size,
                media_type=self.target.media_type,
                file_id=self.target.file_id,
                metadata=self.target.metadata,
                query=dict(self.target.query),
                started=format_time(self._session.clock.now()),
            )
        )

    def _drop_pending(self) -> None:
        if self._claim is not None:
            self._claim.drop()


_OVER = frozenset({Why.EXPIRED, Why.CANCELLED, Why.DATA_LOSS, Why.UNREWINDABLE})


def _before(total: object) -> int | None:
    return total - 1 if isinstance(total, int) else None


def _location(url: str, answer: Response) -> str:
    """The session URI: opaque, kept letter by letter, whatever host or path it names (C62)."""
    location = answer.headers.get("Location")
    if not location:
        raise ServiceFailed("The service opened an upload session without saying where.", location="Location")
    uri = location if urlsplit(location).scheme else urljoin(url, location)
    if urlsplit(uri).scheme not in ("http", "https"):
        raise ServiceFailed("The service named a session URI that is no web address.", location="Location")
    return uri


def _object(answer: Response) -> JSONObject | None:
    try:
        found: JSON = json.loads(answer.content())
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
