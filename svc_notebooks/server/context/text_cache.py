"""Keeps the JSON of stored events between requests, so that a list encodes only the events that have changed.

The key of a text is made of all values that determine the text, such as the whole row of the event. So a text never
becomes wrong, and nothing has to remove it when the event changes.
"""

from __future__ import annotations

from collections.abc import Hashable
from threading import Lock

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
