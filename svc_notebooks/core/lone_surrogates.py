"""Search for lone surrogates in JSON values, which cannot be stored or encoded."""

from __future__ import annotations

import json
from collections.abc import Iterator

from .errors.catalogue import Row, row
from .http.messages import JSON

NO_TEXT = "expected text without lone surrogates."


def lone_surrogates(value: JSON) -> list[Row]:
    """Return an error row for each text in a JSON value that contains a lone surrogate.

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
    """Yield the path of each text with a lone surrogate, or of the parent object if the text is a key."""
    if isinstance(value, str) and not _is_encodable(value):
        yield path
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from _surrogate_paths(member, f"{path}[{index}]")
    elif isinstance(value, dict):
        for key, member in value.items():
            member_path = f"{path}.{key}" if path else key
            yield from _surrogate_paths(member, member_path) if _is_encodable(key) else (path,)
