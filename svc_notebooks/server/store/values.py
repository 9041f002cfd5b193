"""Values about a running service by key: the fault plans and the limits of single users."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any


class EditedValue:
    """A value that is changed. If `is_announced` is true, other processes of a shared store must follow."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.is_announced = True


class LocalValues(dict[str, Any]):
    """The values of a service whose store no other process uses. SharedValues has the same methods."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = RLock()

    @contextmanager
    def editing(self, key: str) -> Iterator[EditedValue]:
        """Change a value in a `with` block, while no other thread can change it."""
        with self._lock:
            edited = EditedValue(self.get(key))
            yield edited
            self[key] = edited.value
