"""The contexts that every handler receives, with the caller of a request (T-01, T-03) and the caches of a service."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar
from urllib.parse import urlsplit

from ...convert.pool.converter import Converter
from ...core.api.error_rules import rule_for_scopes
from ...core.api.operations import ALL_SCOPES, CONTENT, PERMISSION_ID, READ, Operation
from ...core.brand_names import IN_PROCESS_URL, Names
from ...core.errors.catalogue import refuse
from ...core.events.rrule import WorkBudget
from ...core.http.messages import Body, Headers, Query, Request
from ...core.http.origins import is_in_networks
from ...core.policy import Policy
from ...core.suggestions import nearest_name
from ...core.times import to_millis
from ..store.clock import VirtualClock
from ..store.contents import Content
from ..store.data_directory import Reserve
from ..store.ids import Ids
from ..store.session_locks import SessionLocks
from ..store.store import Store
from .journal import JournalEntry

if TYPE_CHECKING:
    from ..store.postgres.side_connections import KeptRecords

BEARER = re.compile(r"[Bb][Ee][Aa][Rr][Ee][Rr] +([^\s]+) *")

# The scopes that give access to the claims of the user only. The first three have no prefix.
IDENTITY_SCOPES = ("openid", "email", "profile", "userinfo.email", "userinfo.profile")

_APP_ONLY = frozenset({"storage.appdata", "storage.file"})


@dataclass(frozen=True, slots=True)
class Caller:
    """The user and the client of an access token.

    `scopes` contains scope names without the base URI, such as "storage.file". `expires` is in Unix seconds, or None.
    `app_only` is true if the scopes give access only to files that the client created or opened.
    """

    user: str
    client: str
    scopes: frozenset[str]
    service_account: bool
    expires: float | None
    app_only: bool = False

    def with_scopes(self, scopes: frozenset[str]) -> Caller:
        """Return this caller with the value of `app_only` for an operation that accepts any of these scopes."""
        app_only = _APP_ONLY.issuperset(self.scopes & scopes) and not _APP_ONLY.isdisjoint(scopes)
        return self if app_only is self.app_only else replace(self, app_only=app_only)


# The caller of a page or of a request with an API key, who may see what is shared with everybody.
ANONYMOUS = Caller("", "", READ | CONTENT | {"calendar.readonly"}, False, None)

# The operations that accept an API key in place of an access token, with `Policy(api_keys=True)`.
WITH_API_KEY = frozenset(
    {
        "calendars.get", "colors.get", "events.get", "events.instances", "events.list", "files.export", "files.get",
        "files.list",
    }
)  # fmt: skip


def has_only_key(headers: Mapping[str, object], query: Query) -> bool:
    """Return True if a request has an API key and no access token. `headers` has the names in lower case."""
    has_token = "authorization" in headers or query.get("access_token") or query.get("oauth_token")
    return bool(query.get("key")) and not has_token


def bearer(request: Request) -> str | None:
    """Return the unchecked bearer token of the Authorization header. Return None without a bearer token."""
    match = BEARER.fullmatch(request.headers.get("Authorization") or "")
    return match[1] if match else None


def require_scopes(caller: Caller, scopes: frozenset[str], operation: Operation) -> Caller:
    """Return the caller with `app_only` set for these scopes. Raises ApiError (403) if the caller has no such scope."""
    if caller.scopes.isdisjoint(scopes):
        rule, known = rule_for_scopes(operation, caller.scopes), ", ".join(sorted(scopes))
        headers = [("WWW-Authenticate", 'Bearer error="insufficient_scope"')]
        raise refuse("missingScope", decided_by=rule, headers=headers, operation=operation.name, scopes=known)
    return caller.with_scopes(scopes)


def scope_names(scopes: Iterable[str] | None, policy: Policy, names: Names) -> str:
    """Convert scopes, given as URIs or as names, to the scope names of the interface, joined by spaces.

    None stands for all scopes. Raises ValueError for an unknown scope.
    """
    if scopes is None:
        return " ".join(ALL_SCOPES)
    known = {scope: scope for scope in (*ALL_SCOPES, *IDENTITY_SCOPES)}
    known |= {names.scope(scope): scope for scope in ALL_SCOPES}
    last_segments = [scope.removeprefix(policy.auth_scope_base + "/") for scope in scopes]
    if unknown := [scope for scope in last_segments if scope not in known]:
        scope, public = unknown[0], list(map(names.scope, ALL_SCOPES))
        ends = [name for name in public if name.endswith(f".{scope}") and name.count(".") == scope.count(".") + 1]
        near = ends or [name for name in [nearest_name(scope, public)] if name]
        hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"the scopes are {', '.join(public)}"
        raise ValueError(f"{scope!r} is not a scope; {hint}")
    return " ".join(known[scope] for scope in last_segments)


_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Quota:
    """The most that a student can use: bytes of files and open uploads, requests in a minute, and active channels."""

    bytes: int = 512 * _MIB
    requests_per_minute: int = 600
    channels: int = 20


T = TypeVar("T")


class SizedCache(Generic[T]):
    """Values by key, whose sizes together are at most `most`. The value that was kept first is removed first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[Hashable, tuple[T | None, int]] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    def get(self, key: Hashable) -> T | None:
        """Return the value with a key, or None if it is not kept."""
        kept = self._values.get(key)
        return kept[0] if kept else None

    def take(self, key: Hashable) -> T | None:
        """Remove and return the value with a key, or return None if it is not kept."""
        with self._lock:
            value, size = self._values.pop(key, (None, 0))
            self._size -= size
        return value

    def keep(self, key: Hashable, value: T, size: int) -> None:
        """Keep a value. A value that is larger than the whole cache is not kept."""
        if size > self._most:
            return
        with self._lock:
            self._size += size - self._values.pop(key, (None, 0))[1]
            self._values[key] = value, size
            while self._size > self._most:
                _, (_, removed) = self._values.popitem(last=False)
                self._size -= removed


# The largest number of recurring events that are kept, and of those in open cursors. Each takes about 2 KB.
MAX_SERIES = 30_000

# The largest number of characters of all kept texts of events and of their rows together.
MAX_CHARACTERS = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Cursor:
    """The rest of a list of events. `work` limits the steps that each page may take.

    `series` is the number of recurring events that are expanded. Without any, the list is cheap to begin at any key.
    `shared` has the JSON that the instances of each series have in common.
    """

    entries: Iterator[Any]
    series: int = 0
    work: WorkBudget | None = None
    shared: dict[int, str] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """The memory that an open cursor takes, in recurring events."""
        return 70 + self.series  # with the rows of single events that it has read ahead


class Listening(Protocol):
    """A socket server."""

    base_url: str
    stopping: bool


@dataclass(frozen=True, slots=True)
class ServiceContext:
    """The store, the content, the clock, the policy and the other objects that all handlers of one service use.

    `base_url` is the address of the service in links; with None, links use the address of the request. `folder`
    contains the stored data; with None, the data is in memory. `notes` are sentences about problems found at the
    opening. `quotas` has the quota of each user who has one. `records` are the journal and the log of deliveries in the
    database, or None if they are in memory. `servers` are the socket servers whose
    addresses are in links, of which some have ended.
    """

    store: Store
    content: Content
    session_locks: SessionLocks
    clock: VirtualClock
    ids: Ids
    policy: Policy
    names: Names
    converter: Converter
    base_url: str | None
    secret: str
    folder: Path | None = None
    notes: Sequence[str] = ()
    reserve: Reserve = field(default_factory=lambda: Reserve(None))
    cursors: SizedCache[Cursor] = field(default_factory=lambda: SizedCache(MAX_SERIES))
    series: SizedCache[Mapping[int, Any]] = field(default_factory=lambda: SizedCache(MAX_SERIES))
    texts: SizedCache[str] = field(default_factory=lambda: SizedCache(MAX_CHARACTERS))
    quotas: dict[str, Quota] = field(default_factory=dict)
    records: KeptRecords | None = None
    servers: list[Listening] = field(default_factory=list)
    folder_type: str = field(init=False)
    shortcut_type: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "folder_type", self.names.native("folder"))
        object.__setattr__(self, "shortcut_type", self.names.native("shortcut"))

    def millis(self) -> int:
        """Return the current time in Unix milliseconds."""
        return to_millis(self.clock.now())

    def root(self, user: str) -> str:
        """Return the id of the root folder of a user, or "" if the user is unknown."""
        return self.store.users.root(user) or ""

    def byte_limit(self, user: str) -> int | None:
        """Return the most bytes that the files and open uploads of a user can have, or None without a limit."""
        quota = self.quotas.get(user)
        return quota.bytes if quota else self.policy.storage_limit


class RequestContext(NamedTuple):
    """A request with its operation and caller. `method` is the X-HTTP-Method-Override of a POST, if present.

    `file_id` is the id of the file in the path, or "" if the path has no file id.
    """

    http_request: Request
    headers: Headers
    method: str
    operation: Operation
    path_params: Mapping[str, str]
    file_id: str
    query: Query
    caller: Caller
    body: Body
    journal_entry: JournalEntry

    @property
    def permission_id(self) -> str:
        """The id of the permission in the path, or "" if the path has no permission id."""
        return self.path_params.get(PERMISSION_ID, "")


# -- the address of the service in links


_HOST = re.compile(r"(?:[A-Za-z0-9._~%-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?")
_PAIR = re.compile(r'(proto|host)\s*=\s*("[^"]*"|[^;,\s]+)', re.IGNORECASE)
_FORWARDED = frozenset({"forwarded", "x-forwarded-proto", "x-forwarded-host"})
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}


def external_base_url(request: Request, context: ServiceContext) -> str:
    """Return the base URL at which clients reach the service. Raises ApiError (400) for an invalid Host."""
    if context.base_url:
        return context.base_url.rstrip("/")
    return external_origin(request, context) + context.policy.path_prefix


def link_base_url(request: Request, context: ServiceContext) -> str:
    """Return the base URL of links to files and events. Raises ApiError (400) for an invalid Host.

    A request in this process has no address that a browser can open. Its links have that of the newest socket server
    that runs.
    """
    if context.base_url:
        return context.base_url.rstrip("/")
    base_url = external_origin(request, context) + context.policy.path_prefix
    if not context.servers or base_url != IN_PROCESS_URL:
        return base_url
    return next((server.base_url for server in reversed(context.servers) if not server.stopping), base_url)


def external_origin(request: Request, context: ServiceContext) -> str:
    """Return the origin at which clients reach the service. Raises ApiError (400) for an invalid Host."""
    if context.base_url:
        scheme, host, *_ = urlsplit(context.base_url)
        return f"{scheme}://{host}"
    scheme, host, *_ = urlsplit(request.url)
    headers = request.headers.by_name()
    host = headers.get("host", [""])[0] or host
    if not _FORWARDED.isdisjoint(headers) and (
        context.policy.trust_forwarded or is_in_networks(request.client, context.policy.proxies)
    ):
        # The proxy next to the client wrote the first element of each header.
        forwarded, proto, forwarded_host = (
            (request.headers.get(name) or "").split(",")[0].strip()
            for name in ("Forwarded", "X-Forwarded-Proto", "X-Forwarded-Host")
        )
        parameters = {key.lower(): value.strip('"') for key, value in _PAIR.findall(forwarded)}
        scheme = (parameters.get("proto") or proto or scheme).lower()
        scheme = scheme if scheme in _DEFAULT_PORTS else "http"
        host = parameters.get("host") or forwarded_host or host
    if not _HOST.fullmatch(host):
        raise refuse("invalidHeader", name="Host", message="expected a host name with an optional port.")
    return f"{scheme}://{host.removesuffix(_DEFAULT_PORTS.get(scheme, ':80'))}"
