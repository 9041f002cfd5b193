"""Converts disk errors and errors in stored data to HTTP error responses."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ...core.errors.catalogue import ApiError, refuse
from ..dispatch.service_context import ServiceContext
from ..store.blob_store import ContentsUnavailable, DamagedContent
from ..store.errors import FULL, DatabaseDamaged, DatabaseUnreachable, UnstorableText
from .access import effective_role

_log = logging.getLogger(__name__)

_MOST_LOOKED_UP = 100


def disk_refusal(error: OSError, context: ServiceContext | None = None, user: str = "") -> ApiError:
    """Log a disk error and return the ApiError for the response.

    For damaged content, the log names all affected files, and the response only the files that the user can see.
    """
    if isinstance(error, DamagedContent):
        _log.error("%s", with_files(context, error) if context else error)
        visible_error = with_files(context, error, user) if context else error
        return refuse("contentDamaged", file=visible_error.owner, problem=visible_error.problem)
    if isinstance(error, DatabaseDamaged):
        _log.error("%s", error)
        return refuse("databaseDamaged")
    if isinstance(error, DatabaseUnreachable | ContentsUnavailable):
        _log.error("%s", error)
        return refuse("unavailable")
    if isinstance(error, UnstorableText):
        return refuse("badRequest", message=str(error))
    if error.errno in FULL:
        _log.error("the disk is full: %s", error)
        return refuse("diskFull")
    _log.error("the disk failed", exc_info=error)
    return refuse("backendError")


def with_files(context: ServiceContext, error: DamagedContent, user: str | None = None) -> DamagedContent:
    """Return a copy of the error with the affected files that a user can see, or all affected files for None."""
    rows = []
    with suppress(OSError):  # if the database is damaged, too, the files are unknown
        rows = context.store.files.of_parts(list(error.problems)[:_MOST_LOOKED_UP])
    visible_rows = [row for row in rows if user is None or effective_role(context, user, row) is not None]
    return DamagedContent(error.problems, [f"{row.name} ({row.id})" for row in visible_rows])


@contextmanager
def naming_files(context: ServiceContext) -> Iterator[None]:
    """Add the names of the affected files to a DamagedContent error that the `with` block raises."""
    try:
        yield
    except DamagedContent as error:
        raise with_files(context, error) from None
