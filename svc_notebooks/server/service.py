"""The service: `handle(Request) -> Response`, the same function behind every edge."""

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
from .context.request_journal import Journal
from .context.resource_lookup import resource_exists
from .context.service_context import ServiceContext
from .dispatch.dispatcher import Dispatcher
from .dispatch.fault_plans import Faults
from .dispatch.rate_limits import RateLimiter
from .events import invitations
from .notifications import domains
from .notifications.push import PushNotifications
from .state.archive_path import save_to
from .state.context_factory import build_context, fork_context, load, load_context, save
from .state.expiry import upcoming_events
from .state.snapshots import Snapshots
from .storage.clock import SystemClock, VirtualClock, virtual_clock_of
from .storage.fork_guard import unusable_in_forks
from .tables.users import TokenRow


class Service:
    """A whole service. Threads may share it; in a forked child everything but `close` raises Unsupported."""

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
        """What tells this service the time."""
        return self._context.clock

    @property
    def names(self) -> Names:
        """The brand names on its wire."""
        return self._context.names

    def has(self, kind: str, key: str) -> bool:
        """Whether there is a file, channel, calendar or event (`kind`) of this id, whoever may see it."""
        return resource_exists(self._context.store, kind, key)

    @property
    def seed(self) -> int | str | None:
        """The seed of its ids, with the number of openings if its store is not new; None: the system's randomness."""
        return self._context.ids.client_seed

    @property
    def policy(self) -> Policy:
        """How it behaves where the interface is silent."""
        return self._context.policy

    def handle(self, request: Request) -> Response:
        """Answer a request. What fails inside is logged and answered as a 500.

        Raises:
            Disconnected: a fault of `faults` cuts the connection.
            Unsupported: this process is a fork of the one that made the service. Nothing else is ever raised.
        """
        return self._dispatcher.handle(request)

    def refusal(self, request: Request, check: Callable[[Request, ServiceContext], None]) -> Response | None:
        """For an edge that answers a request itself: the answer where `check` raises ApiError, noted in the journal."""
        return self._dispatcher.refusal(request, check)

    @property
    def requests_served(self) -> int:
        """The number of the last request, as the journal counts."""
        return self._journal.last

    def journal(self, since: int = 0) -> list[dict[str, Any]]:
        """One row for each request that is remembered, oldest first; of those after a number only."""
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
        """An access token of a user, who is made if unknown; all scopes unless some are named.

        Args:
            user: an e-mail address; None: the first user of the policy.
            scopes: full URIs or their last segments.
            client: the OAuth client that the token is given to.
            expires_in: seconds until it ends; None: never.
            token: the token to use instead of a new one.

        Raises:
            ValueError: a scope that does not exist, or a user who is no address.
        """
        context = self._context
        if user and not is_address(user):
            raise ValueError(f"user={user[:60]!r} is no e-mail address; give one like bob@{context.policy.domain}")
        email = (user or context.policy.first_user).lower()
        expires = None if expires_in is None else context.clock.now().timestamp() + expires_in
        granted = TokenRow(email, client, scope_names(scopes, context.policy), int(service_account), expires)
        secret = token or context.ids.token()
        context.reserve.spend(
            lambda: record_token(context, self._tokens, secret, granted)
        )  # or nobody could clear up a full disk
        return secret

    def oauth_client(
        self, name: str, redirect_uris: Sequence[str] = (), *, public: bool = False, base_url: str = NOWHERE
    ) -> JSONObject:
        """Register an OAuth client: `client_id`, `client_secret` (not for a public one) and the rest that it needs.

        Raises ValueError: a redirect URI that is none.
        """
        return clients.create_oauth_client(self._context, name, redirect_uris, public=public, base_url=base_url)

    def service_account(
        self, name: str, *, delegation: Iterable[str] = (), client: str = "notebook", base_url: str = NOWHERE
    ) -> JSONObject:
        """Make a service account, or another key for it; the key file, which is kept nowhere else.

        Args:
            name: what its address begins with: a to z, digits and -.
            delegation: the scopes in which it may act for users.
            client: the OAuth client that it belongs to.
            base_url: where the service is found by who has the key.

        Raises:
            ValueError: a name or a scope that is none.
            ImportError: without the extra `identity`.
        """
        return clients.create_service_account(self._context, name, delegation, client=client, base_url=base_url)

    def open_with(self, file_id: str, client: str) -> bool:
        """Somebody opens a file with an OAuth client, whose file scope reaches it from now on; False: no such file."""
        with self._context.store.transaction():
            exists = self._context.store.files.get(file_id) is not None
            if exists:
                self._context.store.files.open_with(file_id, client)
        return exists

    def flag(self, file_id: str, *, abusive: bool) -> bool:
        """Mark a file as abusive or not; False: there is no such file."""
        with self._context.store.transaction():
            row = self._context.store.files.get(file_id)
            if row:
                self._context.store.files.save(row._replace(abusive=int(abusive)))
        return row is not None

    def register_domain(self, domain: str) -> str:
        """Register a domain, so that channels may use addresses of it; the name as it is compared.

        Raises ValueError: it is no host name or address; scheme and port do not belong to it.
        """
        return domains.register(self._context.store, domain)

    def domains(self) -> list[str]:
        """The domains that are registered: those of the policy, then the others in alphabetical order."""
        return domains.list_registered(self._context.store, self.policy)

    def trust(self, pem: str) -> None:
        """Let deliveries trust these certificate authorities, beside the system's; revocation lists count too.

        Raises ValueError: there is no certificate in it.
        """
        self._push.trust(pem)

    def receive_at(self, address: str, handler: Callable[[Request], Response] | None) -> None:
        """Let a function of this process answer the messages to this address; None: no longer.

        Its domain must be registered as any other's.
        """
        self._push.receive_at(address, handler)

    def deliveries(self) -> list[dict[str, Any]]:
        """One row for each attempt to deliver a message, in the order of their times."""
        return self._push.queue.deliveries()

    def outbox(self) -> list[dict[str, Any]]:
        """One row for each message about an event that would have been mailed, the oldest first."""
        return invitations.outbox(self._context)

    def deliver(self, timeout: float | None = None) -> None:
        """Deliver what is due now; when this returns, every receiver has answered or was given up.

        With a timeout (seconds of real time) it returns at the latest then, and the rest goes on beside.
        """
        self._push.deliver(timeout)

    def faults(self, *steps: JSONObject | str, in_order: bool = False) -> AbstractContextManager[None]:
        """Let these faults happen inside the block; a text is the name of a preset.

        Raises:
            ValueError: a step that cannot be read, or no preset of this name.
            AssertionError: at its end, for a step that did not happen.

        >>> service = open_service(seed=0)
        >>> with service.faults({"action": {"status": 503}}):
        ...     service.handle(Request("GET", "http://svc.local/storage/v3/files")).status
        503
        """
        return self._faults.during(steps, in_order=in_order)

    def add_faults(self, plan: JSONObject) -> str:
        """Put a plan of faults in force; its id. Raises ValueError for one that cannot be read."""
        return self._faults.add(plan).key

    def fault_plans(self) -> list[dict[str, Any]]:
        """The plans in force, with how often each step fired."""
        return self._faults.rows()

    def clear_faults(self) -> None:
        """No more faults."""
        self._faults.clear()

    def limit(self, user: str | None = None, requests: int | None = None, per: str | float | timedelta = "60s") -> None:
        """Let a user ask so many times within a length of time, in the place of the policy's limit; None: no longer.

        Raises ValueError for a number or a time that is none.
        """
        self._rate_limiter.limit((user or self.policy.first_user).lower(), requests, parse_duration(per))

    def limits(self) -> list[dict[str, Any]]:
        """The limits that `limit` has set, with what was spent of each in the window that is open."""
        return self._rate_limiter.rows()

    def agenda(self, since: datetime | None = None, until: datetime | None = None) -> list[dict[str, Any]]:
        """What comes to its end or is sent by itself, in the order of time: from now on, or between two instants."""
        return upcoming_events(self._context, since, until)

    def virtual_clock(self) -> VirtualClock:
        """The clock, to be moved; the system's is replaced by one that stands still from now on."""
        clock = self._context.clock
        if isinstance(clock, VirtualClock):
            return clock
        virtual = clock.stop()
        self._context = dataclasses.replace(self._context, clock=virtual)
        return virtual

    def reset(self) -> None:
        """Begin again: no files, no uploads, the next sequence of ids; users and their tokens stay."""
        context = self._context
        with context.store.exclusive():  # or an upload could end between the two, and lose its parts
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
        """Remember the whole state, as long as the service lives; the id to give to `restore`. Raises as `save`."""
        return self._snapshots.take(self._context, self._parts)

    def restore(self, snapshot: str) -> None:
        """Make the state what it was. Raises ValueError for an id that `snapshot` never gave."""
        self._snapshots.restore(snapshot, self._context, self._parts)
        self._forget_caches()

    def fork(self, branch: int = 0) -> Service:
        """An independent copy in memory; its channels are stopped. With a `branch` its next ids are its own."""
        return Service(*fork_context(self._context, self._parts, branch), background=self._background)

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write everything to one file; with `overwrite` in place of another saved service, which is kept as `.bak`.

        It has digests of tokens, and no token. Raises PathExists and OSError (also for damaged content).
        """
        target = Path(path)
        save_to(target, self.dump, overwrite=overwrite)
        return target

    def dump(self, file: BinaryIO) -> None:
        """Write everything to an open file that is empty. Raises as `save`."""
        save(self._context, self._parts, file)

    def load(self, file: BinaryIO) -> None:
        """Take what `save` has written in place of all that is here; channels are stopped, as in a fork.

        Raises ValueError for a file that is no such thing, or damaged; nothing has changed then.
        """
        load(self._context, self._parts, file)
        self._push.load_authorities()
        self._forget_caches()

    def _forget_caches(self) -> None:
        """The store is another now: forget what was known of it."""
        self._tokens.clear_cache()
        self._rate_limiter.forget()
        self._push.queue.forget()

    def close(self) -> None:
        """Let go of the database and of all bytes; the service cannot be used any more."""
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
    """Build a whole service.

    Args:
        path: a folder that keeps everything: a store, or one that is empty or missing; None: all in memory.
        seed: makes ids and tokens the same at every run; None: from the system's randomness.
        clock: None: with a seed one that stands still until moved, else the system's.
        base_url: the address that goes into links; None: the one that each request names.
        background: a thread delivers notifications; without one `deliver` does, in this process alone. None: where
            there are threads.

    Raises ValueError for the URL of a database, OSError for a folder that is no store, is damaged or in use.

    >>> service = open_service(seed=0)
    >>> service.handle(Request("GET", "http://svc.local/storage/v3/files")).status
    401
    """
    if path is not None and "://" in str(path):
        raise ValueError(f"path={str(path)!r} is a URL: no other database than SQLite is supported yet; give a folder")
    clock = clock or (SystemClock() if seed is None else VirtualClock())
    context, parts = build_context(
        None if path is None else Path(path), seed, clock, policy or Policy(), names or Names()
    )
    return Service(dataclasses.replace(context, base_url=base_url), parts, background=background)


def open_saved(path: str | Path, *, branch: int = 0, background: bool | None = None) -> Service:
    """The service that `Service.save` wrote to a file, in memory; its channels and its ids are as in a fork.

    Raises OSError where the file cannot be read, ValueError for another file, a damaged one or another version's.
    """
    with Path(path).open("rb") as file:
        try:
            return Service(*load_context(file, branch), background=background)
        except ValueError as error:
            raise ValueError(f"{path} cannot be opened: {error}") from None
