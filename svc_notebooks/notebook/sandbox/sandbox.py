"""Defines the sandbox: a whole service in this process, with its session and its controls."""

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
    """Make the service and a session that is signed in to it."""
    from ...server.service import open_service
    from ...server.storage.clock import SystemClock, VirtualClock

    clock = VirtualClock() if virtual else SystemClock()
    service = open_service(path, seed=seed, clock=clock, policy=policy, names=names)
    return Sandbox(service, number, seed=service.seed, state_dir=None if path is None else path / "pending")


def saved_sandbox(path: Path, number: int) -> Sandbox:
    """The sandbox that was saved to a file; the first of a kernel continues the sequence of ids where it was saved."""
    from ...server.service import open_saved

    return _sandbox_copy(open_saved(path, branch=number - 1), number)


def _sandbox_copy(service: Service, number: int) -> Sandbox:
    branch = f"{service.seed}/{number}" if number > 1 else service.seed
    return Sandbox(service, number, seed=None if service.seed is None else branch)


def sandbox_of(session: Session) -> Sandbox | None:
    """The sandbox that a session is signed in to; None for a service elsewhere."""
    return session.owner if isinstance(session.owner, Sandbox) else None


def _close(reference: ref[Sandbox]) -> None:
    """Close a copy, unless nobody has it any more."""
    if copy := reference():
        copy.close()


class Sandbox(Identities, SandboxControls):
    """A service in this kernel: `session` is signed in to it, `service` is the function itself.

    `clock.now()` tells its time, `clock.advance("8d")` moves it. As a context manager it is closed at the
    end, and the session before it is the current one again. `number` counts the sandboxes of a kernel, from 1.
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
        self._resources = ExitStack()  # servers that carry the service, receivers, and what they need
        register(self)
        after_fork(self, Sandbox._reset_in_child)

    def _reset_in_child(self) -> None:
        """In a forked child: nothing of the parent's is closed or removed."""
        keep_forever(self._resources)
        self._resources = ExitStack()

    def __getstate__(self) -> NoReturn:
        """A sandbox is its process: files, clock and people of a copy would go their own way."""
        from ...client.session import SANDBOX_NOT_PICKLED

        raise TypeError(SANDBOX_NOT_PICKLED)

    @property
    def clock(self) -> VirtualClock | SystemClock:
        """The service's clock."""
        return self.service.clock

    def _session(self, token: Token, record: Recorder | None = None) -> Session:
        from ...client.session import Session

        clock = self.service.clock
        made = Session(
            NOWHERE,
            token,
            names=self.service.names,
            handler=self.service.handle,
            clock=clock,
            sleep=clock.wait,  # a virtual clock is moved on, not waited for
            random=self._session_random(),
            state_dir=self._state_dir,
            recorder=record,
        )
        made.owner = self
        made.explain = lambda error: explain_not_found(error, self)
        return made

    def _session_random(self) -> Random | None:
        """The random numbers of the next session: no two sessions of a sandbox draw the same channel id."""
        if self._seed is None:
            return None
        number = next(self._session_numbers)
        return Random(self._seed if number == 1 else f"{self._seed}/session {number}")

    def __repr__(self) -> str:
        number = f" {self.number}" if self.number > 1 else ""
        return f"<Sandbox{number}: a service in this kernel; nothing leaves this machine>"

    def follow(self, before: Session | None) -> None:
        """Go back to this session when the sandbox is closed."""
        self._previous = lambda: before
        if before and (last := sandbox_of(before)):
            last._release_previous()

    def _release_previous(self) -> None:
        """Another one follows. Outside of a with block it may be the same cell, run again and again: hold nobody."""
        if not self._entered and (before := self._previous()):
            self._previous = ref(before)

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
        """Close the service, the receivers of its sessions and every server that carries it."""
        self._resources.close()
        unregister(self)
        reset_current(self.session, self._previous())
        self.session.close()
        self.service.close()

    def closes(self, close: Callable[[], None]) -> None:
        """Call this, too, when the sandbox is closed."""
        self._resources.callback(close)

    def journal(self) -> DataFrame:
        """What the service was asked, what it answered, and why: one row for each request.

        Columns: n (Int64), time (datetime64[ms, UTC]), operation, method, path, query, user, client (str),
        scopes (object), declared, received, status, sent, offset_before, offset_after (Int64, bytes),
        fault, decided_by (str): a rule of the interface by its id, a field of Policy, "fault" and its step, or the
        name of a choice of docs/decisions.md; notes may follow behind a semicolon.
        """
        return frame(JOURNAL, self.service.journal())

    def deliveries(self) -> DataFrame:
        """Every attempt to deliver a notification, in the order of their times.

        Columns: channel_id, resource_id (str), message_number (Int64), state (str), attempt (Int64, from 1),
        due, time (datetime64[ms, UTC]), status (Int64, missing where none came), outcome (str: delivered, retry,
        failed, cancelled), error (str, why no status came).

        >>> lab = svc.sandbox()
        >>> channel = svc.watch_changes(svc.receiver(direct=True))
        >>> lab.deliver()
        >>> lab.deliveries()[["state", "status", "outcome"]].values.tolist()
        [['sync', 200, 'delivered']]
        """
        return frame(DELIVERIES, self.service.deliveries())

    def outbox(self) -> DataFrame:
        """The messages about events that would have been mailed, the oldest first (E-16).

        Columns: time (datetime64[ms, UTC]), event_id, to, method (str: request, update, cancel), subject (str).

        >>> lab = svc.sandbox()
        >>> made = svc.create_event("Tea", start="2026-11-02", end="2026-11-03", attendees="bob@svc.example",
        ...                         send_updates="all")
        >>> lab.outbox()[["to", "subject"]].values.tolist()
        [['bob@svc.example', 'Invitation: Tea']]
        """
        return frame(OUTBOX, self.service.outbox())

    def deliver(self) -> None:
        """Deliver the notifications that are due now; when this returns, every receiver has answered."""
        self.service.deliver()

    def fork(self) -> Sandbox:
        """An independent copy of this sandbox in memory: its files, its people, and a clock of its own.

        What happens in one of the two does not happen in the other. A row from before the fork names the same file in
        both; what is made from now on has ids that the other one does not draw. The copy writes to nobody: its channels
        are stopped. It is not the current one: give its session, `svc.files(session=copy.session)`.

        >>> lab = svc.sandbox()
        >>> copy = lab.fork()
        >>> made = svc.upload(b"hello", name="only there", session=copy.session)
        >>> len(svc.files()), len(svc.files(session=copy.session))
        (0, 1)
        """
        number = next_number()
        made = _sandbox_copy(self.service.fork(branch=number - 1), number)
        self._resources.callback(_close, ref(made))
        return made

    def serve(self, port: int = 0, *, tls: bool = False) -> SocketServer:
        """Carry the same service on a loopback socket, for programs outside of this kernel.

        Web pages of other origins may use a seeded sandbox only if `Policy(allowed_origins=...)` names them: its tokens
        are the same in every kernel. `Policy(host_names=...)` names a proxy through which browsers open its pages.

        Args:
            port: The port on 127.0.0.1; 0 takes a free one. `.base_url` of the result tells it.
            tls: Over HTTPS; `.ca` of the result is then a file with the authority that clients must trust
                (`curl --cacert`, `connect(verify=...)`), there until the sandbox is closed.

        Raises:
            Unsupported: There are no sockets here, as in a browser.
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
