"""A session: one service, one token, one way to reach it, and the record of what was said."""

from __future__ import annotations

import json
import os
import random as dice
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from types import TracebackType
from typing import NoReturn

from ..core.brand_names import Names
from ..core.clock import Clock
from ..core.errors.errors import AlreadyExists, ServiceFailed, SvcError, error_from
from ..core.faults.plan import Action
from ..core.http.backoff import RetryRule, parse_retry_after
from ..core.http.messages import Headers, JSONObject, Query, Request, Response, segment
from ..core.http.redaction import redacted_text, without_secret
from ..core.printable_text import printable
from ..core.process_fork import after_fork
from .credentials import Credential, Secret, Token, base_address, origin_of
from .transport.in_process import DirectTransport, Handler, OutgoingBody, Transport, TransportError
from .transport.recorder import RecordedStream, Recorder
from .transport.retry import IDEMPOTENT, Retry
from .upload_journal import UploadJournal, default_folder

USER_AGENT = "svc-notebooks/0.1"
JSON_TYPE = "application/json; charset=UTF-8"

_BARE = Headers([("Accept", "application/json"), ("User-Agent", USER_AGENT)])
_EMPTY = _BARE.plus(("Content-Length", "0"))
_BODILESS = frozenset({"GET", "HEAD", "DELETE", "OPTIONS"})

SANDBOX_NOT_PICKLED = (
    "a sandbox stays in the process that made it and is not pickled: use threads, or call lab.serve() there and"
    " connect(server.base_url, token) in the other processes"
)
_NOT_PICKLED = (
    "a Session is not pickled, because its token would be in the pickle: call connect(base_url, token) in each process"
    " that needs one, as with ProcessPoolExecutor(initializer=svc.connect, initargs=(base_url, token))"
)

_MAX_FIRST_TRIES = 3
"""A service that never answered is given up after so many tries: its address is probably wrong."""


class SystemTime:
    """The clock of a session that is given none."""

    def now(self) -> datetime:
        """The present instant in UTC."""
        return datetime.now(UTC)


class Session:
    """Speaks to one service.

    `base_url` is its address, `token` an access token, a function that gives one (asked again once after
    a 401), or None. With `handler` the service is a function in this process and no socket is opened;
    otherwise `requests` carries the exchanges, with the environment's proxies and certificates
    (HTTPS_PROXY, NO_PROXY, REQUESTS_CA_BUNDLE) unless `proxies` and `verify` (True, False or a file of
    certificates) say otherwise. `timeout` is (to connect, to read) in seconds. `clock`, `sleep` and `random`
    are for sandboxes and tests; give a virtual clock together with the sleep that moves it. `state_dir` keeps
    the journal of unfinished uploads.

    Raises ValueError or TypeError for arguments that cannot be meant.

    >>> session = Session("https://api.example.org", handler=lambda request: Response(200, body=b'{"id": "x"}'))
    >>> session.call("GET", "/storage/v3/files/x")
    {'id': 'x'}
    >>> session.exchanges[0].status
    200
    """

    def __init__(
        self,
        base_url: str,
        token: Token = None,
        *,
        names: Names = Names(),  # noqa: B008 -- a frozen value
        handler: Handler | None = None,
        verify: bool | str | Path | None = None,
        proxies: Mapping[str, str] | None = None,
        timeout: tuple[float, float] = (10.0, 60.0),
        retry: RetryRule = RetryRule(),  # noqa: B008 -- a frozen value
        clock: Clock | None = None,
        sleep: Callable[[float], None] | None = None,
        random: Random | None = None,
        state_dir: Path | str | None = None,
        recorder: Recorder | None = None,
        transport: Transport | None = None,
    ) -> None:
        self.base_url = base_address(base_url)
        self.names = names
        self.retry = retry
        self.clock: Clock = clock or SystemTime()
        self.random: Random = random or dice.SystemRandom()
        self.exchanges = Recorder() if recorder is None else recorder
        self.owner: object = None
        """What this session is part of and keeps alive: a sandbox."""
        self.explain: Callable[[SvcError], SvcError] = _unchanged
        """Says more of an error than the service can: that an id belongs to another sandbox."""
        self.pending = UploadJournal(_folder(state_dir, in_process=handler is not None))
        self._own_origin = origin_of(self.base_url) + "/"
        self._credential = Credential(token)
        self._virtual = clock is not None
        self._sleep = sleep or time.sleep
        self._transport = transport or _transport(handler, verify, proxies, timeout)
        self._fault: list[str] = []  # at most one; the thread that takes it out sends it
        self._has_answered = False
        self._failures_before_answer = 0
        self._signed_bare: tuple[Secret, Headers] | None = None
        # A child draws other boundaries, ids and delays than its parent and its siblings.
        after_fork(self, lambda session: session.random.seed())

    def __repr__(self) -> str:
        return f"<Session {getattr(self, 'base_url', 'of no address')}>"

    def __getstate__(self) -> NoReturn:
        """A pickle would carry the token to wherever it goes (T-05)."""
        raise TypeError(SANDBOX_NOT_PICKLED if self.in_process else _NOT_PICKLED)

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def in_process(self) -> bool:
        """Whether the service is a function of this process: no exchange has to be waited for."""
        return isinstance(self._transport, DirectTransport)

    def close(self) -> None:
        """Let connections go; the session can still be used and opens new ones."""
        self._transport.close()

    def is_own_token(self, text: str) -> bool:
        """Whether a text is the access token of this session."""
        return self._credential.header == f"Bearer {text}"

    # -- JSON calls

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        body: Mapping[str, object] | None = None,
    ) -> JSONObject:
        """One JSON call: send, retry where that is safe, and give back the answer's object ({} if empty).

        `path` begins with a slash and comes behind the base address; a `query` value may be a text, a
        number, a bool, a list of those, or None (left out). Raises SvcError.

        A POST that names its `id` may be sent again: when a repetition is told that the id is taken,
        the earlier try had succeeded, and what it made is returned (X-07).
        """
        request = self.request(method, path, query=query, body=body)
        made_id = body.get("id") if method == "POST" and body is not None else None
        attempts = Retry(self, repeatable=method in IDEMPOTENT or bool(made_id))
        try:
            return read_object(attempts.run(lambda: request))
        except AlreadyExists as error:
            if not attempts.made_before(error):
                raise
            return self.call("GET", f"{path}/{segment(str(made_id))}", query=query)

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        body: Mapping[str, object] | None = None,
    ) -> Request:
        """The request of a JSON call, ready to be sent."""
        url = self.url(path, query)
        if body is None:
            return Request(method, url, _BARE if method in _BODILESS else _EMPTY)
        content = json.dumps(body, ensure_ascii=False).encode()
        typed = (("Content-Type", JSON_TYPE), ("Content-Length", str(len(content))))
        return Request(method, url, self.headers(*typed), content)

    def url(self, path: str, query: Mapping[str, object] | None = None) -> str:
        """The address of a path of this service."""
        if not path.startswith("/"):
            raise ValueError(f"path {path!r} must begin with a slash: it comes behind {self.base_url}")
        text = str(Query(_pairs(query))) if query else ""
        return f"{self.base_url}{path}?{text}" if text else self.base_url + path

    def headers(self, *pairs: tuple[str, str]) -> Headers:
        """The headers of every request, and these."""
        return Headers((*_BARE.pairs, *pairs))

    # -- exchanges

    def send(self, request: Request) -> Response:
        """One exchange, recorded, not retried; the token goes along to the service's own origin alone.

        Raises Broken when no whole answer comes, here or while a streamed body is read.
        """
        own = request.url.startswith(self._own_origin) or origin_of(request.url) == self._own_origin[:-1]
        secret = self._credential.header if own else None
        headers = self._signed_headers(request.headers, secret)
        if own and self._fault:
            headers = self._with_fault(headers)
        now = self.clock.now()
        started = now.timestamp() if self._virtual else time.monotonic()
        entry = self.exchanges.begin(
            Request(request.method, request.url, headers), now, self._credential.token if secret else ""
        )
        body = request.body
        if isinstance(body, bytes):
            entry.sent_more(body)
        else:
            body = OutgoingBody(body, entry.sent_more)
        try:
            try:
                response = self._transport.send(Request(request.method, request.url, headers, body))
            finally:
                if isinstance(body, OutgoingBody) and body.error is not None:
                    raise body.error
        except BaseException as error:
            entry.end(self.elapsed() - started, error)
            if isinstance(error, TransportError) and not (self._has_answered or self.in_process):
                # A service that never answered is not worth the patience of one that did: base_url may be wrong.
                self._failures_before_answer += 1
                error.hopeless |= self._failures_before_answer >= _MAX_FIRST_TRIES
            raise
        self._has_answered = True
        entry.answer(response, self.elapsed() - started)
        if isinstance(response.body, bytes):
            if response.body:
                entry.received_more(response.body)
            entry.end(entry.seconds)
            return response
        stream = RecordedStream(response.body, entry, lambda: self.elapsed() - started)
        return Response(response.status, response.headers, stream)

    def fault(self, action: str | JSONObject) -> None:
        """Ask the service to let something go wrong with the next request of this session, and with no other.

        For a service of this package somewhere else; in a sandbox `lab.faults` can do more. The action is written as
        in a plan of faults, or short: "status=503", "reset=after", "cut_response_after=1000", "delay=2".

        Raises ValueError or TypeError for what is no action; nothing is sent yet.
        """
        if not isinstance(action, str | dict):
            raise TypeError(f"a fault takes a text like 'status=503', or an action, not {type(action).__name__}")
        read = Action.parse_header(action) if isinstance(action, str) else Action.read(action)
        self._fault[:] = [json.dumps(read.raw)]

    def _with_fault(self, headers: Headers) -> Headers:
        """Add the fault that was asked for, of which the service alone learns."""
        try:
            return headers.plus((self.names.header("Fault"), self._fault.pop()))
        except IndexError:  # another thread was faster
            return headers

    def _signed_headers(self, headers: Headers, secret: Secret | None) -> Headers:
        """Add this session's token; a foreign origin gets none (case 65)."""
        if secret is None or headers is not _BARE:
            pairs = [pair for pair in headers.pairs if pair[0].lower() != "authorization"]
            return Headers([*pairs, ("Authorization", secret)] if secret is not None else pairs)
        if self._signed_bare is None or self._signed_bare[0] is not secret:  # made once for each token
            self._signed_bare = (secret, Headers((*_BARE.pairs, ("Authorization", secret))))
        return self._signed_bare[1]

    # -- what attempts, uploads and downloads ask of a session

    def renew(self) -> bool:
        """Ask the token's function for another one; False when the token was given as it is."""
        return self._credential.renew()

    def elapsed(self) -> float:
        """Seconds that only go on: by the given clock if there is one, else by the system's."""
        return self.clock.now().timestamp() if self._virtual else time.monotonic()

    def chance(self) -> float:
        """A number between 0 and 1 for the jitter of a delay."""
        return self.random.random()

    def sleep(self, seconds: float) -> None:
        """Wait, or move the clock on."""
        self._sleep(seconds)

    def retry_after(self, response: Response) -> float | None:
        """The seconds that a response asks to wait; the longest, where it names several."""
        now = self.clock.now()
        waits = [parse_retry_after(text, now) for text in response.headers.all("Retry-After")]
        return max((wait for wait in waits if wait is not None), default=None)

    def error(self, status: int, content: bytes) -> SvcError:
        """The error that an answer means; a token that it repeats is taken out (T-05)."""
        text = redacted_text(content.decode("utf-8", "replace"))
        return self.explain(error_from(status, without_secret(text, self._credential.token).encode()))


def _unchanged(error: SvcError) -> SvcError:
    return error


def read_object(response: Response) -> JSONObject:
    """The JSON object of an answer, {} when it is empty. Raises ServiceFailed for anything else."""
    content = response.content()
    if not content:
        return {}
    try:
        parsed = json.loads(content)
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        raise ServiceFailed(f"The service answered {_kind(response)}, not a JSON object.", status=response.status)
    return parsed


def _kind(response: Response) -> str:
    """What an answer is that should have been JSON."""
    kind = printable(response.headers.get("Content-Type") or "something without a type", 60)
    page = " (a page: perhaps of a proxy, or of a network that wants you to sign in; check base_url)"
    return kind + (page if "html" in kind.lower() else "")


def _pairs(query: Mapping[str, object]) -> list[tuple[str, str]]:
    return [(name, _text(member)) for name, value in query.items() for member in _each(value)]


def _each(value: object) -> Sequence[object]:
    return value if isinstance(value, (list, tuple)) else () if value is None else (value,)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _folder(state_dir: Path | str | None, *, in_process: bool) -> Path | None:
    """Where the journal lies; a service inside this process dies with it, and so may its journal."""
    if state_dir is not None:
        return Path(state_dir).expanduser()
    return None if in_process else default_folder(os.environ)


def _transport(
    handler: Handler | None,
    verify: bool | str | Path | None,
    proxies: Mapping[str, str] | None,
    timeout: tuple[float, float],
) -> Transport:
    if handler is not None:
        return DirectTransport(handler)
    from .transport.http import HttpTransport  # a sandbox needs no requests: it is loaded when used

    return HttpTransport(verify=verify, proxies=proxies, timeout=timeout)
