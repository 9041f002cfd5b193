"""Tests whether a file, a channel, a calendar or an event with an id exists."""

from __future__ import annotations

from collections.abc import Callable

from ..tables import Store

_EXISTS: dict[str, Callable[[Store, str], bool]] = {
    "file": lambda store, key: store.files.get(key) is not None,
    "channel": lambda store, key: store.channels.get(key) is not None,
    "calendar": lambda store, key: store.calendars.get(key) is not None,
    "event": lambda store, key: store.events.exists(key.split("_")[0]),  # an instance has the id of its series
}


def resource_exists(store: Store, resource_type: str, resource_id: str) -> bool:
    """Return whether the store has a resource of this type and id, for any user."""
    return _EXISTS[resource_type](store, resource_id)
