"""The marker: a file in the folder of a store that says that the folder is one, and which opening was the last."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from ..blobs.atomic_write import sync_folder

MARKER = "svc-store.json"
UNFINISHED = f"{MARKER}.unfinished"
FORMAT = "svc-notebooks store"
VERSION = 1

_ABOUT = (
    "This folder is a store of svc-notebooks (svc-notebooks serve --store, svc.sandbox(path)): svc.sqlite holds the"
    " rows, parts/ the contents of files. Copy, move or delete it as a whole, while no service uses it."
)


class Marker(NamedTuple):
    """The id of a store, and its last opening: how many there were, its token, whether it ended with a close."""

    store: str
    openings: int
    opening: str
    closed: bool


def read_marker(folder: Path) -> Marker:
    """The marker of a store. Raises ValueError with the rest of a sentence."""
    try:
        content: Any = json.loads((folder / MARKER).read_text(encoding="utf-8"))
        form, number, marker = content["format"], content["version"], Marker(*(content[key] for key in Marker._fields))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise ValueError(f"{MARKER} cannot be read") from None
    if form != FORMAT or [type(value) for value in marker] != [str, int, str, bool]:
        raise ValueError(f"{MARKER} is no marker of a store")
    if number != VERSION:
        raise ValueError(f"{MARKER} has version {number!r:.20} of the format, and this package knows {VERSION}")
    return marker


def write_marker(folder: Path, marker: Marker) -> None:
    """Replace the marker, so that a kill or a power cut leaves the old one or the new one."""
    content = {"about": _ABOUT, "format": FORMAT, "version": VERSION, **marker._asdict()}
    unfinished = folder / UNFINISHED
    with unfinished.open("w", encoding="utf-8") as file:
        json.dump(content, file, indent=2)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(folder / MARKER)
    sync_folder(folder)
