"""Numbers and registers the sandboxes of this kernel, and finds the sandbox to which an id belongs."""

from __future__ import annotations

import re
import sys
from itertools import count
from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakSet

from ...core.errors.catalogue import missing_id
from ...core.errors.errors import NotFound, SvcError
from ...core.platform import after_fork
from ...core.suggestions import MISSING

if TYPE_CHECKING:
    from .sandbox import Sandbox

_numbers = count(1)
_open_sandboxes: WeakSet[Sandbox] = WeakSet()
_lock = Lock()  # guards _open_sandboxes, because a set must not grow while another thread iterates

_SHORTEST_ID = 19

_EVENT_ID = re.compile(r"[a-v0-9]{20,}(_[0-9TZ]+)?")  # A text that can be the id of an event, or of an instance

# By the kind of a missing id, the other kind that the id may have, and the end of a sentence about it.
_OTHER_KINDS = {
    "file": ("event", "an event, which update_event and delete_event take"),
    "event": ("file", "a file, which update and delete take"),
}

SEED_DISTANCE = 2**32  # of two sandboxes with `seed="auto"`; larger than a seed that a person would write


def _reset_after_fork(_: object) -> None:
    """Clear the registry in a forked child process, which cannot use the sandboxes of its parent."""
    global _lock
    _lock = Lock()
    _open_sandboxes.clear()


after_fork(sys.modules[__name__], _reset_after_fork)


def next_number() -> int:
    """Return the number for a new sandbox. The first sandbox of a kernel has the number 1."""
    return next(_numbers)


def register(sandbox: Sandbox) -> None:
    with _lock:
        _open_sandboxes.add(sandbox)


def unregister(sandbox: Sandbox) -> None:
    with _lock:
        _open_sandboxes.discard(sandbox)


def explain_not_found(error: SvcError, sandbox: Sandbox | None = None, base_url: str = "") -> SvcError:
    """Add advice to a NotFound error, and return the error.

    The advice names another open sandbox that has the missing id, or the search for a file by its name. `sandbox`
    raised the error, or is None for the service at `base_url`, which may be the server of a sandbox. If the path of the
    request does not exist, the advice names this address. Other errors are returned unchanged.
    """
    sandbox = sandbox or next((lab for lab in open_sandboxes() if lab.served == base_url), None)
    is_unknown_path = error.status == 404 and not (error.location or missing_id(error.message))
    if is_unknown_path and base_url and (error.reason is None or base_url.count("/") > 2):
        error.advice = f"Check base_url ({base_url}): the client adds the path of the interface to it."
    if isinstance(error, NotFound) and (missing := missing_id(error.message)):
        owners = [lab for lab in open_sandboxes() if _has_id(lab, *missing)]
        kind, key = missing
        if owners and sandbox not in owners:
            numbers = " and ".join(str(number) for number in sorted(lab.number for lab in owners))
            target = f"sandbox {sandbox.number}" if sandbox else "another service"
            error.advice = (
                f"The id belongs to sandbox{'es' if len(owners) > 1 else ''} {numbers} of this kernel (numbered in the"
                f" order of opening), but the request was sent to {target}: pass session=lab for the sandbox with the"
                " id."
            )
        elif kind != "calendar" and "@group.calendar." in key:
            error.advice = f"This is the id of a calendar. {MISSING['delete_calendar'].replace('ID', key)}."
        elif sandbox and kind in _OTHER_KINDS and _has_id(sandbox, _OTHER_KINDS[kind][0], key):
            error.advice = f"This is the id of {_OTHER_KINDS[kind][1]}."
        elif kind == "file" and len(key) < _SHORTEST_ID:
            name = re.sub(r"[*?]", r"[\g<0>]", key)  # the file of this name and no other
            error.advice = (
                "No file has this id, and none in the top folder has this name;"
                f" files(name={name!r}) finds a file in all folders."
            )
        elif kind == "calendar":
            error.advice = "Give the id, the row or the name of a calendar of calendars()."
        elif kind == "event":
            search = "" if _EVENT_ID.fullmatch(key) else f" events({key!r}) finds an event by its words;"
            other = "for an event of another calendar give calendar=..., which calendars() lists"
            error.advice = f"Check the id;{search} {other}."
    return error


def open_sandboxes() -> list[Sandbox]:
    """Return the sandboxes of this kernel that are in use and not closed."""
    with _lock:
        return list(_open_sandboxes)


def _has_id(sandbox: Sandbox, kind: str, key: str) -> bool:
    try:
        return sandbox.service.has(kind, key)
    except Exception:  # the service was closed without the sandbox; this error must not hide the NotFound error
        return False
