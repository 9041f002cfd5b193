"""The contexts that every handler receives, one for the service and one for the request, and the caches in them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from ...convert.pool.converter import Converter
from ...core.api.operations import PERMISSION_ID, Operation
from ...core.brand_names import Names
from ...core.clock import to_millis
from ...core.events.rrule import WorkBudget
from ...core.http.messages import Body, Headers, Query, Request
from ...core.policy import Policy
from ..store.clock import SystemClock, VirtualClock
from ..store.content_io import Content
from ..store.disk_reserve import Reserve
from ..store.ids import Ids
from ..store.postgres.kept_rows import KeptRecords
from ..store.session_locks import SessionLocks
from ..store.store import Store
from .caller import Caller
from .journal import JournalEntry

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


MAX_SERIES = 30_000
"""The largest number of recurring events that are kept, and of those in open cursors. Each takes about 2 KB."""

MAX_CHARACTERS = 8 * 1024 * 1024
"""The largest number of characters of all kept texts of events and of their rows together."""


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
    clock: SystemClock | VirtualClock
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
