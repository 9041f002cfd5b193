"""What every handler works with: the house that serves, and the call that is served."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...convert.pool.converter import Converter
from ...core.api.operations import FILE_ID, PERMISSION_ID, Operation
from ...core.clock import to_millis
from ...core.http.messages import Body, Headers, Query, Request
from ...core.names import Names
from ...core.policy import Policy
from ..storage.clock import SystemClock, VirtualClock
from ..storage.content import Content
from ..storage.disk_reserve import Reserve
from ..storage.ids import Ids
from ..storage.session_locks import Lanes
from ..store import Store
from ..store.search import Viewer
from .access_tokens import Caller
from .journal import Entry


@dataclass(frozen=True, slots=True)
class House:
    """The parts of one service; `base_url` is where clients find it, None: as each request says.

    `folder` keeps everything, None: memory; `notes` are sentences about what was noticed when it was opened.
    """

    store: Store
    content: Content
    lanes: Lanes
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

    def millis(self) -> int:
        """The present instant in Unix milliseconds."""
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
        """The id of the folder that everything of a user is in."""
        return self.store.people.root(user) or ""


@dataclass(frozen=True, slots=True)
class Call:
    """One request that has found its operation and its caller; `method` is the one that was meant."""

    request: Request
    method: str
    operation: Operation
    places: Mapping[str, str]
    query: Query
    caller: Caller
    body: Body
    entry: Entry

    @property
    def headers(self) -> Headers:
        """The request's headers."""
        return self.request.headers

    @property
    def file_id(self) -> str:
        """The file's id in the path."""
        return self.places.get(FILE_ID, "")

    @property
    def permission_id(self) -> str:
        """The permission's id in the path."""
        return self.places.get(PERMISSION_ID, "")

    def viewer(self, house: House) -> Viewer:
        """Who looks, as the store asks for it."""
        user = self.caller.user
        shared = house.store.permissions.has_any(user)
        return Viewer(user, house.root(user), self.caller.client, house.folder_type, shared, self.caller.app_only)
