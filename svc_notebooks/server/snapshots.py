"""Copies of the whole state of a service in memory, to go back to."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from .clock import VirtualClock
from .house import House
from .parts import MemoryParts, Parts


@dataclass(frozen=True, slots=True)
class _Copy:
    """Rows, parts (whose blocks are shared), the clock and the ids as they were."""

    rows: bytes
    parts: dict[str, tuple[bytes, ...]]
    now: datetime
    ids: Any


class Snapshots:
    """The copies that were taken."""

    def __init__(self) -> None:
        self._copies: dict[str, _Copy] = {}

    def take(self, house: House, parts: Parts) -> str:
        """Copy the state; the id of the copy."""
        memory = _in_memory(parts)
        key = f"snapshot-{len(self._copies) + 1}"
        with house.store.still():
            self._copies[key] = _Copy(house.store.image(), memory.copy(), house.clock.now(), house.ids.state())
        return key

    def put_back(self, key: str, house: House, parts: Parts) -> None:
        """Make the state what it was when the copy was taken."""
        memory, found = _in_memory(parts), self._copies.get(key)
        if found is None:
            raise ValueError(f"{key!r} is no snapshot; there are {', '.join(self._copies) or 'none'}")
        with house.store.still():
            house.store.put_back(found.rows)
            memory.put_back(found.parts)
            house.ids.go_to(found.ids)
        if isinstance(house.clock, VirtualClock):
            house.clock.put(found.now)


def _in_memory(parts: Parts) -> MemoryParts:
    if not isinstance(parts, MemoryParts):
        raise ValueError("snapshots are for a service in memory; copy the folder of a service that is closed instead")
    return parts
