"""Opens a service in this process, a Sandbox with a session and control methods, or connects to another one."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Literal, NoReturn
from urllib.parse import urljoin, urlsplit
from weakref import ref

from ...client.files import get_file
from ...client.retry import connection_error
from ...client.session import (
    SANDBOX_NOT_PICKLED,
    EnvironmentToken,
    Secret,
    Session,
    Token,
    current_session as current_session,
    make_current,
    reset_current,
)
from ...client.transport.bounds import WHOLE_RESPONSE
from ...client.transport.in_process import TransportError
from ...core.api.operations import LIST_COST
from ...core.brand_names import IN_PROCESS_URL, Names
from ...core.errors.errors import warn_caller
from ...core.errors.public_calls import public_methods
from ...core.http.messages import JSONObject, Request, Response
from ...core.platform import after_fork, need_sockets, skip_finalizers
from ...core.policy import Policy
from ...core.suggestions import CALLS, missing_attribute
from ..arguments import File, choice, is_frame, one_file_at
from ..frames import DELIVERIES, JOURNAL, OUTBOX, frame
from .controls import Identities, SandboxControls
from .sandbox_numbers import SEED_DISTANCE, explain_not_found, next_number, register, unregister

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.transport.recorder import Recorder
    from ...server.service import Service
    from ...server.store.clock import SystemClock, VirtualClock
    from ...server.transports.socket_server import SocketServer


_BODILESS = frozenset({"GET", "HEAD", "DELETE", "OPTIONS"})


def _sandbox_copy(service: Service, number: int) -> Sandbox:
    branch = f"{service.seed}/{number}" if number > 1 else service.seed
    return Sandbox(service, number, seed=None if service.seed is None else branch)


def sandbox_of(session: Session) -> Sandbox | None:
    """Return the sandbox that created a session. Return None if the session uses a service outside this kernel."""
    return session.owner if isinstance(session.owner, Sandbox) else None


def _close(reference: ref[Sandbox]) -> None:
    if copy := reference():
        copy.close()


@public_methods
class Sandbox(Identities, SandboxControls):
    """A complete service in this kernel, with a session and control methods.

    `session` is signed in as the sandbox's own user, and `service.handle` answers the requests of the session.
    `access_token` is the user's token for programs that use `serve()`. Its repr is redacted, and print() shows it.
    `clock.now()` returns the time of the service, and `clock.advance("8d")` moves a virtual clock. `number` is the
    number of the sandbox in this kernel, from 1. At the end of a with block, the sandbox is closed, and the session
    that was current before the sandbox becomes current again.
    """

    def __init__(self, service: Service, number: int, *, seed: int | str | None, state_dir: Path | None = None) -> None:
        self.service = service
        self.number = number
        self._seed, self._state_dir = seed, state_dir
        self._session_numbers = count(1)
        self.access_token: str = Secret(service.sign_in())
        self.session = self._session(self.access_token)
        self._previous: Callable[[], Session | None] = lambda: None
        self._entered = False
        self.served = IN_PROCESS_URL
        self._resources = ExitStack()  # servers of the service, receivers, and their certificates
        register(self)
        after_fork(self, Sandbox._reset_in_child)

    def _reset_in_child(self) -> None:
        skip_finalizers(self._resources)
        self._resources = ExitStack()

    def __getstate__(self) -> NoReturn:
        """Raise TypeError, because a pickled copy in another process would be a different service."""

        raise TypeError(SANDBOX_NOT_PICKLED)

    @property
    def clock(self) -> VirtualClock | SystemClock:
        """The clock of the service, which is a virtual clock or the system clock."""
        return self.service.clock

    def _session(self, token: Token, record: Recorder | None = None) -> Session:

        random: Random | None = None
        if self._seed is not None:  # each session has its own generator, so that channel ids differ
            number = next(self._session_numbers)
            random = Random(self._seed if number == 1 else f"{self._seed}/session {number}")
        clock = self.service.clock
        session = Session(
            IN_PROCESS_URL,
            token,
            names=self.service.names,
            handler=self.service.handle,
            clock=clock,
            sleep=clock.wait,  # moves a virtual clock without waiting
            random=random,
            state_dir=self._state_dir,
            recorder=record,
        )
        session.owner = self
        session.explain = lambda error: explain_not_found(error, self)
        return session

    def __dir__(self) -> list[str]:
        return sorted(set(super().__dir__()) - {"closes", "follow", "served"})  # which only this package uses

    def __getattr__(self, name: str) -> NoReturn:
        """Raise AttributeError, which names the public function if `lab.files()` stands for `svc.files()`."""
        import svc_notebooks

        if name in dir(svc_notebooks):
            text = f"a sandbox has no attribute {name!r}; call svc.{name}(), which uses its session"
            raise AttributeError(text, name=name, obj=self)
        call = CALLS.get(name, "")
        hint = f"; did you mean {call if call.startswith('lab.') else f'svc.{call}'}?" if call else ""
        raise missing_attribute("a sandbox", self, name, hint)

    def __repr__(self) -> str:
        number = f" {self.number}" if self.number > 1 else ""
        return f"<Sandbox{number}: a service in this kernel; nothing leaves this machine>"

    def follow(self, before: Session | None) -> None:
        """Make `before` the current session again when this sandbox is closed. None means no current session."""
        self._previous = lambda: before
        last = sandbox_of(before) if before else None
        if last and not last._entered and (earlier := last._previous()):
            # The same cell may run again and again without a with block: keep no chain of sandboxes alive.
            last._previous = ref(earlier)

    def __enter__(self) -> Sandbox:
        self._entered = True
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the service of this sandbox, its receivers and its servers.

        If the session of this sandbox is the current session, the previous session becomes current again.
        """
        self._resources.close()
        unregister(self)
        reset_current(self.session, self._previous())
        self.session.close()
        self.service.close()

    def closes(self, close: Callable[[], None]) -> None:
        """Register a function that is called when the sandbox is closed."""
        self._resources.callback(close)

    def journal(self) -> DataFrame:
        """List the requests that the service received, with the status of each response and the reason for the status.

        Returns:
            One row for each request: n (Int64), time (datetime64[ms, UTC]), operation, method, path, query, user,
            client (str), scopes (object), declared (Int64, bytes of the request body by Content-Length), received
            (Int64, bytes of the request body), status (Int64), sent (Int64, bytes of the response body), offset_before,
            offset_after (Int64, stored bytes of an upload before and after the request),
            fault (str), decided_by (str). The value of decided_by is the id of a rule of tests/rules.csv, a field of
            Policy, "fault" with the step of the fault, or the name of a choice in docs/decisions.md. Notes may follow
            after a semicolon.
        """
        return frame(JOURNAL, self.service.journal())

    def deliveries(self) -> DataFrame:
        """List the attempts of the service to deliver notifications, in the order of their times.

        Returns:
            One row for each attempt: number (Int64, the message number), state, channel_id, resource_id (str), attempt
            (Int64, from 1), due, time (datetime64[ms, UTC]), status (Int64, missing if there was no response), outcome
            (str: delivered, retry, failed, cancelled), error (str, the reason if there was no response).

        >>> lab = svc.sandbox()
        >>> channel = svc.watch_changes(svc.receiver(direct=True))
        >>> lab.deliver()
        >>> lab.deliveries()[["state", "status", "outcome"]].values.tolist()
        [['sync', 200, 'delivered']]
        """
        return frame(DELIVERIES, self.service.deliveries())

    def outbox(self) -> DataFrame:
        """List the e-mails about events that a real service would have sent (E-16). The oldest e-mail is the first row.

        Returns:
            One row for each e-mail: to (str), time (datetime64[ms, UTC]), event_id, method (str: request, update,
            cancel), subject (str).

        >>> lab = svc.sandbox()
        >>> made = svc.create_event("Tea", start="2026-11-02", end="2026-11-03", attendees="bob@svc.example",
        ...                         send_updates="all")
        >>> lab.outbox()[["to", "subject"]].values.tolist()
        [['bob@svc.example', 'Invitation: Tea']]
        """
        return frame(OUTBOX, self.service.outbox())

    def deliver(self) -> None:
        """Deliver all notifications that are due now, and wait for the responses of the receivers."""
        self.service.deliver()

    def fork(self) -> Sandbox:
        """Return an independent copy of this sandbox in memory, with the same files and users, and with its own clock.

        A change in one sandbox does not affect the other sandbox. Ids from before the fork are valid in both sandboxes.
        New ids differ between the sandboxes. The notification channels of the copy are stopped, so the copy sends no
        notifications. The current session does not change. Use `svc.files(session=copy.session)`.

        >>> lab = svc.sandbox()
        >>> copy = lab.fork()
        >>> made = svc.upload(b"hello", name="only there", session=copy.session)
        >>> len(svc.files()), len(svc.files(session=copy.session))
        (0, 1)
        """
        number = next_number()
        copy = _sandbox_copy(self.service.fork(branch=number - 1), number)
        self._resources.callback(_close, ref(copy))
        return copy

    def serve(self, port: int = 0, *, tls: bool = False) -> SocketServer:
        """Start a server for this service on a loopback socket, so that programs outside this kernel can use it.

        In a browser the address shows a live page with the files, messages and requests as they come.

        The tokens of a sandbox with a seed are the same in every kernel. So only web pages that this machine serves, at
        localhost or a loopback address, may use such a sandbox. `Policy(allowed_origins=...)` names other origins.
        If browsers use a proxy, `Policy(host_names=...)` must have the host name of the proxy.

        Args:
            port: The port on 127.0.0.1. 0 selects a free port.
            tls: Use HTTPS, with a certificate for this machine and for the names of `Policy(host_names=...)`.

        Returns:
            The running `SocketServer`, whose `.base_url` is the address of the service. `lab.access_token` is a token,
            and `lab.journal()` is a DataFrame of the requests of all programs. With `tls=True`, `.ca` is the
            path of the certificate authority's file for clients (`curl --cacert`, `connect(verify=...)`). The file
            exists until the sandbox is closed.

        Raises:
            Unsupported: This platform has no sockets, such as Python in a browser.
            ImportError: `tls` needs the package trustme, which is not installed.

        >>> lab = svc.sandbox()
        >>> server = lab.serve()
        >>> server.base_url.startswith("http://127.0.0.1:")
        True
        """
        need_sockets("serve() listens on a socket")
        from ...server.transports.socket_server import SocketServer
        from .certificates import tls_for

        context, ca = (
            self._resources.enter_context(tls_for("127.0.0.1", *self.service.policy.host_names))
            if tls
            else (None, None)
        )
        server = SocketServer(self.service, port=port, tls=context, ca=ca).start()
        server.owner = self
        self.closes(server.stop)
        self.served = server.base_url
        self.service.servers.append(server)
        return server

    def send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str | None] | None = None,
        body: bytes | str | JSONObject | list[Any] = b"",
        *,
        session: Session | None = None,
    ) -> Response:
        """Send one HTTP request as it is, and return the response, whatever its status. Nothing is repeated.

        `svc.exchange()` shows the request and the response, and `lab.journal()` shows what the service decided.

        Args:
            method: The method, such as "PATCH".
            url: A path with its query, such as "/storage/v3/files?pageSize=1", or a URL of this service.
            headers: Further headers. Without Authorization the token of the session is sent; None sends no token.
                Content-Length is added, unless there is a Transfer-Encoding.
            body: Bytes, a str, or a dict or list, which is sent as JSON.
            session: The session of another user, from `lab.sign_in()`. None is the sandbox's own session.

        Returns:
            The response, with `status` (int), `headers` (`headers.get("Range")`) and `body` (bytes).

        Raises:
            Interrupted: The connection was cut before the response, for example by `lab.faults()`.

        >>> lab = svc.sandbox()
        >>> lab.send("POST", "/storage/v3/files", body={"starred": "very"}).status
        400
        >>> lab.send("GET", "/storage/v3/files", {"Authorization": None}).headers["WWW-Authenticate"]
        'Bearer realm="svc"'
        """
        session, pairs = session or self.session, dict(headers or {})
        named = {name.lower() for name in pairs}
        if isinstance(body, dict | list):
            body = json.dumps(body).encode()
            pairs |= {} if "content-type" in named else {"Content-Type": "application/json"}
        content = body.encode() if isinstance(body, str) else body
        if "authorization" in named:
            value = next(pairs.pop(name) for name in [*pairs] if name.lower() == "authorization")
            session = self._session(value and value.removeprefix("Bearer "), session.exchanges)
        if "content-length" not in named and "transfer-encoding" not in named and (content or method not in _BODILESS):
            pairs["Content-Length"] = str(len(content))
        sent = session.headers(*((name, value) for name, value in pairs.items() if value is not None))
        request = Request(method, urljoin(session.base_url, url), sent, content)
        try:
            response = session.send(request, WHOLE_RESPONSE)
            return Response(response.status, response.headers, response.content())
        except TransportError as broken:
            raise connection_error(broken, request) from broken

    def link(self, row: File | Mapping[str, Any] | DataFrame, *, content: bool = False) -> str:
        """Return the address of the page of a file or event, which a browser on this machine can open.

        If no server runs, this method starts one. As long as a server runs, the columns `web_view_link` and `html_link`
        have the same addresses.

        Args:
            row: The id or row of a file, or the row of an event, also as a DataFrame of one row.
            content: True returns the address of the content of a file, which the browser shows or saves.

        Returns:
            The address (str).

        Raises:
            ValueError: There are several rows, or a file has no content, such as a native document.
            NotFound: The file does not exist.

        >>> lab = svc.sandbox()
        >>> lab.link(svc.upload(b"hello", name="a.txt")).startswith("http://127.0.0.1:")
        True
        """
        running = [server for server in self.service.servers if not server.stopping] or [self.serve()]
        if is_frame(row) and len(row) == 1:
            row = row.iloc[0]
        # A column has the address of the time at which the frame was made, perhaps of a server that has ended.
        known = row.get("html_link", row.get("web_view_link")) if hasattr(row, "get") and not content else None
        if not isinstance(known, str):
            file_id = one_file_at(self.session, row, "row")
            file: Mapping[str, Any] = get_file(self.session, file_id, fields="webViewLink,webContentLink")
            known = file.get("webContentLink" if content else "webViewLink")
        if not isinstance(known, str):
            raise ValueError("row has no content that a browser can show; export(file, format) saves a document")
        server = urlsplit(running[-1].base_url)
        return urlsplit(known)._replace(scheme=server.scheme, netloc=server.netloc).geturl()


# -- opening a service in this kernel, or connecting to another one


def sandbox(
    path: str | os.PathLike[str] | None = None,
    *,
    seed: int | Literal["auto"] | None = "auto",
    policy: Policy | None = None,
    names: Names | None = None,
    clock: Literal["virtual", "system"] = "virtual",
) -> Sandbox:
    """Start a complete service in this kernel, sign in, and make the new session the current session.

    The service needs no socket and no thread. Functions that are called without a `session` argument use the new
    session from now on. Threads may share the sandbox. A forked process cannot use the sandbox of its parent process,
    and gets an Unsupported error. Call `lab.serve()` in the parent and `connect()` in the forked process instead.

    Args:
        path: A folder in which all data are stored, so that a later call can open the same data again. The folder
            belongs to a sandbox or to `svc-notebooks serve`, is empty or does not exist. None: the data are in memory.
        seed: A number gives the same ids and delays in every run. None gives random ids and delays. "auto" gives each
            sandbox of a kernel its own seed, in the order in which the sandboxes are opened. So a restarted kernel
            repeats the ids, and different sandboxes have different ids.
        policy: The choices that the interface leaves to the service. None is `Policy(browser_sign_in="choose")`, with
            which a visitor of a link selects a user.
        names: The brand names in paths, headers and JSON. None: the default names.
        clock: "virtual" is a clock that only `lab.clock.advance("8d")` and waits of the client move. "system" is the
            clock of this machine.

    Returns:
        The `Sandbox`, which can be used in a with statement.

    Raises:
        OSError: The folder is neither empty nor a store, or the store is damaged, incomplete or in use. No file has
            changed. The message suggests what to do.

    Warns:
        UserWarning: Files in the folder were moved aside, or its database was upgraded.

    >>> with svc.sandbox() as lab:
    ...     svc.upload(b"a,b", name="table.csv")["size"].tolist()
    [3]
    """
    from ...server.service import open_service
    from ...server.store.clock import SystemClock, VirtualClock

    choice("clock", clock, ("virtual", "system"))
    if not (seed is None or seed == "auto" or isinstance(seed, int)):
        raise TypeError(f'seed must be a whole number, "auto" or None, not {seed!r}')
    number, folder = next_number(), None if path is None else Path(path).expanduser()
    service = open_service(
        folder,
        seed=(number - 1) * SEED_DISTANCE if seed == "auto" else seed,
        clock=VirtualClock() if clock == "virtual" else SystemClock(),
        policy=policy or Policy(browser_sign_in="choose"),
        names=names or Names(),
    )
    lab = Sandbox(service, number, seed=service.seed, state_dir=None if folder is None else folder / "pending")
    lab.follow(make_current(lab.session))
    for note in lab.service.notes:
        warn_caller(note)
    if policy and policy.rate_costs == "units" and policy.rate_limit and policy.rate_limit < LIST_COST:
        warn_caller(
            f"rate_limit={policy.rate_limit} counts units, of which a list of files costs {LIST_COST}, so that only one"
            " list is answered in 60 s; rate_costs='requests' counts requests, as lab.limit(requests=5, per='1s') does"
        )
    return lab


def open_sandbox(path: str | os.PathLike[str]) -> Sandbox:
    """Open a sandbox in memory from a file of `lab.save(path)`, and make its session the current session.

    The file is not changed. The new sandbox has the clock, the seed, the policy and the names of the saved sandbox. If
    this kernel has opened other sandboxes before, the ids of new files differ from the ids in those sandboxes. The
    notification channels are stopped, because a file can be opened several times and a receiver must not be notified
    several times.

    Args:
        path: The path of the saved file.

    Returns:
        The new `Sandbox`.

    Raises:
        OSError: The file cannot be read.
        ValueError: The file is not a saved sandbox, is damaged, or has another version. The session is unchanged.

    >>> from tempfile import mkdtemp
    >>> lab = svc.sandbox()
    >>> made = svc.upload(b"hello", name="kept.txt")
    >>> path = lab.save(mkdtemp() + "/lesson.svc")
    >>> again = svc.open_sandbox(path)
    >>> svc.files()["name"].tolist()
    ['kept.txt']
    """
    from ...server.service import open_saved

    number = next_number()
    lab = _sandbox_copy(open_saved(Path(path).expanduser(), branch=number - 1), number)
    lab.follow(make_current(lab.session))
    return lab


def connect(
    base_url: str | None = None,
    token: str | Callable[[], str] | None = None,
    *,
    names: Names | None = None,
    verify: bool | str | Path | None = None,
    proxies: Mapping[str, str] | None = None,
) -> Session:
    """Create a session for a service outside this kernel, and make the new session the current session.

    Functions that are called without a `session` argument use the new session from now on. `connect` itself sends no
    request. Threads may share the session. A forked process (`multiprocessing` on Linux) inherits the session and opens
    its own connections. A spawned process (spawn, forkserver, joblib) must call `connect()` again.

    Args:
        base_url: The address of the service. None: the environment variable `SVC_BASE_URL`. Without that variable, in a
            notebook server of JupyterHub: the address in `SVC_NOTEBOOKS_URL`, which the hub's configuration sets.
        token: An access token, or a function that returns an access token. The function is called again when the token
            has expired. None: the environment variable `SVC_TOKEN`, and with the address in `SVC_NOTEBOOKS_URL` the
            variable `JUPYTERHUB_API_TOKEN`. The token is never displayed.
        names: The brand names of this deployment in paths, headers and JSON. None: the default names.
        verify: A file with trusted certificate authorities. None: the machine's authorities. False: no check.
        proxies: A dict from URL schemes to proxies, which replaces the proxy settings of the environment. None: those
            of the environment (HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY), and no proxy for this machine.

    Returns:
        The new `Session`.

    Raises:
        ValueError: The address or the token is missing or not valid.

    >>> svc.connect("https://api.example.org", token="secret")
    <Session https://api.example.org>
    """
    session = new_session(base_url, token, names=names, verify=verify, proxies=proxies)
    make_current(session)
    return session


def new_session(base_url: str | None = None, token: str | Callable[[], str] | None = None, **options: Any) -> Session:
    """Return a session as `connect` does, without making it the current session. `options` are those of `Session`."""
    address, variable = (base_url, "SVC_TOKEN") if base_url is not None else _address_in_environment()
    if not address:
        raise ValueError(_MISSING.format(argument="base_url", variable="SVC_BASE_URL"))
    access_token = EnvironmentToken(variable) if token is None else token
    if not access_token or (token is None and not os.environ.get(variable)):
        raise ValueError(_MISSING.format(argument="token", variable=variable))
    session = Session(address, access_token, **{name: value for name, value in options.items() if value is not None})
    session.explain = lambda error: explain_not_found(error, base_url=session.base_url)
    return session


def _address_in_environment() -> tuple[str | None, str]:
    """Return the address of the service, or None, and the name of the variable with the access token.

    The token of JupyterHub is sent only to the address that the hub has set.
    """
    address = os.environ.get("SVC_BASE_URL")
    if not address and (hub_address := os.environ.get("SVC_NOTEBOOKS_URL")):
        return hub_address, "JUPYTERHUB_API_TOKEN"
    return address, "SVC_TOKEN"


_MISSING = (
    "{argument} is missing; call connect({argument}=...), or set {variable} in the environment before the"
    " kernel starts. sandbox() needs neither."
)
