"""Sessions, which send requests to one service with a secret access token, and record the exchanges.

One session is the current session of the process, which `sandbox()` or `connect()` created last.
"""

from __future__ import annotations

import json
import os
import random as dice
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from secrets import token_hex
from threading import RLock, local
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeAlias, TypedDict, Unpack, cast
from urllib.parse import urlsplit

from ..core import suggestions
from ..core.brand_names import Names
from ..core.errors.errors import NotFound, NotSignedIn, SvcError, error_from
from ..core.errors.public_calls import check_function, public
from ..core.fault_plan import Action
from ..core.http.backoff import RetryRule, parse_retry_after
from ..core.http.messages import Headers, JSONObject, Request, Response, merge_patch, query_text, segment
from ..core.http.redaction import redact_text, remove_secret
from ..core.oauth import token_problem
from ..core.platform import after_fork, capabilities
from ..core.times import Clock
from .json_response import check_no_content, read_object
from .retry import IDEMPOTENT, REFUSALS, Retry, Throttle, thread_sleep
from .transport.bounds import ERROR_TEXT, JSON_ANSWER, Bound, BoundedBody
from .transport.in_process import DirectTransport, Handler, OutgoingBody, Transport, TransportError
from .transport.recorder import Recorder
from .transport.urls import origin_of
from .upload_journal import UploadJournal, default_folder

# An access token, a function that returns an access token, or None for no token.
Token: TypeAlias = "str | Callable[[], str] | None"


class Secret(str):
    """A str with a redacted repr, so that tracebacks and printed requests do not show a secret (T-05).

    >>> Secret("Bearer abc")
    '[redacted]: print() and str() show it'
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "'[redacted]: print() and str() show it'"


def base_address(text: str) -> str:
    """Normalize a base URL to lower-case scheme and host, without default port and final slash.

    Raises TypeError unless `text` is a str, ValueError unless an http(s) URL without user, query and fragment.

    >>> base_address("HTTPS://API.example.org:443/")
    'https://api.example.org'
    """
    if not isinstance(text, str):
        raise TypeError(f"base_url must be a str such as https://api.example.org, not {type(text).__name__}")
    text = text.strip()
    try:
        parts = urlsplit(text)
        valid = parts.scheme in ("http", "https") and parts.hostname and parts.port != -1
    except ValueError:  # for a port that is not a number, or a bracket without its pair
        valid = False
    if not valid:
        # Do not show the text, which is the token if a caller swaps the arguments.
        raise ValueError("base_url must begin with http:// or https:// and a host name, as in https://api.example.org")
    if parts.username is not None or parts.query or parts.fragment:
        raise ValueError("base_url must not contain a user, a query or a fragment; pass the access token as token=...")
    return origin_of(text) + parts.path.rstrip("/")


@dataclass(frozen=True, slots=True)
class EnvironmentToken:
    """A token function that reads an access token from an environment variable.

    A session calls it for each request. A pickle of it contains the name of the variable and not the token, so the
    variable must be set in each process.
    """

    variable: str

    def __call__(self) -> str:
        """Return the token. Raises NotSignedIn if the variable is not set."""
        token = os.environ.get(self.variable)
        if not token:
            raise NotSignedIn(f"The environment variable {self.variable} has no access token in this process.")
        return token


class Credential:
    """The access token of a session. Thread-safe. A token function is called at first use and after a 401.

    A token in an environment variable is read for each request.
    """

    def __init__(self, token: Token) -> None:
        self._get_token = token if callable(token) else None
        self._header: Secret | None = None
        self._lock = RLock()
        self._thread = local()  # `sent`: the header that this thread used last
        # The token without the word "Bearer", or "" without a token or before the first request.
        self.token = Secret("")
        if callable(token):
            check_function("token", token, ())
        elif token is not None:
            self._set_header(bearer(token))
        after_fork(self, Credential._renew_lock)

    def _renew_lock(self) -> None:
        self._lock = RLock()

    def _set_header(self, header: Secret) -> None:
        self._header, self.token = header, Secret(header.rpartition(" ")[2])

    @property
    def header(self) -> Secret | None:
        """The value of the Authorization header, or None if the session has no token."""
        if self._get_token is None:
            return self._header
        with self._lock:
            if self._header is None or isinstance(self._get_token, EnvironmentToken):
                token = _fetch_token(self._get_token)
                if self._header is None or token != self.token:
                    self._set_header(bearer(token))
            self._thread.sent = self._header
            return self._header

    def renew(self) -> bool:
        """Replace the token that this thread used last, after a 401. Returns False if there is no different token."""
        if self._get_token is None:
            return False
        with self._lock:
            refused = getattr(self._thread, "sent", self._header)
            if self._header == refused:  # otherwise another thread has renewed the token
                self._set_header(bearer(_fetch_token(self._get_token)))
            return self._header != refused

    def __repr__(self) -> str:
        return "Credential([redacted])"


def _fetch_token(get_token: Callable[[], str]) -> str:
    """Return the token from the token function.

    Raises NotSignedIn, whose message hides the function's error, or the function's own SvcError.
    """
    try:
        return get_token()
    except SvcError:
        raise
    except Exception as error:
        failed = type(error).__name__
    raise NotSignedIn(f"The token function failed with {failed}; call the function directly to see the full error.")


def bearer(token: str) -> Secret:
    """Return the Authorization header for a token. Raises TypeError or ValueError, which hide the token, if invalid."""
    if not isinstance(token, str):
        raise TypeError(f"token must be a str or a function that returns a str, not {type(token).__name__}")
    if problem := token_problem(token):
        raise ValueError(f"token {problem}")
    return Secret(f"Bearer {token}")


_PACKAGE = __name__.partition(".")[0]


def missing_attribute(owner: object, name: str, *, sandbox: bool = False) -> AttributeError:
    """Return the error for an attribute that a session or its clock does not have.

    `sandbox` is true for the session of a sandbox, which is one attribute away.
    """
    if name not in suggestions.ONLY_IN_A_SANDBOX:
        kind, public_names = "a session" if isinstance(owner, Session) else "a clock", sys.modules[_PACKAGE].__all__
        if kind == "a session" and name in public_names:
            return AttributeError(f"a session has no attribute {name!r}; call svc.{name}(..., session=session)")
        return suggestions.missing_attribute(kind, owner, name)
    if sandbox:
        return AttributeError(f"{name!r} is an attribute of the sandbox, not of its session: use lab.{name}")
    advice = suggestions.ONLY_IN_A_SANDBOX[name]
    return AttributeError(f"only a sandbox has {name!r}, and this session belongs to another service: {advice}")


# -- the settings from which another process opens a session for the same service and user


@dataclass(frozen=True, slots=True, eq=False)
class SessionRecipe:
    """The settings of a session, which can be pickled. `Session.from_recipe` opens a session with these settings.

    A pickle contains the access token only if the session was opened with a token. It does not for a token from an
    environment variable, which is read in the other process, or from a function, which is called there.
    """

    # The arguments of `Session`.
    settings: Mapping[str, Any] = field(repr=False)
    # A random text, which is the same in each recipe of one session.
    key: str


# -- the clock of a session that has no virtual clock


class SystemTime:
    """The time of the computer."""

    def now(self) -> datetime:
        """Return the current time in UTC."""
        return datetime.now(UTC)

    if not TYPE_CHECKING:  # otherwise every attribute would exist for mypy

        def __getattr__(self, name: str) -> NoReturn:
            raise missing_attribute(self, name)


USER_AGENT = "svc-notebooks/0.1"
JSON_TYPE = "application/json; charset=UTF-8"

_BARE = Headers([("Accept", "application/json"), ("User-Agent", USER_AGENT)])
_EMPTY = _BARE.plus(("Content-Length", "0"))
_BODILESS = frozenset({"GET", "HEAD", "DELETE", "OPTIONS"})

SANDBOX_NOT_PICKLED = (
    "a sandbox cannot be pickled or moved to another process: use threads, or call server = lab.serve() in this process"
    " and connect(server.base_url, token) in the other processes"
)
_NOT_PICKLED = (
    "a Session cannot be pickled, because the pickle would contain the access token: call connect(base_url, token) in"
    " each process, for example with ProcessPoolExecutor(initializer=svc.connect, initargs=(base_url, token))"
)

# The maximum number of tries if the service has never responded, because its address is probably wrong.
_MAX_FIRST_TRIES = 3


# Query parameters by their names in the interface.
Parameters: TypeAlias = Mapping[str, object]


class RequestParts(TypedDict, total=False):
    """The arguments of `Session.request` after the path."""

    query: Parameters | None
    body: Mapping[str, object] | None
    headers: Sequence[tuple[str, str]]


# The attributes of a session that `session.<Tab>` does not list, because only this package uses them.
_FOR_THE_CLIENT = frozenset(
    {"elapsed", "error", "execute", "explain", "fetch", "is_own_token", "owner", "pending", "random", "user"}
    | {"retry_after", "sleep", "throttle"}
)


class Session:
    """Sends requests to one service and records the exchanges.

    `token` is an access token, a function that returns an access token (called again after a 401), or None. `handler`
    is a service function in this process. Without `handler`, the library `requests` connects to `base_url`. `proxies`
    maps schemes to proxies, and `verify` is True, False or a file of certificates. If None, the environment applies
    (HTTPS_PROXY, NO_PROXY, REQUESTS_CA_BUNDLE). `timeout` has the seconds to connect and to read. `clock`, `sleep` and
    `random` are for sandboxes and tests. `sleep` must advance a virtual `clock`. `state_dir` is the folder of the
    upload journal. `with session:` makes it the current session in the block.

    Raises ValueError or TypeError for invalid arguments.

    >>> session = Session("https://api.example.org", handler=lambda request: Response(200, body=b'{"id": "x"}'))
    >>> session.call("GET", "/storage/v3/files/x")
    {'id': 'x'}
    >>> session.exchanges[0].status
    200
    """

    @public
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
        # The sandbox that this session belongs to and keeps alive, or None.
        self.owner: object = None
        self.user: str | None = None
        # A function that adds advice to a service error, such as that an id belongs to another sandbox.
        self.explain: Callable[[SvcError], SvcError] = lambda error: error
        folder = None if state_dir is None else Path(state_dir).expanduser()  # None: the journal is in memory
        self.pending = UploadJournal(default_folder(os.environ) if folder is None and handler is None else folder)
        # The wait that all threads of this session share after the service has refused a request.
        self.throttle = Throttle()
        self._own_origin = origin_of(self.base_url) + "/"
        self._credential = Credential(token)
        own_token = Secret(token) if isinstance(token, str) else token
        settings: dict[str, Any] = {"base_url": self.base_url, "token": own_token, "names": names, "timeout": timeout}
        state_dir = None if state_dir is None else Path(state_dir).absolute()
        proxies = None if proxies is None else dict(proxies)
        settings |= {"retry": retry, "verify": verify, "proxies": proxies, "state_dir": state_dir}
        self._recipe = SessionRecipe(settings, token_hex(16))
        self._virtual = clock is not None
        self._sleep = sleep
        if transport is None and handler is not None:
            transport = DirectTransport(handler)
        elif transport is None:
            from .transport.http import HttpTransport  # imported late, because a sandbox does not need `requests`

            transport = HttpTransport(verify=verify, proxies=proxies, timeout=timeout)
        self._transport = transport
        # True if the service is a function in this process.
        self.in_process = isinstance(self._transport, DirectTransport)
        self._fault: list[str] = []  # at most one fault, which the next request takes
        self._outer: list[Session | None] = []  # the sessions that were current before the with blocks of this one
        self._has_answered = False
        self._failures_before_answer = 0
        after_fork(self, Session._renew_in_child)

    @public
    def recipe(self) -> SessionRecipe:
        """Return a recipe, with which another process opens a session for the same service and user.

        Unlike a session, a recipe can be pickled. Raises TypeError for the session of a sandbox, whose service is in
        this process.
        """
        if self.in_process:
            raise TypeError(SANDBOX_NOT_PICKLED)
        return self._recipe

    @classmethod
    def from_recipe(cls, recipe: SessionRecipe) -> Session:
        """Open a session with the settings of another session, such as in a worker process.

        >>> session = Session("https://api.example.org", "secret")
        >>> Session.from_recipe(session.recipe())
        <Session https://api.example.org>
        """
        return cls(**recipe.settings)

    if not TYPE_CHECKING:  # otherwise every attribute would exist for mypy

        def __getattr__(self, name: str) -> NoReturn:
            raise missing_attribute(self, name, sandbox=self.__dict__.get("owner") is not None)

    def __dir__(self) -> list[str]:
        return sorted(set(super().__dir__()) - _FOR_THE_CLIENT)

    def __repr__(self) -> str:
        user = f", {self.user}" if getattr(self, "user", None) else ""
        return f"<Session {getattr(self, 'base_url', 'of no address')}{user}>"

    def __getstate__(self) -> NoReturn:
        """Raise TypeError, because a pickle would contain the token (T-05)."""
        raise TypeError(SANDBOX_NOT_PICKLED if self.in_process else _NOT_PICKLED)

    def __enter__(self) -> Session:
        """Make this session the current one in the block."""
        self._outer.append(make_current(self))
        return self

    def __exit__(self, *_error: object) -> None:
        make_current(self._outer.pop())
        self.close()

    def close(self) -> None:
        """Close the connections. The session can still be used and opens new connections."""
        self._transport.close()

    def is_own_token(self, text: str) -> bool:
        """Return True if the text is the access token of this session."""
        return self._credential.header == f"Bearer {text}"

    # -- JSON calls

    @public
    def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        body: Mapping[str, object] | None = None,
        headers: Sequence[tuple[str, str]] = (),
        repeatable: bool = False,
    ) -> JSONObject:
        """Send a JSON request and return the JSON object of the response, or {} for a 204.

        `path` begins with a slash and follows the base URL. `query` values are texts, numbers, bools or lists, and None
        is left out. `headers` are pairs of name and value, such as ("If-Match", etag).

        A failed request is repeated if this is safe, such as a POST with an `id`. `repeatable` says that another POST
        is safe too, because two of them have the same effect as one. If a repetition fails because an earlier try has
        created or changed the resource, this resource is returned (X-07). Raises SvcError.
        """
        return self.fetch(method, path, query=query, body=body, headers=headers, repeatable=repeatable)

    def fetch(self, method: str, path: str, *, repeatable: bool = False, **parts: Unpack[RequestParts]) -> JSONObject:
        """Do what `call` does, without its messages about wrong arguments."""
        request = self.request(method, path, **parts)
        query, body = parts.get("query"), parts.get("body")
        made_id = body.get("id") if method == "POST" and body is not None else None
        attempts = Retry(self, repeatable=repeatable or method in IDEMPOTENT or bool(made_id))
        try:
            return read_object(attempts.run(request), request.url)
        except SvcError as error:
            if error.status == 409 and made_id and attempts.uncertain:
                collection = path.rsplit("/", 2)[0] if path.endswith("/copy") else path
                return self.fetch("GET", f"{collection}/{segment(str(made_id))}", query=query)
            if error.status == 412 and method == "PATCH" and attempts.uncertain:
                stored = self.fetch("GET", path, query=query)
                if merge_patch(stored, cast(JSONObject, body or {})) == stored:
                    return stored
            raise

    def execute(self, method: str, path: str, **parts: Unpack[RequestParts]) -> None:
        """Send a JSON request as `call` does, which deletes or stops a resource, and which is answered with a 204.

        If a repetition fails because the resource is not there any more, an earlier try has deleted it.
        """
        request = self.request(method, path, **parts)
        attempts = Retry(self, repeatable=True)
        try:
            check_no_content(attempts.run(request), request.url)
        except NotFound:
            if not attempts.uncertain:
                raise

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        body: Mapping[str, object] | None = None,
        headers: Sequence[tuple[str, str]] = (),
    ) -> Request:
        """Return the request that `call` sends for these arguments, without sending it."""
        url = self.url(path, query)
        if body is None:
            bare = _BARE if method in _BODILESS else _EMPTY
            return Request(method, url, Headers((*bare.pairs, *headers)) if headers else bare)
        content = json.dumps(body, ensure_ascii=False).encode()
        typed = (("Content-Type", JSON_TYPE), ("Content-Length", str(len(content))))
        return Request(method, url, Headers((*_BARE.pairs, *typed, *headers)), content)

    def url(self, path: str, query: Mapping[str, object] | None = None) -> str:
        """Return the URL of a path of this service. Raises ValueError if the path does not begin with a slash."""
        if not path.startswith("/"):
            raise ValueError(f"path {path!r} must begin with a slash; it is appended to {self.base_url}")
        pairs: list[tuple[str, str]] = []
        for name, value in (query or {}).items():
            for member in value if isinstance(value, (list, tuple)) else () if value is None else (value,):
                pairs.append((name, str(member).lower() if isinstance(member, bool) else str(member)))
        return f"{self.base_url}{path}?{query_text(pairs)}" if pairs else self.base_url + path

    def headers(self, *pairs: tuple[str, str]) -> Headers:
        """Return the headers of every request, followed by the given headers."""
        return Headers((*_BARE.pairs, *pairs))

    # -- exchanges

    def send(self, request: Request, bound: Bound = JSON_ANSWER) -> Response:
        """Send a request once, record the exchange and return the response, whose body has at most `bound` bytes.

        Only the origin of the service receives the token. Raises TransportError without a complete response, and the
        error of the bound, for a streamed response possibly while its body is read. The text of an error is cut at its
        own bound. Errors of reading the request body are raised unchanged.
        """
        own = request.url.startswith(self._own_origin) or origin_of(request.url) == self._own_origin[:-1]
        if own and self.throttle.until:
            self.throttle.wait(self)
        secret = self._credential.header if own else None
        pairs = [pair for pair in request.headers.pairs if pair[0].lower() != "authorization"]  # case 65
        headers = Headers(pairs if secret is None else [*pairs, ("Authorization", secret)])
        if own and self._fault:
            with suppress(IndexError):  # another thread has taken the fault
                headers = headers.plus((self.names.header("Fault"), self._fault.pop()))
        now = self.clock.now()
        started = now.timestamp() if self._virtual else time.monotonic()
        token = self._credential.token if secret else ""
        entry = self.exchanges.begin(request.method, request.url, headers, now, token)
        body = request.body
        if isinstance(body, bytes):
            entry.record_sent(body)
        else:
            body = OutgoingBody(body, entry)
        try:
            try:
                response = self._transport.send(Request(request.method, request.url, headers, body))
            finally:
                if isinstance(body, OutgoingBody) and body.error is not None:
                    raise body.error
        except BaseException as error:
            entry.end(self.elapsed() - started, error)
            if isinstance(error, TransportError) and not (self._has_answered or self.in_process):
                # A service that never answered is tried less often, because base_url may be wrong.
                self._failures_before_answer += 1
                error.hopeless |= self._failures_before_answer >= _MAX_FIRST_TRIES
            raise
        self._has_answered = True
        bound = bound if response.status < 300 else ERROR_TEXT
        if isinstance(response.body, bytes) and len(response.body) > bound.most:
            response = Response(response.status, response.headers, (response.body,))
        entry.answer(response, self.elapsed() - started)
        if not isinstance(response.body, bytes):
            bounded = BoundedBody(response, bound, request.url, entry, lambda: self.elapsed() - started)
            response = Response(response.status, response.headers, bounded)
        return self.throttle.observe(self, response) if own and response.status in REFUSALS else response

    @public
    def fault(self, action: str | JSONObject) -> None:
        """Inject a fault into the next request of this session, for a service of this package.

        The action is a JSON object as in a fault plan, or a text such as "status=503", "reset=after",
        "cut_response_after=1000" or "delay=2". Sandboxes have more options in `lab.faults`. Raises ValueError or
        TypeError for an invalid action.
        """
        if not isinstance(action, str | dict):
            raise TypeError(f"the fault must be a str such as 'status=503', or a dict, not {type(action).__name__}")
        read = Action.parse_header(action) if isinstance(action, str) else Action.read(action)
        self._fault[:] = [json.dumps(read.raw)]

    def _renew_in_child(self) -> None:
        """Replace what a forked child must not share: the seed of boundaries, ids and delays, and a held lock."""
        self.random.seed()
        self.throttle = Throttle()

    # -- for retries, uploads and downloads

    def renew(self) -> bool:
        """Get a token from the token function. Returns False if the token is not new, or without a token function."""
        return self._credential.renew()

    def elapsed(self) -> float:
        """Return the time in seconds of the session's virtual clock, or else of a monotonic clock."""
        return self.clock.now().timestamp() if self._virtual else time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait for some seconds. A session with a virtual clock advances the clock instead."""
        (self._sleep or thread_sleep.get())(seconds)

    def retry_after(self, response: Response) -> float | None:
        """Return the longest wait in seconds in a response's Retry-After headers, or None without a valid header."""
        now = self.clock.now()
        waits = [parse_retry_after(text, now) for text in response.headers.all("Retry-After")]
        return max((wait for wait in waits if wait is not None), default=None)

    def error(self, status: int, content: bytes) -> SvcError:
        """Return the error for an error response, for the caller to raise, without the session's token (T-05)."""
        text = redact_text(content.decode("utf-8", "replace"))
        return self.explain(error_from(status, remove_secret(text, self._credential.token).encode()))


# -- the current session, which public functions use if they are called without a `session` argument


class SessionOwner(Protocol):
    """An object with a session, which is a `Sandbox`. Every `session` argument accepts it."""

    @property
    def session(self) -> Session:
        """The signed-in session."""


# A session, a `Sandbox`, which stands for its own session, or None for the current session.
SessionLike: TypeAlias = "Session | SessionOwner | None"


_NO_SESSION = (
    "There is no session yet: call sandbox() for a service in this kernel,"
    " or connect(base_url, token) for another service."
)
_NO_SESSION_HERE = (
    "There is no session yet in this process, which was started by another one: call connect(base_url, token) in it, or"
    " start it with initializer=svc.connect, initargs=(base_url, token)."
)

_current: Session | None = None


def current_session() -> Session:
    """Return the session that `sandbox()` or `connect()` created last, or in a block `with session:` this session.

    A forked process has the current session of its parent process.

    Returns:
        The current `Session`.

    Raises:
        RuntimeError: This process has no session yet. A spawned process (spawn, forkserver, joblib) starts without a
            session.

    >>> lab = svc.sandbox()
    >>> svc.current_session() is lab.session
    True
    """
    if _current is None:
        if capabilities().processes:
            from multiprocessing import parent_process

            if parent_process() is not None:
                raise RuntimeError(_NO_SESSION_HERE)
        raise RuntimeError(_NO_SESSION)
    return _current


def session_or_current(session: SessionLike) -> Session:
    """Return `session`, the session of a sandbox, or the current session for None.

    Raises TypeError for another type and, without a current session, RuntimeError.
    """
    if session is None:
        return current_session()

    owned = getattr(session, "session", session)
    if not isinstance(owned, Session):
        hint = f"; lab.sign_in({session!r}) returns the session of a user" if isinstance(session, str) else ""
        given = f"{type(session).__name__}{hint}"
        raise TypeError(f"session must be a Session from connect(), a Sandbox or None, not {given}")
    return owned


def current_clock() -> Clock:
    """Return the clock of the current session, or without one that of the system."""
    return SystemTime() if _current is None else _current.clock


def make_current(session: Session | None) -> Session | None:
    """Make `session` the current session, and return the previous current session (None if there was none)."""
    global _current
    previous, _current = _current, session
    return previous


def reset_current(session: Session, previous: Session | None) -> None:
    """Make `previous` the current session if `session` is still the current session. Otherwise do nothing."""
    if _current is session:
        make_current(previous)
