"""The contexts that every handler receives, one for the service and one for the request, and the caches in them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, Protocol

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

    bytes: int = 256 * _MIB
    requests_per_minute: int = 600
    channels: int = 20


MAX_SERIES = 30_000
"""The largest number of recurring events that are kept. Each takes about 2 KB of memory."""


class SeriesCache:
    """The parsed recurring events of the calendars that were listed last, by calendar and by row number."""

    def __init__(self, most: int = MAX_SERIES) -> None:
        self._most = most
        self._calendars: OrderedDict[Hashable, Mapping[int, Any]] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    def get(self, calendar: Hashable) -> Mapping[int, Any]:
        """Return the kept series of a calendar, empty if there are none."""
        with self._lock:
            return self._calendars.get(calendar, {})

    def keep(self, calendar: Hashable, series: Mapping[int, Any]) -> None:
        """Keep the series of a calendar. Drops the calendars not listed for longest if there are too many."""
        with self._lock:
            self._size += len(series) - len(self._calendars.pop(calendar, {}))
            if series:
                self._calendars[calendar] = series
            while self._size > self._most:
                _, dropped = self._calendars.popitem(last=False)
                self._size -= len(dropped)


MAX_CHARACTERS = 8 * 1024 * 1024
"""The largest number of characters of all texts and keys together."""


class TextCache:
    """The last texts, with at most `most` characters together. The oldest text is removed first."""

    def __init__(self, most: int = MAX_CHARACTERS) -> None:
        self._most = most
        self._texts: dict[Hashable, tuple[str, int]] = {}
        self._characters = 0
        self._lock = Lock()

    def get(self, key: Hashable) -> str | None:
        """Return the text with a key, or None if it is not kept."""
        kept = self._texts.get(key)
        return kept[0] if kept else None

    def keep(self, key: Hashable, text: str, size: int) -> None:
        """Keep a text whose key has `size` characters. A text that is larger than the whole cache is not kept."""
        size += len(text)
        with self._lock:
            if key in self._texts or size > self._most:
                return
            self._texts[key] = text, size
            self._characters += size
            while self._characters > self._most:
                oldest = next(iter(self._texts))
                self._characters -= self._texts.pop(oldest)[1]


MAX_OPEN_SERIES = 30_000
"""The largest size of all open cursors together, in recurring events. Each takes about 2 KB of memory."""

_ROWS_READ_AHEAD = 70
"""The size, in recurring events, of the rows of single events that a cursor has read ahead."""


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


class CursorCache:
    """The open cursors of a service, by keys that identify the list, the next page and the state of the calendar."""

    def __init__(self, most: int = MAX_OPEN_SERIES) -> None:
        self._most = most
        self._open: OrderedDict[Hashable, Cursor] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    def take(self, key: Hashable) -> Cursor | None:
        """Remove and return the cursor with a key, with a full budget, or None if no such cursor is open."""
        with self._lock:
            cursor = self._open.pop(key, None)
            self._size -= _size(cursor)
        if cursor and cursor.work:
            cursor.work.renew()
        return cursor

    def keep(self, key: Hashable, cursor: Cursor) -> None:
        """Keep a cursor open, unless its list is cheap to begin. Closes those not used for longest beyond the limit."""
        if not cursor.series:
            return
        with self._lock:
            self._size += _size(cursor) - _size(self._open.pop(key, None))
            self._open[key] = cursor
            while self._size > self._most:
                _, closed = self._open.popitem(last=False)
                self._size -= _size(closed)


def _size(cursor: Cursor | None) -> int:
    return _ROWS_READ_AHEAD + cursor.series if cursor else 0


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
    cursors: CursorCache = field(default_factory=CursorCache)
    series: SeriesCache = field(default_factory=SeriesCache)
    texts: TextCache = field(default_factory=TextCache)
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
