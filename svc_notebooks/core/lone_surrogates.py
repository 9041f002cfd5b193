"""Texts that no database stores and no client reads: half of a surrogate pair is no character."""

from __future__ import annotations

import json
from collections.abc import Iterator

from .errors.catalogue import Row, row
from .http.messages import JSON

NO_TEXT = "expected text: it has half of a surrogate pair."


def lone_surrogates(value: JSON) -> list[Row]:
    """What of a JSON value cannot be printed again, by its path.

    >>> [error.location for error in lone_surrogates({"a": ["x", chr(0xD800)]})]
    ['a[1]']
    """
    if _is_encodable(json.dumps(value, ensure_ascii=False, default=str)):
        return []
    return [row("invalid", field=path or "body", message=NO_TEXT) for path in _surrogate_paths(value, "")]


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _surrogate_paths(value: JSON, path: str) -> Iterator[str]:
    """The paths of such texts. A key that is one is shown as its object's."""
    if isinstance(value, str) and not _is_encodable(value):
        yield path
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from _surrogate_paths(member, f"{path}[{index}]")
    elif isinstance(value, dict):
        for key, member in value.items():
            member_path = f"{path}.{key}" if path else key
            yield from _surrogate_paths(member, member_path) if _is_encodable(key) else (path,)
