"""Keeps the current session, which calls without a session use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.platform import capabilities

if TYPE_CHECKING:
    from ..client.session import Session

_NO_SESSION = (
    "There is no session yet: call sandbox() for a service in this kernel,"
    " or connect(base_url, token) for one elsewhere."
)
_NO_SESSION_HERE = (
    "There is no session yet in this process, which was started by another one: call connect(base_url, token) in it, or"
    " start it with initializer=svc.connect, initargs=(base_url, token)."
)

_current: Session | None = None


def current_session() -> Session:
    """Return the session that `sandbox()` or `connect()` made last, in a forked process that of its parent.

    Raises:
        RuntimeError: There is no session yet, as in a spawned process (spawn, forkserver, joblib).

    >>> lab = svc.sandbox()
    >>> svc.current_session() is lab.session
    True
    """
    if _current is None:
        raise RuntimeError(_NO_SESSION_HERE if _is_child_process() else _NO_SESSION)
    return _current


def _is_child_process() -> bool:
    """Return True where another Python process has started this one."""
    if not capabilities().processes:
        return False
    from multiprocessing import parent_process

    return parent_process() is not None


def session_or_current(session: Session | None) -> Session:
    """Return the given session, or the current one for None. Raises TypeError for anything else."""
    if session is None:
        return current_session()
    from ..client.session import Session

    if not isinstance(session, Session):
        raise TypeError(f"session must be a Session, as connect() gives it, or None, not {type(session).__name__}")
    return session


def make_current(session: Session | None) -> Session | None:
    """Make this session the current one and return the one before."""
    global _current
    previous, _current = _current, session
    return previous


def reset_current(session: Session, previous: Session | None) -> None:
    """Make the previous session the current one, if this one still is."""
    if _current is session:
        make_current(previous)
