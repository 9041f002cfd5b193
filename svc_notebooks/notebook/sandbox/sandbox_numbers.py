"""Numbers the sandboxes of this kernel, so that each draws ids of its own, and finds the owner of an id."""

from __future__ import annotations

import sys
from itertools import count
from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakSet

from ...core.errors.catalogue import missing_id
from ...core.errors.errors import NotFound, SvcError
from ...core.process_fork import after_fork

if TYPE_CHECKING:
    from .sandbox import Sandbox

_numbers = count(1)
_open_sandboxes: WeakSet[Sandbox] = WeakSet()
_lock = Lock()  # of _open: a set must not grow while another thread goes through it

_SEED_DISTANCE = 2**32  # so that no seed that a person would write is that of another sandbox


def _reset_after_fork(_: object) -> None:
    """In a forked child: the sandboxes that are open are the parent's."""
    global _lock
    _lock = Lock()
    _open_sandboxes.clear()


after_fork(sys.modules[__name__], _reset_after_fork)


def next_number() -> int:
    """The number of the sandbox that is opened now, from 1: a kernel that is restarted counts the same."""
    return next(_numbers)


def seed_of(number: int) -> int:
    """The seed of a sandbox that is given none; the first one has 0."""
    return (number - 1) * _SEED_DISTANCE


def register(sandbox: Sandbox) -> None:
    """Ids may be this sandbox's from now on."""
    with _lock:
        _open_sandboxes.add(sandbox)


def unregister(sandbox: Sandbox) -> None:
    """It is closed."""
    with _lock:
        _open_sandboxes.discard(sandbox)


def explain_not_found(error: SvcError, sandbox: Sandbox | None = None) -> SvcError:
    """The error; where its id belongs to another open sandbox than the one that was asked, it says to which."""
    if isinstance(error, NotFound) and (missing := missing_id(error.message)):
        owners = [lab for lab in _sandboxes() if _has_id(lab, *missing)]
        if owners and sandbox not in owners:
            error.advice = _advice(sorted(lab.number for lab in owners), sandbox)
    return error


def served_at(base_url: str) -> Sandbox | None:
    """The sandbox whose server has this address."""
    return next((lab for lab in _sandboxes() if lab.served == base_url), None)


def _sandboxes() -> list[Sandbox]:
    with _lock:
        return list(_open_sandboxes)


def _has_id(sandbox: Sandbox, kind: str, key: str) -> bool:
    try:
        return sandbox.service.has(kind, key)
    except Exception:  # its service was closed and it was not: no reason to hide the error that is explained here
        return False


def _advice(owners: list[int], sandbox: Sandbox | None) -> str:
    which = f"sandbox{'es' if len(owners) > 1 else ''} {' and '.join(map(str, owners))}"
    where = f"sandbox {sandbox.number}" if sandbox else "a service elsewhere"
    return (
        f"The id belongs to {which} of this kernel (in the order in which they were opened), and {where} was asked:"
        f" pass session=lab.session, where lab is the sandbox that has it."
    )
