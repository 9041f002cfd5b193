"""Stores the current session, which public functions use if they are called without a `session` argument."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias

from ..client.session import Session, SystemTime
from ..core.platform import capabilities

if TYPE_CHECKING:
    from ..core.clock import Clock


class SessionOwner(Protocol):
    """An object with a session, which is a `Sandbox`. Every `session` argument accepts it."""

    @property
    def session(self) -> Session:
        """The signed-in session."""


SessionLike: TypeAlias = "Session | SessionOwner | None"
"""A session, a `Sandbox`, which stands for its own session, or None for the current session."""


_NO_SESSION = (
    "There is no session yet: call sandbox() for a service in this kernel,"
    " or connect(base_url, token) for another service."
)
_NO_SESSION_HERE = (
    "There is no session yet in this process, which was started by another one: call connect(base_url, token) in it, or"
    " start it with initializer=svc.connect, initargs=(base_url, token)."
)

_current: Session | None = None


def current_session() -> Session:
    """Return the session that `sandbox()` or `connect()` created last, or in a block `with session:` this session.

    A forked process has the current session of its parent process.

    Returns:
        The current `Session`.

    Raises:
        RuntimeError: This process has no session yet. A spawned process (spawn, forkserver, joblib) starts without a
            session.

    >>> lab = svc.sandbox()
    >>> svc.current_session() is lab.session
    True
    """
    if _current is None:
        raise RuntimeError(_NO_SESSION_HERE if _is_child_process() else _NO_SESSION)
    return _current


def _is_child_process() -> bool:
    """Return True if `multiprocessing` started this process from another Python process."""
    if not capabilities().processes:
        return False
    from multiprocessing import parent_process

    return parent_process() is not None


def session_or_current(session: SessionLike) -> Session:
    """Return `session`, the session of a sandbox, or the current session for None.

    Raises TypeError for another type and, without a current session, RuntimeError.
    """
    if session is None:
        return current_session()

    owned = getattr(session, "session", session)
    if not isinstance(owned, Session):
        hint = f"; lab.sign_in({session!r}) returns the session of a user" if isinstance(session, str) else ""
        raise TypeError(
            f"session must be a Session from connect(), a Sandbox or None, not {type(session).__name__}{hint}"
        )
    return owned


def current_clock() -> Clock:
    """Return the clock of the current session, or without one that of the system."""

    return SystemTime() if _current is None else _current.clock


def make_current(session: Session | None) -> Session | None:
    """Make `session` the current session, and return the previous current session (None if there was none)."""
    global _current
    previous, _current = _current, session
    return previous


Session.swap_current = make_current


def reset_current(session: Session, previous: Session | None) -> None:
    """Make `previous` the current session if `session` is still the current session. Otherwise do nothing."""
    if _current is session:
        make_current(previous)
