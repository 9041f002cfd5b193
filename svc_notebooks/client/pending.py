"""The journal of unfinished uploads: what another run of the same cell needs to go on (A3-25)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def default_folder(environment: Mapping[str, str]) -> Path:
    """Where the journal lies unless a session says otherwise: below the user's state directory.

    >>> default_folder({"XDG_STATE_HOME": "/home/ada/state"}).as_posix()
    '/home/ada/state/svc-notebooks'
    """
    if named := environment.get("SVC_NOTEBOOKS_STATE"):
        return Path(named)
    state = environment.get("XDG_STATE_HOME")
    return (Path(state) if state else Path("~/.local/state").expanduser()) / "svc-notebooks"


class Journal:
    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
