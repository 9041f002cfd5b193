"""The class of the sandbox, a whole service in this process with its session and its controls."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from random import Random
from types import TracebackType
from typing import TYPE_CHECKING, NoReturn
from weakref import ref

from ...core.brand_names import NOWHERE
from ...core.platform import need_sockets
from ...core.process_fork import after_fork, keep_forever
from ..current_session import reset_current
from ..frames.event_schemas import OUTBOX
from ..frames.frames import frame
from ..frames.schemas import DELIVERIES, JOURNAL
from .controls import SandboxControls
from .identities import Identities
from .sandbox_numbers import explain_not_found, next_number, register, unregister

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.credentials import Token
    from ...client.session import Session
    from ...client.transport.recorder import Recorder
    from ...core.brand_names import Names
    from ...core.policy import Policy
    from ...server.service import Service
    from ...server.storage.clock import SystemClock, VirtualClock
    from ...server.transports.socket_server import SocketServer


def new_sandbox(
    path: Path | None, number: int, *, seed: int | None, policy: Policy, names: Names, virtual: bool
) -> Sandbox:
    """Open a service and return a sandbox with a session that is signed in to it."""
    from ...server.service import open_service
    from ...server.storage.clock import SystemClock, VirtualClock

    clock = VirtualClock() if virtual else SystemClock()
    service = open_service(path, seed=seed, clock=clock, policy=policy, names=names)
    return Sandbox(service, number, seed=service.seed, state_dir=None if path is None else path / "pending")


def load_sandbox(path: Path, number: int) -> Sandbox:
    """Open a saved sandbox. The first one of a kernel continues the sequence of ids from the time of saving."""
    from ...server.service import open_saved

    return _sandbox_copy(open_saved(path, branch=number - 1), number)


def _sandbox_copy(service: Service, number: int) -> Sandbox:
    branch = f"{service.seed}/{number}" if number > 1 else service.seed
    return Sandbox(service, number, seed=None if service.seed is None else branch)


def sandbox_of(session: Session) -> Sandbox | None:
    """Return the sandbox that a session is signed in to, None for a service elsewhere."""
    return session.owner if isinstance(session.owner, Sandbox) else None


def _close(reference: ref[Sandbox]) -> None:
    """Close a copy if it still exists."""
    if copy := reference():
        copy.close()


class Sandbox(Identities, SandboxControls):
    """A service in this kernel. `session` is signed in to it, and `service.handle` answers its requests.

    `clock.now()` returns its time, `clock.advance("8d")` moves it. As a context manager it is closed at the end, and
    the previous session becomes the current one again. `number` counts the sandboxes of a kernel, from 1.
    """

    def __init__(self, service: Service, number: int, *, seed: int | str | None, state_dir: Path | None = None) -> None:
        self.service = service
        self.number = number
        self._seed, self._state_dir = seed, state_dir
        self._session_numbers = count(1)
        self.session = self._session(service.sign_in())
        self._previous: Callable[[], Session | None] = lambda: None
        self._entered = False
        self.served = NOWHERE
        self._resources = ExitStack()  # servers of the service, receivers, and their certificates
        register(self)
        after_fork(self, Sandbox._reset_in_child)

    def _reset_in_child(self) -> None:
        """Forget the resources in a forked child, so that it does not close or remove those of its parent."""
        keep_forever(self._resources)
        self._resources = ExitStack()

    def __getstate__(self) -> NoReturn:
        """Refuse to pickle a sandbox, whose copy in another process would be a different service."""
        from ...client.session import SANDBOX_NOT_PICKLED

        raise TypeError(SANDBOX_NOT_PICKLED)

    @property
    def clock(self) -> VirtualClock | SystemClock:
        """The service's clock."""
        return self.service.clock

    def _session(self, token: Token, record: Recorder | None = None) -> Session:
        from ...client.session import Session

        random: Random | None = None
        if self._seed is not None:  # each session has its own, so that no two draw the same channel id
            number = next(self._session_numbers)
            random = Random(self._seed if number == 1 else f"{self._seed}/session {number}")
        clock = self.service.clock
        session = Session(
            NOWHERE,
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

    def __repr__(self) -> str:
        number = f" {self.number}" if self.number > 1 else ""
        return f"<Sandbox{number}: a service in this kernel; nothing leaves this machine>"

    def follow(self, before: Session | None) -> None:
        """Make this session the current one again when the sandbox is closed."""
        self._previous = lambda: before
        last = sandbox_of(before) if before else None
        if last and not last._entered and (earlier := last._previous()):
            # The same cell may run again and again without a with block: keep no chain of sandboxes alive.
            last._previous = ref(earlier)

    def __enter__(self) -> Sandbox:
        self._entered = True
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the service, the receivers of its sessions and its servers."""
        self._resources.close()
        unregister(self)
        reset_current(self.session, self._previous())
        self.session.close()
        self.service.close()

    def closes(self, close: Callable[[], None]) -> None:
        """Call this function when the sandbox is closed."""
        self._resources.callback(close)

    def journal(self) -> DataFrame:
        """List the requests to the service, their responses, and what decided each response.

        Columns: n (Int64), time (datetime64[ms, UTC]), operation, method, path, query, user, client (str),
        scopes (object), declared, received, status, sent, offset_before, offset_after (Int64, bytes),
        fault, decided_by (str): the id of a rule of docs/rules.md, a field of Policy, "fault" and its step, or the
        name of a choice in docs/decisions.md; notes may follow after a semicolon.
        """
        return frame(JOURNAL, self.service.journal())

    def deliveries(self) -> DataFrame:
        """List the attempts to deliver notifications, by time.

        Columns: channel_id, resource_id (str), message_number (Int64), state (str), attempt (Int64, from 1),
        due, time (datetime64[ms, UTC]), status (Int64, missing without a response), outcome (str: delivered, retry,
        failed, cancelled), error (str, why there is no status).

        >>> lab = svc.sandbox()
        >>> channel = svc.watch_changes(svc.receiver(direct=True))
        >>> lab.deliver()
        >>> lab.deliveries()[["state", "status", "outcome"]].values.tolist()
        [['sync', 200, 'delivered']]
        """
        return frame(DELIVERIES, self.service.deliveries())

    def outbox(self) -> DataFrame:
        """List the e-mails about events that the service would have sent, oldest first (E-16).

        Columns: time (datetime64[ms, UTC]), event_id, to, method (str: request, update, cancel), subject (str).

        >>> lab = svc.sandbox()
        >>> made = svc.create_event("Tea", start="2026-11-02", end="2026-11-03", attendees="bob@svc.example",
        ...                         send_updates="all")
        >>> lab.outbox()[["to", "subject"]].values.tolist()
        [['bob@svc.example', 'Invitation: Tea']]
        """
        return frame(OUTBOX, self.service.outbox())

    def deliver(self) -> None:
        """Deliver the notifications that are due now, and return after the response of every receiver."""
        self.service.deliver()

    def fork(self) -> Sandbox:
        """Return an independent copy of this sandbox in memory, with its files, its users, and a clock of its own.

        A change in one of the two does not affect the other. A row from before the fork names the same file in both;
        later ids differ. The channels of the copy are stopped, so it sends no notifications. It does not become the
        current one; use its session with `svc.files(session=copy.session)`.

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
        """Serve the same service on a loopback socket, for programs outside this kernel.

        Web pages of other origins may use a seeded sandbox only if `Policy(allowed_origins=...)` names them, because
        its tokens are the same in every kernel. `Policy(host_names=...)` names a proxy for browsers.

        Args:
            port: The port on 127.0.0.1; 0 selects a free one, which `.base_url` of the result has.
            tls: Use HTTPS. `.ca` of the result is then a file with the authority's certificate for clients
                (`curl --cacert`, `connect(verify=...)`), which exists until the sandbox is closed.

        Raises:
            Unsupported: This platform has no sockets, as in a browser.
            ImportError: TLS needs the package trustme, which is not installed.

        >>> lab = svc.sandbox()
        >>> server = lab.serve()
        >>> server.base_url.startswith("http://127.0.0.1:")
        True
        """
        need_sockets("serve() listens on a socket")
        from ...server.transports.socket_server import SocketServer
        from .certificates import tls_for

        context, ca = self._resources.enter_context(tls_for("127.0.0.1")) if tls else (None, None)
        server = SocketServer(self.service, port=port, tls=context, ca=ca).start()
        server.owner = self
        self.closes(server.stop)
        self.served = server.base_url
        return server
