"""The contexts that every handler receives, one for the service and one for the request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from ...convert.pool.converter import Converter
from ...core.api.operations import FILE_ID, PERMISSION_ID, Operation
from ...core.brand_names import Names
from ...core.clock import to_millis
from ...core.http.messages import Body, Headers, Query, Request
from ...core.policy import Policy
from ..storage.clock import SystemClock, VirtualClock
from ..storage.content_io import Content
from ..storage.disk_reserve import Reserve
from ..storage.ids import Ids
from ..storage.session_locks import SessionLocks
from ..tables import Store
from ..tables.search import Viewer
from ..tables.shared.kept_rows import KeptRecords
from .access_tokens import Caller
from .cursors import CursorCache
from .quotas import Quota
from .request_journal import JournalEntry
from .series_cache import SeriesCache
from .text_cache import TextCache


@dataclass(frozen=True, slots=True)
class ServiceContext:
    """The store, the content, the clock, the policy and the other objects that all handlers of one service use.

    `base_url` is the address of the service in links; with None, links use the address of the request. `folder`
    contains the stored data; with None, the data is in memory. `notes` are sentences about problems found at the
    opening. `quotas` has the quota of each user who has one. `records` are the journal and the log of deliveries in the
    database, or None if they are in memory.
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

    def millis(self) -> int:
        """Return the current time in Unix milliseconds."""
        return to_millis(self.clock.now())

    @property
    def folder_type(self) -> str:
        """The media type of folders."""
        return self.names.native("folder")

    @property
    def shortcut_type(self) -> str:
        """The media type of shortcuts."""
        return self.names.native("shortcut")

    def root(self, user: str) -> str:
        """Return the id of the root folder of a user, or "" if the user is unknown."""
        return self.store.users.root(user) or ""


class RequestContext(NamedTuple):
    """A request with its operation and caller. `method` is the X-HTTP-Method-Override of a POST, if present."""

    http_request: Request
    method: str
    operation: Operation
    path_params: Mapping[str, str]
    query: Query
    caller: Caller
    body: Body
    journal_entry: JournalEntry

    @property
    def headers(self) -> Headers:
        """The headers of the request."""
        return self.http_request.headers

    @property
    def file_id(self) -> str:
        """The id of the file in the path, or "" if the path has no file id."""
        return self.path_params.get(FILE_ID, "")

    @property
    def permission_id(self) -> str:
        """The id of the permission in the path, or "" if the path has no permission id."""
        return self.path_params.get(PERMISSION_ID, "")

    def viewer(self, context: ServiceContext) -> Viewer:
        """Return the caller as a `Viewer`, the form that the searches of the store take."""
        user = self.caller.user
        shared = context.store.permissions.has_any(user)
        client, app_only = self.caller.client, self.caller.app_only
        return Viewer(user, user.lower(), context.root(user), client, context.folder_type, shared, app_only)
