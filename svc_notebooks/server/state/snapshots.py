"""The whole state of a service as a value: to go back to, to begin another service with, to write to a file."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from itertools import count
from typing import Any

from ..blobs.blob_store import BlobStore, MemoryBlobStore, checked_parts
from ..context.service_context import ServiceContext
from ..files.storage_errors import naming_files
from ..storage.clock import virtual_clock_of
from ..tables import Store


@dataclass(frozen=True, slots=True)
class ServiceState:
    """Rows, parts (whose bytes are shared), the instant and the ids as they were at one moment."""

    rows: bytes
    parts: BlobStore
    now: datetime
    ids: Any

    @classmethod
    def of(cls, context: ServiceContext, parts: BlobStore) -> ServiceState:
        """As it is now. Raises DamagedContent where a part is missing or has another length."""
        with context.store.exclusive(), naming_files(context):
            kept = parts.copy(context.store.contents.parts())
            return cls(context.store.image(), kept, context.clock.now(), context.ids.state())

    def restore(self, context: ServiceContext, parts: BlobStore) -> None:
        """Make the service that it was taken of what it was.

        First the parts, then the rows that name them, then away with the others: a kill in between loses nothing.
        """
        with context.store.exclusive():
            parts.restore(self.parts)
            with context.content.replacing():
                context.store.restore(self.rows)
            context.ids.go_to(self.ids)
        if virtual := virtual_clock_of(context.clock):
            virtual.put(self.now)

    def load_into(self, store: Store) -> MemoryBlobStore:
        """Give the rows to a new store; the parts, in memory. Raises DamagedContent."""
        store.restore(self.rows)
        if isinstance(self.parts, MemoryBlobStore):
            return self.parts
        copied = MemoryBlobStore()
        for part in checked_parts(self.parts, store.contents.parts()):
            copied.add(part.key, self.parts.read(part.key, 0, part.size))
        return copied

    def drop(self) -> None:
        """It is not needed any more."""
        self.parts.drop()


class Snapshots:
    """The states that were kept to go back to, as long as the service lives."""

    def __init__(self) -> None:
        self._states: dict[str, ServiceState] = {}
        self._numbers = count(1)

    def take(self, context: ServiceContext, parts: BlobStore) -> str:
        """Keep the state; the id to ask for it by."""
        key = f"snapshot-{next(self._numbers)}"
        self._states[key] = ServiceState.of(context, parts)
        return key

    def restore(self, key: str, context: ServiceContext, parts: BlobStore) -> None:
        """Go back. Raises ValueError for an id that `take` never gave."""
        state = self._states.get(key)
        if state is None:
            raise ValueError(f"{key!r} is no snapshot; there are {', '.join(self._states) or 'none'}")
        state.restore(context, parts)

    def clear(self) -> None:
        """None is needed any more."""
        for state in self._states.values():
            state.drop()
        self._states.clear()
