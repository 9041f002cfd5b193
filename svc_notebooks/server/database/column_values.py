"""Checks values in archive rows, such as times and JSON objects. Rows of the service itself need no check."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from ...core.clock import to_millis
from ...core.events.calendars import CalendarRole
from ...core.files.permissions import GRANTEES, Role
from ...core.http.messages import JSON
from ...core.notifications.channels import ChannelState as ChannelState
from ...core.time_zones import zone_names
from ...core.uploads.states import UploadState as UploadState

_FIRST = to_millis(datetime(1, 1, 2, tzinfo=UTC))
_LAST = to_millis(datetime(9999, 12, 30, tzinfo=UTC))


def _object(value: JSON) -> bool:
    try:
        return isinstance(json.loads(str(value)), dict)
    except (ValueError, RecursionError):
        return False


def _among(*words: str | int) -> Callable[[JSON], bool]:
    return lambda value: value in words


# fmt: off
MEANING: Mapping[str, Callable[[JSON], bool]] = {
    **dict.fromkeys((
        "files.created", "files.modified", "files.modified_by_me", "files.viewed", "files.trashed_at",
        "permissions.since", "channels.expiration", "messages.due", "changes.time", "calendars.created",
        "events.start", "events.end", "events.created", "events.updated", "invitations.time",
    ), lambda value: isinstance(value, int) and _FIRST <= value <= _LAST),
    **dict.fromkeys(("tokens.expires", "sessions.touched", "grants.expires"),
                    lambda value: isinstance(value, int | float) and _FIRST / 1000 <= value <= _LAST / 1000),
    **dict.fromkeys(("files.extra", "sessions.metadata", "calendars.body", "calendar_entries.body", "events.body"),
                    _object),
    **dict.fromkeys(("files.size", "sessions.stored", "sessions.total", "rope.start", "rope.stop"),
                    lambda value: isinstance(value, int) and value >= 0),
    "calendars.zone":       lambda value: value in zone_names(),
    "permissions.type":     _among(*GRANTEES),
    "permissions.role":     _among(*map(int, Role)),
    "calendar_access.role": _among(0, *map(int, CalendarRole)),
    "sessions.state":       _among(*(state.value for state in UploadState)),
    "channels.state":       _among(*(state.value for state in ChannelState)),
}
# fmt: on
"""The check function for each "table.column". `is_valid_value` accepts None in every column."""


def is_valid_value(table: str, column: str, value: JSON) -> bool:
    """Return True if a value, which already has the right type, is valid in a column.

    >>> is_valid_value("files", "created", 0), is_valid_value("files", "created", 2**62)
    (True, False)
    """
    check = MEANING.get(f"{table}.{column}")
    return value is None or check is None or check(value)
