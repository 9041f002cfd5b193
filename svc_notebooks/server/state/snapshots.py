"""Copies the state of a service, to restore the service, to build another service or to write a file."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from itertools import count
from typing import Any

from ..blobs.blob_store import BlobStore, MemoryBlobStore, check_parts
from ..context.service_context import ServiceContext
from ..files.storage_errors import naming_files
from ..storage.clock import virtual_clock_of
from ..storage.shared_clock import unshared
from ..tables import Store


@dataclass(frozen=True, slots=True)
class ServiceState:
    """The state of a service at one moment, with the time of the clock and the state of the id generators.

    `rows` is an image of the database. `parts` shares the bytes with the service if possible.
    """

    rows: bytes
    parts: BlobStore
    now: datetime
    ids: Any

    @classmethod
    def of(cls, context: ServiceContext, parts: BlobStore) -> ServiceState:
        """Return the present state of a service. Raises DamagedContent if a part is missing or has the wrong length."""
        with context.store.exclusive(), naming_files(context):
            kept = parts.copy(context.store.contents.parts())
            return cls(context.store.image(), kept, context.clock.now(), context.ids.state())

    def restore(self, context: ServiceContext, parts: BlobStore) -> None:
        """Restore a service to this state.

        Parts are restored before the rows that name the parts, and other parts are deleted last, so a kill loses
        nothing.
        """
        with context.store.exclusive():
            parts.restore(self.parts)
            with context.content.replacing():
                context.store.restore(self.rows)
            context.ids.go_to(self.ids)
        if virtual := virtual_clock_of(context.clock):
            virtual.put(self.now)

    def load_into(self, store: Store) -> MemoryBlobStore:
        """Load the rows into a new store, and return a store in memory with the parts. Raises DamagedContent."""
        store.restore(self.rows)
        if isinstance(self.parts, MemoryBlobStore):
            return self.parts
        copied = MemoryBlobStore()
        for part in check_parts(self.parts, store.contents.parts()):
            copied.add(part.key, self.parts.read(part, 0, part.size))
        return copied

    def drop(self) -> None:
        """Delete the parts of this state. The state cannot be restored any more."""
        self.parts.drop()


class Snapshots:
    """The snapshots of a service by id. They are deleted when the service is closed."""

    def __init__(self) -> None:
        self._states: dict[str, ServiceState] = {}
        self._numbers = count(1)

    def take(self, context: ServiceContext, parts: BlobStore) -> str:
        """Take a snapshot of the service and return the id of the snapshot, such as "snapshot-1".

        Raises ValueError for a store that several processes share.
        """
        if context.store.is_shared:
            raise ValueError(unshared("snapshots cannot be taken"))
        key = f"snapshot-{next(self._numbers)}"
        self._states[key] = ServiceState.of(context, parts)
        return key

    def restore(self, key: str, context: ServiceContext, parts: BlobStore) -> None:
        """Restore the service to the snapshot with the id `key`. Raises ValueError if the id is unknown."""
        state = self._states.get(key)
        if state is None:
            raise ValueError(f"{key!r} is not a snapshot; existing snapshots: {', '.join(self._states) or 'none'}")
        state.restore(context, parts)

    def clear(self) -> None:
        """Delete all snapshots."""
        for state in self._states.values():
            state.drop()
        self._states.clear()
