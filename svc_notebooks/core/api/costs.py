"""What a request costs, in the units in which the family counts, and the family's limits (X-04).

The family publishes units for four kinds of operations on files; each of ours is one of these kinds. Calendars
count requests.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from .operations import SESSION, Operation

Counting = Literal["units", "requests"]

GET, LIST, DOWNLOAD, UPDATE = 5, 100, 200, 50

# fmt: off
COSTS: Mapping[str, int] = {
    "files.create":              UPDATE,
    "files.update":              UPDATE,
    "files.copy":                UPDATE,
    "files.get":                 GET,
    "files.generateIds":         GET,
    "files.list":                LIST,
    "files.emptyTrash":          UPDATE,
    "files.delete":              UPDATE,
    "files.export":              DOWNLOAD,
    "permissions.create":        UPDATE,
    "permissions.list":          LIST,
    "permissions.get":           GET,
    "permissions.update":        UPDATE,
    "permissions.delete":        UPDATE,
    "files.watch":               UPDATE,
    "changes.getStartPageToken": GET,
    "changes.list":              LIST,
    "changes.watch":             UPDATE,
    "channels.stop":             UPDATE,
    "about.get":                 GET,
    SESSION.name:                UPDATE,
}
# fmt: on

QUOTAS: Mapping[str, Mapping[str, object]] = {
    "family": {"rate_limit": 325_000, "calendar_rate_limit": 600, "rate_costs": "units"},
    "family before": {"rate_limit": 12_000, "calendar_rate_limit": 600, "rate_costs": "requests"},
}
"""The limits of the family per user and minute, as fields of `Policy`; a project's as a whole are not kept here."""


def cost(operation: Operation, counting: Counting, *, media: bool = False) -> int:
    """What one request costs; `media`: it asks for a file's content.

    >>> from .operations import OPERATIONS
    >>> cost(OPERATIONS[0], "units"), cost(OPERATIONS[0], "requests")
    (50, 1)
    """
    if counting == "requests" or operation.calendar:
        return 1
    return DOWNLOAD if media else COSTS[operation.name]
