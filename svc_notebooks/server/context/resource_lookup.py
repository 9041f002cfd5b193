"""Whether a service has a resource of an id: a file, a channel, a calendar or an event of any calendar."""

from __future__ import annotations

from collections.abc import Callable

from ..store import Store

_EXISTS: dict[str, Callable[[Store, str], bool]] = {
    "file": lambda store, key: store.files.get(key) is not None,
    "channel": lambda store, key: store.channels.get(key) is not None,
    "calendar": lambda store, key: store.calendars.get(key) is not None,
    "event": lambda store, key: store.events.exists(
        key.split("_")[0]
    ),  # an instance has the id of its series, and a time
}


def resource_exists(store: Store, kind: str, key: str) -> bool:
    """Whether the store has a resource of this kind and id, whoever may see it."""
    return _EXISTS[kind](store, key)
