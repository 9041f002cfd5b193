"""The service behind every transport, with the method `handle(Request) -> Response`."""

from __future__ import annotations

import dataclasses
import hmac
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager
from datetime import datetime
from functools import partial
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, BinaryIO

from ..core.api.operations import OPERATIONS
from ..core.brand_names import Names
from ..core.http.messages import JSONObject, Query
from ..core.platform import ForkedChild, after_fork, skip_finalizers
from ..core.policy import Policy
from ..core.time_arguments import Duration, parse_duration
from ..core.times import format_millis, to_millis
from ..local.saving import check_is_file
from .auth import accounts
from .auth.access_tokens import TokenVerifier
from .auth.accounts import ClassAccount, ClassAccounts, add_refresh_token, create_provided_user, record_token, token_row
from .calendars.event_messages import outbox
from .context_factory import ServiceSettings, ServiceState, fork_context, load, load_context, open_context, save
from .dispatch.faults import ArmedPlan, Faults
from .dispatch.journal import Journal, KeptJournal
from .dispatch.rate_limits import RateLimiter, RequestQuotas
from .dispatch.service_context import ANONYMOUS, Quota, ServiceContext
from .notifications import channels
from .notifications.delivery_queue import DeliveryQueue
from .notifications.push import PushNotifications
from .request_pipeline import Observer, RequestPipeline
from .store.archive import save_to
from .store.blob_store import StoredPart, missing_part
from .store.clock import SystemClock, VirtualClock, unshared
from .user_backup import UserBackups
from .web.live_page import ClassView, activity

if TYPE_CHECKING:
    from .auth.hub import JupyterHub

_NO_PART = StoredPart("0" * 32, 0, None)


class _Check:
    """A check in a thread of its own, because a database or a bucket may not answer."""

    def __init__(self, find: Callable[[], str | None]) -> None:
        self.begun = time.monotonic()
        self.problem: Future[str | None] = Future()
        self._find = find
        Thread(target=self._run, name="svc-check", daemon=True).start()

    def _run(self) -> None:
        try:
            self.problem.set_result(self._find())
        except OSError as error:
            self.problem.set_result(str(error))
        except Exception as error:  # shown to the operator, whatever it is
            self.problem.set_result(f"{type(error).__name__}: {error}")


class Monitor:
    """The state of a service for its operator. `observers` are called for each request that has ended."""

    def __init__(self, context: ServiceContext, observers: list[Observer], queue: DeliveryQueue) -> None:
        self._context, self._queue = context, queue
        self.observers, self.store = observers, context.store
        self._checks: dict[str, _Check] = {}
        self._lock = Lock()

    def problems(self, seconds: float = 2.0) -> dict[str, str]:
        """Return why the "database" or the "contents" cannot be used, or {} if requests can be answered.

        Both have `seconds` to answer. The database begins and ends a transaction that could write.
        """
        with self._lock:
            for name, find in (("database", self._database_problem), ("contents", self._contents_problem)):
                if name not in self._checks or self._checks[name].problem.done():
                    self._checks[name] = _Check(find)
            checks, ends = dict(self._checks), time.monotonic() + seconds
        problems: dict[str, str | None] = {}
        for name, check in checks.items():
            try:
                problems[name] = check.problem.result(max(0.0, ends - time.monotonic()))
            except TimeoutError:
                problems[name] = f"no answer within {seconds:g} s"
        return {name: problem for name, problem in problems.items() if problem}

    def is_stuck(self, seconds: float = 60.0) -> bool:
        """Return whether a check of `problems` has had no answer for more than `seconds`."""
        return any(
            not check.problem.done() and time.monotonic() - check.begun > seconds for check in self._checks.values()
        )

    def _database_problem(self) -> str | None:
        with self._context.store.transaction():
            self._context.store.database.run("SELECT 1", {})
        return None

    def _contents_problem(self) -> str | None:
        folder = self._context.folder
        if folder and not folder.is_dir():
            return f"{folder.name} is missing"
        problem = self._context.content.parts.problem(_NO_PART)
        return problem if problem != missing_part(_NO_PART.key) else None

    def user_hash(self, user: str) -> str:
        """Return a text that is the same for each request of a user, and from which nobody can compute the address."""
        return hmac.new(self._context.secret.encode(), user.encode(), "sha256").hexdigest()[:16]

    @property
    def deliveries(self) -> Mapping[str, int]:
        """The number of attempts of this process to deliver a message, by status."""
        return self._queue.attempts


class Service:
    """The service, which threads may share. In a forked child, all methods except `close` raise Unsupported."""

    def __init__(self, context: ServiceContext, *, background: bool | None = None) -> None:
        self._context = context
        self.folder, self.notes, self._background = context.folder, context.notes, background
        self.clock, self.names, self.policy = context.clock, context.names, context.policy
        # The seed of the ids, or None for random ids. A reopened store appends "/" and its number of openings.
        self.seed = context.ids.client_seed
        self.servers = context.servers  # the socket servers whose addresses are in links. A sandbox adds its own.
        self._push = PushNotifications(context, background=background)
        self._tokens = TokenVerifier(context.store, context.clock, lambda email: create_provided_user(context, email))
        self.provider: JupyterHub | None = None
        policy, records = context.policy, context.records
        self._journal = KeptJournal(records) if records else Journal(policy.journal_length, policy.journal_bytes)
        self._snapshots: dict[str, ServiceState] = {}
        self.user_backups = UserBackups(context)
        self._faults = Faults(context)
        self._rate_limiter = RateLimiter(context.policy, context.clock, context.store.shared)
        self._pipeline = RequestPipeline(context, self._tokens, self._journal, self._faults, self._rate_limiter)
        self.monitor = Monitor(context, self._pipeline.observers, self._push.queue)
        # These methods are those of the parts of the service, which have their descriptions.
        self.user_of, self.has, self.journal = self._tokens.user_of, context.store.has, self._journal.rows
        self.register_receiver, self.receive_at = self._push.register_receiver, self._push.receive_at
        self.trust, self.deliver, self.deliveries = self._push.trust, self._push.deliver, self._push.queue.deliveries
        self.fault_plans, self.clear_faults = self._faults.rows, self._faults.clear
        self.limits, self.refusal = self._rate_limiter.rows, self._pipeline.refusal
        self.handle, self.virtual_clock = self._pipeline.handle, context.clock.stop
        self.oauth_client = partial(accounts.create_oauth_client, context)
        self.service_account = partial(accounts.create_service_account, context)
        self.register_domain = partial(channels.register, context.store)
        self.domains = partial(channels.list_domains, context.store, context.policy)
        self.outbox, self.agenda = partial(outbox, context), partial(upcoming_events, context)
        self.class_view = ClassView(context, self._journal, self._tokens)
        unusable_in_forks(self)
        unusable_in_forks(self._pipeline)  # a session calls its method without the service

    def accept_users_of(self, provider: JupyterHub) -> None:
        """Accept the users of another service. Its administrators may use the control interface and the live page."""
        self.provider = self._tokens.provider = provider

    def count_request(self, user: str) -> None:
        """Count a request outside of the interface. Raises ApiError (403 or 429) if it exceeds a limit of the user."""
        self._pipeline.check_limits(dataclasses.replace(ANONYMOUS, user=user), OPERATIONS[0], Query())

    def activity(self, query: Query) -> dict[str, object]:
        """Return the latest requests, messages and files for the live page. `query` describes its present rows."""
        return activity(self._context, self._journal, self._push.queue, query, self.class_view)

    @property
    def requests_served(self) -> int:
        """The journal number of the last request, or 0 without requests."""
        return self._journal.last

    def sign_in(
        self,
        user: str | None = None,
        *,
        scopes: Iterable[str] | None = None,
        client: str = "notebook",
        service_account: bool = False,
        expires_in: Duration | None = None,
        token: str | None = None,
    ) -> str:
        """Return an access token of a user. Create the user at the first sign-in.

        Args:
            user: the user's e-mail address, by default the first user of the policy.
            scopes: full URIs or scope names without the URI, by default all scopes.
            client: the OAuth client of the token.
            service_account: True if the user is a service account.
            expires_in: the duration until the token expires, by default never.
            token: the token to use instead of a new token.

        Raises ValueError for an unknown scope or an invalid duration, or if `user` is not an e-mail address.
        """
        lifetime = None if expires_in is None else parse_duration(expires_in, "expires_in").total_seconds()
        row = token_row(self._context, user, scopes, client, lifetime)
        secret = token or self._context.ids.token()
        row = row._replace(service_account=int(service_account))
        # Uses the disk reserve, because nobody could delete files from a full disk without a token.
        self._context.reserve.spend(lambda: record_token(self._context, self._tokens, secret, row))
        return secret

    def refresh_token(self, user: str | None, scopes: Iterable[str] | None, client: str) -> str:
        """Return a new refresh token of a user for an OAuth client. Raises ValueError as `sign_in` does."""
        row = token_row(self._context, user, scopes, client, None)
        return add_refresh_token(self._context, row)

    def open_class(self, accounts: Sequence[ClassAccount], token_file: Path, quota: Quota) -> None:
        """Make the tokens in `token_file` the only valid tokens, and limit students. Raises as `ClassAccounts` does."""
        self.class_view.accounts = ClassAccounts(self._context, self._tokens, accounts, token_file)
        self._context.quotas.update({account.email: quota for account in accounts if account.role == "student"})
        self._pipeline.rate_limiters.append(
            RequestQuotas(self.policy, self._context.quotas, quota, self._context.store.shared)
        )

    def open_with(self, file_id: str, client: str) -> bool:
        """Give the file scope of an OAuth client access to a file. Return False if there is no such file."""
        with self._context.store.transaction():
            if exists := self._context.store.files.get(file_id) is not None:
                self._context.store.files.open_with(file_id, client)
        return exists

    def flag(self, file_id: str, *, abusive: bool) -> bool:
        """Flag a file as abusive, or remove the flag. Return False if there is no such file."""
        with self._context.store.transaction():
            row = self._context.store.files.get(file_id)
            if row:
                self._context.store.files.save(row._replace(abusive=int(abusive)))
        return row is not None

    def faults(self, *steps: JSONObject | str, in_order: bool = False) -> AbstractContextManager[list[ArmedPlan]]:
        """Inject faults during a `with` block. A step is a dict, or the name of a preset.

        Raises:
            ValueError: a step is invalid or a preset is unknown.
            AssertionError: at the end of the block, a step has not happened.

        >>> from svc_notebooks.core.http.messages import Request
        >>> service = open_service(seed=0)
        >>> with service.faults({"action": {"status": 503}}):
        ...     service.handle(Request("GET", "http://svc.local/storage/v3/files")).status
        503
        """
        return self._faults.during(steps, in_order=in_order)

    def add_faults(self, plan: JSONObject) -> str:
        """Activate a fault plan and return its id. Raises ValueError for an invalid plan."""
        return self._faults.add(plan).key

    def limit(self, user: str | None = None, requests: int | None = None, per: Duration = "60s") -> None:
        """Set the number of requests that a user may send within a duration. `requests=None` removes the user's limit.

        Raises ValueError for an invalid number or duration.
        """
        self._rate_limiter.limit((user or self.policy.first_user).lower(), requests, parse_duration(per, "per"))

    def reset(self) -> None:
        """Delete all data except users and their tokens, and begin a new sequence of ids."""
        context = self._context
        with context.store.exclusive():  # or an upload could end in between, and lose its parts
            with context.content.replacing():
                context.store.clear()
            context.ids.restart()
            self._push.queue.forget()
        self._journal.clear()
        self._faults.clear()
        self._rate_limiter.clear()
        if context.clock.is_virtual:
            context.clock.restart()

    def snapshot(self) -> str:
        """Keep a copy of the state in memory and return its id for `restore`. Raises the same errors as `save`."""
        if self._context.store.is_shared:
            raise ValueError(unshared("snapshots cannot be taken"))
        key = f"snapshot-{len(self._snapshots) + 1}"
        self._snapshots[key] = ServiceState.of(self._context)
        return key

    def restore(self, snapshot: str) -> None:
        """Restore the state of a snapshot. Raises ValueError for an unknown id."""
        if snapshot not in self._snapshots:
            existing = ", ".join(self._snapshots) or "none"
            raise ValueError(f"{snapshot!r} is not a snapshot; existing snapshots: {existing}")
        self._snapshots[snapshot].restore(self._context)
        self._forget_caches()

    def fork(self, branch: int = 0) -> Service:
        """Return an independent copy in memory, with stopped channels. Each `branch` above 0 creates different ids."""
        return Service(fork_context(self._context, branch), background=self._background)

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the whole state, with digests of the access tokens, to one file and return its path.

        With `overwrite`, an existing saved service is renamed to `.bak`. Raises PathExists if the file exists, and
        OSError for a disk error or damaged content.
        """
        return save_to(Path(path), self.dump, overwrite=overwrite)

    def dump(self, file: BinaryIO) -> None:
        """Write the whole state to an open, empty file. Raises the same errors as `save`."""
        save(self._context, file)

    def load(self, file: BinaryIO) -> None:
        """Replace the whole state by the content of a file that `save` wrote. Channels are stopped, as in a fork.

        Raises ValueError for any other file or a damaged file, before anything is changed.
        """
        load(self._context, file)
        self._push.load_authorities()
        self._forget_caches()

    def _forget_caches(self) -> None:
        self._tokens.clear_cache()
        if self.class_view.accounts:  # another state may contain tokens that were revoked
            self.class_view.accounts.apply()
        self._rate_limiter.forget()
        self._push.queue.forget()

    def close(self) -> None:
        """Close the database and the content. The service cannot be used afterwards."""
        if isinstance(self._context, ForkedChild):  # a forked child closes nothing
            return
        for owner, attribute in ((self._pipeline, "_context"), (self, "_pipeline")):
            vars(owner)[attribute] = ForkedChild(_CLOSED, _REOPEN)
        self._push.close()
        for state in self._snapshots.values():
            state.drop()
        self._snapshots.clear()
        self._context.store.close()
        self._context.content.close_writers()
        self._context.content.parts.close()

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def open_service(
    path: str | Path | None = None,
    *,
    content: str | Path | None = None,
    shared: bool = False,
    journal: int | None = None,
    seed: int | None = None,
    clock: VirtualClock | None = None,
    policy: Policy | None = None,
    names: Names | None = None,
    base_url: str | None = None,
    background: bool | None = None,
) -> Service:
    """Open a service in a folder, on a PostgreSQL server or in memory, and return it.

    Args:
        path: a data folder, which may be missing, or postgresql://user@host/database. By default the data is in memory.
        content: with a PostgreSQL database, the folder or s3://bucket/prefix for the contents of files.
        shared: with a PostgreSQL database, True if other processes serve the same store. Otherwise they are refused.
        journal: with a PostgreSQL database, the number of requests and deliveries of all processes that it keeps.
        seed: makes ids and tokens the same in every run. By default ids and tokens are random.
        clock: by default the system clock, or with a seed a virtual clock, which stands still until it is set.
        policy: the settings for behavior that the interface does not define.
        names: the brand names in paths, headers and media types.
        base_url: the address in links, by default the address of each request.
        background: True to deliver notifications in a thread, by default on platforms with threads. If False, only
            `deliver` delivers them, and only to functions of this process.

    Raises ValueError for another URL, ImportError without the extra `postgres` or `s3`, and OSError if the folder, the
    database or the bucket is damaged, in use, or that of another program.

    >>> from svc_notebooks.core.http.messages import Request
    >>> service = open_service(seed=0)
    >>> service.handle(Request("GET", "http://svc.local/storage/v3/files")).status
    401
    """
    clock = clock or (SystemClock() if seed is None else VirtualClock())
    settings = ServiceSettings(seed, clock, policy or Policy(), names or Names())
    context = open_context(path, content, settings, shared=shared, journal=journal)
    return Service(dataclasses.replace(context, base_url=base_url), background=background)


def open_saved(path: str | Path, *, branch: int = 0, background: bool | None = None) -> Service:
    """Open a service in memory from a file of `Service.save`, with stopped channels and a `branch` as in
    `Service.fork`.

    Raises OSError if the file cannot be read, and ValueError if it is damaged or has another format or version.
    """
    check_is_file(Path(path))
    with Path(path).open("rb") as file:
        try:
            return Service(load_context(file, branch), background=background)
        except ValueError as error:
            raise ValueError(f"{path} cannot be opened: {error}") from None


_WHERE = (
    "The service of this sandbox belongs to process {process} and does not work in a forked child process, because"
    " changes would be lost."
)
_USE_SOCKETS = "Use threads; or call lab.serve() before the fork, and connect(server.base_url, token) in each child."


_CLOSED = "The service is closed, so it handles no requests."
_REOPEN = "Create a new sandbox with svc.sandbox(), or open the service again."


def unusable_in_forks(service: object) -> None:
    """Make a service raise Unsupported in a forked child, without closing or finalizing the service's attributes."""
    elsewhere = ForkedChild(_WHERE.format(process=os.getpid()), _USE_SOCKETS)

    def leave(service: object) -> None:
        attributes = vars(service)
        skip_finalizers(*attributes.values())
        attributes.update(dict.fromkeys(attributes, elsewhere))

    after_fork(service, leave)


_NEVER = 2**62


def upcoming_events(
    context: ServiceContext, since: datetime | None = None, until: datetime | None = None
) -> list[dict[str, Any]]:
    """Return the expirations and deliveries later than `since` and not later than `until`, sorted by time.

    By default `since` is now. A dict has the keys `time`, `what`, `user`, `subject` and `detail`.
    """
    first, last = to_millis(since) if since else context.millis(), to_millis(until) if until else _NEVER
    return [
        {
            **deadline._asdict(),
            "time": format_millis(deadline.time),
            "subject": deadline.subject or context.policy.default_name,
        }
        for deadline in context.store.deadlines(first, last, context.policy.session_lifetime)
    ]
