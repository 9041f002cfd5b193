"""Calls the function of one row, in this process or in a worker process, and returns the outcome of the call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from ...client.transport.retry import repeated_requests
from ...core.errors.caller_warning import CallerWarnings, collected_warnings
from ...core.errors.errors import (
    AlreadyExists,
    BadRequest,
    ContentMismatch,
    NotAllowed,
    NotFound,
    SessionExpired,
    SourceChanged,
)

if TYPE_CHECKING:
    from ...client.session import Session
    from ...client.session_recipe import SessionRecipe

Row = TypeVar("Row")

Report: TypeAlias = Callable[[int, int | None], None]
"""A function that is called with the bytes done and the total bytes. The total is None if it is not known."""

RowCall: TypeAlias = "Callable[[Session, Row, Report], Mapping[str, Any]]"
"""A function that is called for each row and returns the record of its result.

For worker processes it must be picklable: a function of a module, or a `functools.partial` of one.
"""

ROW_ERRORS = (
    AlreadyExists,
    BadRequest,
    ContentMismatch,
    NotAllowed,
    NotFound,
    SessionExpired,
    SourceChanged,
    OSError,
)
"""The exception types that concern only one row, so that the calls for the other rows may succeed."""


class RowOutcome(NamedTuple):
    """The outcome of the call of one row: a record, or the error that the call raised.

    `attempts` is 1 and the number of requests that were sent again. `seconds` is the duration of the call. `warnings`
    are the warnings of the call, which the caller of all rows shows.
    """

    record: Mapping[str, Any] | None
    error: Exception | None
    attempts: int
    seconds: float
    warnings: CallerWarnings


def call_row(call: RowCall[Row], session: Session, row: Row, report: Report) -> RowOutcome:
    """Call the function of a row and return the outcome. Only an interrupt is raised."""
    started, repeated = session.elapsed(), repeated_requests.get()
    record, failure = None, None
    with collected_warnings() as warnings:
        try:
            record = call(session, row, report)
        except Exception as error:
            failure = error
    return RowOutcome(record, failure, 1 + repeated_requests.get() - repeated, session.elapsed() - started, warnings)


_sessions: dict[str, Session] = {}
"""The sessions of this worker process by the keys of their recipes. The calls of all rows share a session."""


def call_row_in_worker(recipe: SessionRecipe, call: RowCall[Row], row: Row) -> RowOutcome:
    """Call the function of a row in a worker process, with a session that is opened once in this process."""
    from ...client.session import Session

    session = _sessions.get(recipe.key) or _sessions.setdefault(recipe.key, Session.from_recipe(recipe))
    return call_row(call, session, row, lambda done, total: None)
