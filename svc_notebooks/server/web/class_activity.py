"""Counts the requests of each account of a class for the live page.

The service knows requests, and not the exercises to which they belong. So a step is an operation, such as files.create,
with the numbers of requests that succeeded and failed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TypedDict

from ...core.clock import format_time
from ..auth.class_accounts import ClassAccounts
from ..context.request_journal import Journal, JournalEntry
from ..context.service_context import ServiceContext


class StudentRow(TypedDict):
    """An account of a class. `last` is the time of the last request, and `bytes` the size of the files."""

    name: str
    email: str
    role: str
    active: bool
    last: str | None
    requests: int
    errors: int
    bytes: int
    channels: int
    steps: dict[str, list[int]]


class _Counts:
    """The numbers of one user: requests that succeeded and failed, by operation."""

    def __init__(self) -> None:
        self.last: JournalEntry | None = None
        self.succeeded: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()

    def add(self, entry: JournalEntry) -> None:
        self.last = entry
        has_failed = entry.status is None or entry.status >= 400
        (self.failed if has_failed else self.succeeded)[entry.operation or "unknown"] += 1


def student_rows(context: ServiceContext, accounts: ClassAccounts, journal: Journal) -> list[StudentRow]:
    """Return a row for each account in the order of the roster, from the requests that the journal has."""
    counts = _count(journal.entries())
    return [
        {
            "name": account.name,
            "email": account.email,
            "role": account.role,
            "active": accounts.is_active(account.email),
            "last": format_time(own.last.time) if own.last else None,
            "requests": own.succeeded.total() + own.failed.total(),
            "errors": own.failed.total(),
            "bytes": context.store.files.usage(account.email)[0],
            "channels": context.store.channels.count_active(account.email, context.millis()),
            "steps": {name: [own.succeeded[name], own.failed[name]] for name in sorted({*own.succeeded, *own.failed})},
        }
        for account in accounts.accounts()
        for own in [counts.get(account.email) or _Counts()]
    ]


def _count(entries: Iterable[JournalEntry]) -> dict[str, _Counts]:
    counts: dict[str, _Counts] = {}
    for entry in entries:
        if entry.user is not None:
            counts.setdefault(entry.user, _Counts()).add(entry)
    return counts
