"""Calls public functions, and records the code and the result of each call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ...notebook.frames.frames import Record, frame, schema
from ..event.to_arguments import call_text

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.session import Session

CHANGED = schema(
    """
    action      text
    id          text
    calendar    text
    summary     text
    start       time
    end         time
    timeZone    text
    recurrence  any
    etag        text
    """
)
"""The columns of the events that the calendar view has changed."""


class CallLog:
    """The calls of one change. `code` is the code of all calls, `records` has a record of each changed event.

    `options` are arguments of all calls, such as `send_updates`.
    """

    def __init__(self, session: Session, options: Mapping[str, str] | None = None) -> None:
        self.session = session
        self.options = dict(options or {})
        self._texts: list[str] = []
        self.records: list[Record] = []

    @property
    def code(self) -> str:
        return "\n".join(self._texts)

    def run(self, action: str, function: Callable[..., DataFrame], *positional: Any, **named: Any) -> DataFrame:
        """Call a public function of events, which returns one row, and record the call as `action`."""
        named |= self.options
        quiet = {} if function.__name__ == "create_event" else {"progress": False}
        result = function(*positional, **named, **quiet, session=self.session)
        self._texts.append(call_text(function.__name__, positional, named))
        (row,) = result.to_dict("records")
        fields = {name: row.get(name) for name in ("id", "summary", "start", "end", "recurrence", "etag")}
        calendar = named.get("calendar", "primary")
        record = {"action": action, "calendar": calendar, "timeZone": row.get("time_zone"), **fields}
        self.records.append({name: None if _is_missing(value) else value for name, value in record.items()})
        return result


def _is_missing(value: Any) -> bool:
    return value is None or (not isinstance(value, list | str) and value != value)


def changed_frame(records: Iterable[Record]) -> DataFrame:
    """Return the DataFrame of changed events."""
    return frame(CHANGED, [*records])
