"""The service, whose `handle(Request) -> Response` is behind every transport."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO

from ..core.brand_names import NOWHERE, Names
from ..core.clock import parse_duration
from ..core.events.field_checks import is_address
from ..core.http.messages import JSONObject, Request, Response
from ..core.policy import Policy
from ..core.process_fork import ForkedChild
from .auth import clients
from .auth.users import record_token
from .blobs.blob_store import BlobStore
from .context.access_tokens import TokenVerifier, scope_names
from .context.request_journal import Journal, JournalRow
from .context.service_context import ServiceContext
from .dispatch.dispatcher import Dispatcher
from .dispatch.fault_plans import Faults
from .dispatch.rate_limits import RateLimiter, RateLimitRow
from .events import invitations
from .events.invitations import InvitationMessage
from .notifications import domains
from .notifications.delivery_queue import DeliveryRow
from .notifications.push import PushNotifications
from .state.archive import save_to
from .state.context_factory import build_context, fork_context, load, load_context, save
from .state.expiry import upcoming_events
from .state.snapshots import Snapshots
from .storage.clock import SystemClock, VirtualClock, virtual_clock_of
from .storage.fork_guard import unusable_in_forks
from .tables.users import TokenRow


class Service:
    """The whole service. Threads may share it. In a forked child everything but `close` raises Unsupported."""

    def __init__(self, context: ServiceContext, parts: BlobStore, *, background: bool | None = None) -> None:
        self._context = context
        self._parts = parts
        self.folder, self.notes = context.folder, context.notes
        self._background = background
        self._push = PushNotifications(context, background=background)
        self._tokens = TokenVerifier(context.store, context.clock)
        self.user_of = self._tokens.user_of
        self._journal = Journal(context.policy.journal_length, context.policy.journal_bytes)
        self._snapshots = Snapshots()
        self._faults = Faults(context.clock.wait if context.policy.fault_delay == "clock" else time.sleep)
        self._rate_limiter = RateLimiter(context.policy, context.clock)
        self._dispatcher = Dispatcher(context, self._tokens, self._journal, self._faults, self._rate_limiter)
        unusable_in_forks(self)

    @property
    def clock(self) -> SystemClock | VirtualClock:
        """The clock of this service."""
        return self._context.clock

    @property
    def names(self) -> Names:
        """The brand names in its paths, headers and media types."""
        return self._context.names

    def has(self, kind: str, key: str) -> bool:
        """Return whether a resource exists, for any user. `kind` is file, channel, calendar or event, `key` its id."""
        store = self._context.store
        if kind == "event":
            return store.events.exists(key.split("_")[0])  # an instance has the id of its series
        tables = {"file": store.files.get, "channel": store.channels.get, "calendar": store.calendars.get}
        return tables[kind](key) is not None

    @property
    def seed(self) -> int | str | None:
        """The seed of its ids, followed by the number of openings of an older store, or None for random ids."""
        return self._context.ids.client_seed

    @property
    def policy(self) -> Policy:
        """The choices that the interface leaves open."""
        return self._context.policy

    def handle(self, request: Request) -> Response:
        """Return the response to a request. An error of a handler is logged and answered with status 500.

        Raises only:
            Disconnected: a fault of `faults` cuts the connection.
            Unsupported: this process is a fork of the one that opened the service.
        """
        return self._dispatcher.handle(request)

    def refusal(self, request: Request, check: Callable[[Request, ServiceContext], None]) -> Response | None:
        """Return the response to a control call that `check` refuses, with a journal row, or None if it passes."""
        return self._dispatcher.refusal(request, check)

    @property
    def requests_served(self) -> int:
        """The journal number of the last request."""
        return self._journal.last

    def journal(self, since: int = 0) -> list[JournalRow]:
        """Return one row for each recorded request with a number above `since`, oldest first."""
        return self._journal.rows(since)

    def sign_in(
        self,
        user: str | None = None,
        *,
        scopes: Iterable[str] | None = None,
        client: str = "notebook",
        service_account: bool = False,
        expires_in: float | None = None,
        token: str | None = None,
    ) -> str:
        """Return an access token of a user, and create the user at the first sign-in.

        Args:
            user: an e-mail address, by default that of the first user of the policy.
            scopes: full URIs or their last segments, by default all scopes.
            client: the OAuth client of the token.
            service_account: whether the user is a service account.
            expires_in: seconds until the token expires, by default never.
            token: the token to use instead of a new one.

        Raises ValueError for an unknown scope, or a user that is not an e-mail address.
        """
        context = self._context
        if user and not is_address(user):
            raise ValueError(f"user={user[:60]!r} is not an e-mail address; give one like bob@{context.policy.domain}")
        email = (user or context.policy.first_user).lower()
        expires = None if expires_in is None else context.clock.now().timestamp() + expires_in
        granted = TokenRow(email, client, scope_names(scopes, context.policy), int(service_account), expires)
        secret = token or context.ids.token()
        # From the reserve, because nobody could free a full disk without a token.
        context.reserve.spend(lambda: record_token(context, self._tokens, secret, granted))
        return secret

    def oauth_client(
        self, name: str, redirect_uris: Sequence[str] = (), *, public: bool = False, base_url: str = NOWHERE
    ) -> clients.ClientCredentials:
        """Register an OAuth client and return its credentials. Raises ValueError for an invalid redirect URI.

        They are `client_id`, `client_secret` (not for a public client) and the URIs that it needs.
        """
        return clients.create_oauth_client(self._context, name, redirect_uris, public=public, base_url=base_url)

    def service_account(
        self, name: str, *, delegation: Iterable[str] = (), client: str = "notebook", base_url: str = NOWHERE
    ) -> clients.ServiceAccountKey:
        """Create a service account, or another key for it, and return the key file, which is stored nowhere else.

        Args:
            name: the local part of its address, of a to z, digits and -.
            delegation: the scopes in which it may act for users.
            client: the OAuth client of the account.
            base_url: the address of the service in the key file.

        Raises:
            ValueError: an invalid name or an unknown scope.
            ImportError: without the extra `identity`.
        """
        return clients.create_service_account(self._context, name, delegation, client=client, base_url=base_url)

    def open_with(self, file_id: str, client: str) -> bool:
        """Open a file with an OAuth client, whose file scope then reaches it. Return False if there is no such file."""
        with self._context.store.transaction():
            exists = self._context.store.files.get(file_id) is not None
            if exists:
                self._context.store.files.open_with(file_id, client)
        return exists

    def flag(self, file_id: str, *, abusive: bool) -> bool:
        """Mark a file as abusive or not. Return False if there is no such file."""
        with self._context.store.transaction():
            row = self._context.store.files.get(file_id)
            if row:
                self._context.store.files.save(row._replace(abusive=int(abusive)))
        return row is not None

    def register_domain(self, domain: str) -> str:
        """Register a domain for the addresses of channels, and return it in its normal form.

        Raises ValueError for anything but a host name or an IP address, without scheme and port.
        """
        return domains.register(self._context.store, domain)

    def domains(self) -> list[str]:
        """Return the registered domains, those of the policy first, then the others in alphabetical order."""
        return domains.list_domains(self._context.store, self.policy)

    def trust(self, pem: str) -> None:
        """Let deliveries trust more certificate authorities than the system does, and use their revocation lists.

        Raises ValueError if `pem` contains no certificate.
        """
        self._push.trust(pem)

    def receive_at(self, address: str, handler: Callable[[Request], Response] | None) -> None:
        """Deliver the messages to an address to a function of this process, or to the network again with None.

        The domain of the address must be registered like any other.
        """
        self._push.receive_at(address, handler)

    def deliveries(self) -> list[DeliveryRow]:
        """Return one row for each attempt to deliver a message, in the order of time."""
        return self._push.queue.deliveries()

    def outbox(self) -> list[InvitationMessage]:
        """Return one row for each e-mail about an event that a real service would send, oldest first."""
        return invitations.outbox(self._context)

    def deliver(self, timeout: float | None = None) -> None:
        """Deliver the messages that are due, and return when each attempt has ended.

        With a `timeout` in seconds of real time it returns at the latest then, and the rest goes on in the background.
        """
        self._push.deliver(timeout)

    def faults(self, *steps: JSONObject | str, in_order: bool = False) -> AbstractContextManager[None]:
        """Apply faults inside a with block. A step is a dict, or the name of a preset.

        Raises:
            ValueError: an invalid step or an unknown preset.
            AssertionError: a step that has not happened at the end of the block.

        >>> service = open_service(seed=0)
        >>> with service.faults({"action": {"status": 503}}):
        ...     service.handle(Request("GET", "http://svc.local/storage/v3/files")).status
        503
        """
        return self._faults.during(steps, in_order=in_order)

    def add_faults(self, plan: JSONObject) -> str:
        """Put a plan of faults in force and return its id. Raises ValueError for an invalid plan."""
        return self._faults.add(plan).key

    def fault_plans(self) -> list[dict[str, Any]]:
        """Return one row for each plan in force, with the number of times that each step happened."""
        return self._faults.rows()

    def clear_faults(self) -> None:
        """Remove all plans of faults."""
        self._faults.clear()

    def limit(self, user: str | None = None, requests: int | None = None, per: str | float | timedelta = "60s") -> None:
        """Set the number of requests that a user may send within a duration, or remove the limit with None.

        It replaces the limit of the policy. Raises ValueError for an invalid number or duration.
        """
        self._rate_limiter.limit((user or self.policy.first_user).lower(), requests, parse_duration(per))

    def limits(self) -> list[RateLimitRow]:
        """Return one row for each limit set by `limit`, with the requests spent in the open window."""
        return self._rate_limiter.rows()

    def agenda(self, since: datetime | None = None, until: datetime | None = None) -> list[dict[str, Any]]:
        """Return one row for each thing that will expire or be sent, in the order of time, from now on by default."""
        return upcoming_events(self._context, since, until)

    def virtual_clock(self) -> VirtualClock:
        """Return a clock that can be set. The system clock is replaced by one that stands still from now on."""
        clock = self._context.clock
        if isinstance(clock, VirtualClock):
            return clock
        virtual = clock.stop()
        self._context = dataclasses.replace(self._context, clock=virtual)
        return virtual

    def reset(self) -> None:
        """Delete everything but users and their tokens, and begin the next sequence of ids."""
        context = self._context
        with context.store.exclusive():  # or an upload could end in between, and lose its parts
            with context.content.replacing():
                context.store.clear()
            context.ids.restart()
            self._push.queue.forget()
        self._journal.clear()
        self._faults.clear()
        self._rate_limiter.clear()
        if virtual := virtual_clock_of(context.clock):
            virtual.restart()

    def snapshot(self) -> str:
        """Keep a copy of the whole state in memory, and return its id for `restore`. Raises as `save`."""
        return self._snapshots.take(self._context, self._parts)

    def restore(self, snapshot: str) -> None:
        """Return to the state of a snapshot. Raises ValueError for an unknown id."""
        self._snapshots.restore(snapshot, self._context, self._parts)
        self._forget_caches()

    def fork(self, branch: int = 0) -> Service:
        """Return an independent copy in memory, with stopped channels. Each `branch` above 0 has ids of its own."""
        return Service(*fork_context(self._context, self._parts, branch), background=self._background)

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write everything to one file and return its path.

        With `overwrite` it replaces another saved service, which is renamed to `.bak`. The file has digests of tokens,
        and no token. Raises PathExists and OSError (also for damaged content).
        """
        target = Path(path)
        save_to(target, self.dump, overwrite=overwrite)
        return target

    def dump(self, file: BinaryIO) -> None:
        """Write everything to an open, empty file. Raises as `save`."""
        save(self._context, self._parts, file)

    def load(self, file: BinaryIO) -> None:
        """Replace everything by the content of a file of `save`. Channels are stopped, as in a fork.

        Raises ValueError for another file or a damaged one, before anything is changed.
        """
        load(self._context, self._parts, file)
        self._push.load_authorities()
        self._forget_caches()

    def _forget_caches(self) -> None:
        """Forget what was read from the store, because another one has replaced it."""
        self._tokens.clear_cache()
        self._rate_limiter.forget()
        self._push.queue.forget()

    def close(self) -> None:
        """Close the database and the content. The service cannot be used afterwards."""
        if isinstance(self._context, ForkedChild):  # a forked child closes nothing
            return
        self._push.close()
        self._snapshots.clear()
        self._context.store.close()
        self._parts.close()

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def open_service(
    path: str | Path | None = None,
    *,
    seed: int | None = None,
    clock: SystemClock | VirtualClock | None = None,
    policy: Policy | None = None,
    names: Names | None = None,
    base_url: str | None = None,
    background: bool | None = None,
) -> Service:
    """Open a service.

    Args:
        path: the folder of its data, which may be empty or missing. By default everything is in memory.
        seed: makes ids and tokens the same in every run. By default they are random.
        clock: by default the system clock, or with a seed one that stands still until it is set.
        policy: the choices that the interface leaves open.
        names: the brand names in paths, headers and media types.
        base_url: the address in links, by default that of each request.
        background: whether a thread delivers notifications. Without one `deliver` does, to functions of this process
            alone. By default there is a thread where the platform has threads.

    Raises ValueError for the URL of a database, OSError for a folder of something else, a damaged one or one in use.

    >>> service = open_service(seed=0)
    >>> service.handle(Request("GET", "http://svc.local/storage/v3/files")).status
    401
    """
    if path is not None and "://" in str(path):
        raise ValueError(f"path={str(path)!r} is a URL, but only SQLite is supported; give a folder")
    clock = clock or (SystemClock() if seed is None else VirtualClock())
    context, parts = build_context(
        None if path is None else Path(path), seed, clock, policy or Policy(), names or Names()
    )
    return Service(dataclasses.replace(context, base_url=base_url), parts, background=background)


def open_saved(path: str | Path, *, branch: int = 0, background: bool | None = None) -> Service:
    """Open the service in a file of `Service.save` in memory, with channels and ids as in a fork.

    Raises OSError if the file cannot be read, ValueError for another file, a damaged one or one of another version.
    """
    with Path(path).open("rb") as file:
        try:
            return Service(*load_context(file, branch), background=background)
        except ValueError as error:
            raise ValueError(f"{path} cannot be opened: {error}") from None
