"""The marker with which a folder or a bucket for contents names its store, and the decision whether to open it."""

from __future__ import annotations

import json
from typing import Any

MARKER = "svc-contents.json"
_FORMAT = "svc-notebooks contents"
_VERSION = 1
_ABOUT = (
    "This folder has the contents of the files of a svc-notebooks store (svc-notebooks serve --content), whose rows are"
    " in a PostgreSQL database. Copy, move or delete it together with the database, while no service uses it."
)


def marker_of(store: str) -> bytes:
    """Return the content of the marker of the store with the id `store`."""
    content = {"about": _ABOUT, "format": _FORMAT, "version": _VERSION, "store": store}
    return json.dumps(content, indent=2).encode() + b"\n"


def check_content(place: object, store: str, marker: bytes | None, *, is_empty: bool, has_parts: bool) -> None:
    """Raise OSError if a folder or a bucket cannot be used for the contents of a store.

    `marker` is the content of its marker, or None. Without a marker it must be empty, and the store must have no parts.
    """
    if marker is not None:
        if _read(place, marker) != store:
            raise refusal(place, "it has the contents of another store")
    elif not is_empty:
        raise refusal(place, "it is neither empty nor the folder of a store")
    elif has_parts:
        raise refusal(place, "it is empty, but the database names parts of files")


def refusal(place: object, problem: str) -> OSError:
    """Return the error for a folder or a bucket that cannot be used."""
    return OSError(f"{place} cannot be used with this database, and was not changed: {problem}; choose its folder")


def _read(place: object, marker: bytes) -> str:
    try:
        content: Any = json.loads(marker)
        form, number, store = content["format"], content["version"], content["store"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise refusal(place, f"{MARKER} cannot be read") from None
    if (form, number) != (_FORMAT, _VERSION):
        raise refusal(place, f"{MARKER} is not a marker that this package supports")
    return str(store)
