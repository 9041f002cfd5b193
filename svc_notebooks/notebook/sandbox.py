"""The sandbox: a whole service in this process, and the hands that move its world."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from random import Random
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .current import forget
from .event_schemas import OUTBOX
from .frames import frame
from .schemas import DELIVERIES, JOURNAL

if TYPE_CHECKING:
    from pandas import DataFrame

    from ..client.session import Session
    from ..core.names import Names
    from ..core.policy import Policy
    from ..core.wire import JSON, JSONObject
    from ..server.clock import SystemClock, VirtualClock
    from ..server.service import Service
    from ..server.socket import SocketServer

ADDRESS = "https://sandbox.svc.example"
"""The base address of a sandbox; nothing listens there, the session calls the service as a function."""


def open_sandbox(path: Path | None, *, seed: int | None, policy: Policy, names: Names, virtual: bool) -> Sandbox:
    """Make the service and a session that is signed in to it."""
    from ..server.clock import SystemClock, VirtualClock
    from ..server.service import open_service

    clock = VirtualClock() if virtual else SystemClock()
    service = open_service(path, seed=seed, clock=clock, policy=policy, names=names)
    token = service.sign_in()
    return Sandbox(service, token, seed=seed, state_dir=None if path is None else path / "pending")


_MATCH = frozenset({"operation", "method", "path", "user", "nth"})


def _by_name(one: Mapping[str, JSON], times: int) -> list[JSONObject]:
    if not one:
        return []
    match: JSONObject = {key: value for key, value in one.items() if key in _MATCH}
    action: JSONObject = {key: value for key, value in one.items() if key not in _MATCH}
    return [{"match": match, "action": action, "times": times}]


def sandbox_of(session: Session) -> Sandbox | None:
    """The sandbox that a session is signed in to; None for a service elsewhere."""
    return session.owner if isinstance(session.owner, Sandbox) else None


class Sandbox:
    """A service in this kernel: `session` is signed in to it, `service` is the function itself.

    `clock.now()` tells its time, `clock.advance("8d")` moves it. As a context manager it is closed at the
    end, and the session before it is the current one again.
    """

    def __init__(self, service: Service, token: str, *, seed: int | None, state_dir: Path | None) -> None:
        self.service = service
        self._seed, self._state_dir = seed, state_dir
        self.session = self._session(token)
        self.before: Session | None = None
        self._lent = ExitStack()  # servers that carry the service, receivers, and what they need

    @property
    def clock(self) -> VirtualClock | SystemClock:
        """The service's clock."""
        return self.service.clock

    def _session(self, token: str) -> Session:
        from ..client.session import Session

        clock = self.service.clock
        made = Session(
            ADDRESS,
            token,
            names=self.service.names,
            handler=self.service.handle,
            clock=clock,
            sleep=getattr(clock, "advance", None),  # a virtual clock is moved on, not waited for
            random=None if self._seed is None else Random(self._seed),
            state_dir=self._state_dir,
        )
        made.owner = self
        return made

    def __repr__(self) -> str:
        return "<Sandbox: a service in this kernel; nothing leaves this machine>"

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the service, the receivers of its sessions and every server that carries it."""
        self._lent.close()
        forget(self.session, self.before)
        self.session.close()
        self.service.close()

    def closes(self, close: Callable[[], None]) -> None:
        """Call this, too, when the sandbox is closed."""
        self._lent.callback(close)

    def sign_in(
        self,
        user: str | None = None,
        *,
        scopes: Iterable[str] | None = None,
        client: str = "notebook",
        expires_in: float | None = None,
    ) -> Session:
        """A session of another user, or of the same one with fewer scopes; the current one stays.

        Args:
            user: An e-mail address; who is unknown is created. None is the sandbox's own user.
            scopes: Last segments of scopes, like "storage.readonly"; None grants them all.
            client: The OAuth client that the user signs in with.
            expires_in: Seconds on the sandbox's clock after which the token is no longer good.
        """
        token = self.service.sign_in(
            user,
            scopes=None if scopes is None else list(scopes),
            client=client,
            expires_in=expires_in,
        )
        return self._session(token)

    def faults(
        self, *steps: JSONObject, in_order: bool = False, times: int = 1, **one: Any
    ) -> AbstractContextManager[None]:
        """Let things go wrong inside a with block; a step that never happened is an error at its end.

        Args:
            *steps: Steps as the control interface takes them, with match, times and action.
            in_order: A step waits until the one before it has happened.
            times: How often the step that is given by name happens.
            **one: One step by its names: operation, method, path (a glob), user and nth (of those
                requests, from 1) say when; status (with headers, body), reset="before" or "after",
                cut_request_after and cut_response_after (bytes), delay (seconds) say what.

        Raises:
            ValueError: There is no such match or action.
            AssertionError: At the end of the block: a step never happened.

        >>> lab = svc.sandbox()
        >>> chosen = svc.generate_ids(1)["id"][0]
        >>> with lab.faults(operation="files.create", reset="after"):
        ...     made = svc.upload(b"hello", file_id=chosen)
        >>> svc.exchanges()["error"].notna().tolist()
        [False, True, False, False]
        """
        return self.service.faults(*steps, *_by_name(one, times), in_order=in_order)

    def journal(self) -> DataFrame:
        """What the service was asked, what it answered, and why: one row for each request.

        Columns: n (Int64), time (datetime64[ms, UTC]), operation, method, path, query, user, client (str),
        scopes (object), declared, received, status, sent, offset_before, offset_after (Int64, bytes),
        fault, decided_by (str).
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

    def snapshot(self) -> str:
        """Keep the service's whole state; `restore` with what this returns brings it back."""
        return self.service.snapshot()

    def restore(self, snapshot: str) -> None:
        """Put the service back into the state that `snapshot` kept."""
        self.service.restore(snapshot)

    def serve(self, port: int = 0, *, tls: bool = False) -> SocketServer:
        """Carry the same service on a loopback socket, for programs outside of this kernel.

        Args:
            port: The port on 127.0.0.1; 0 takes a free one. `.base_url` of the result tells it.
            tls: Over HTTPS; `.ca` of the result is then a file with the authority that clients must trust
                (`curl --cacert`, `connect(verify=...)`), there until the sandbox is closed.

        Raises:
            ImportError: TLS needs the package trustme, which is not installed.

        >>> lab = svc.sandbox()
        >>> server = lab.serve()
        >>> server.base_url.startswith("http://127.0.0.1:")
        True
        """
        from ..server.socket import SocketServer
        from .authority import tls_for

        context, ca = self._lent.enter_context(tls_for("127.0.0.1")) if tls else (None, None)
        server = SocketServer(self.service, port=port, tls=context, ca=ca).start()
        self.closes(server.stop)
        return server
