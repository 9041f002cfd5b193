"""Lists the events of the shown period, from all shown calendars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, tzinfo
from typing import TYPE_CHECKING

from ...core.events.times import instant
from ...core.time_zones import zone
from ..event.to_arguments import call_text
from .period import Period
from .shown_event import ShownEvent, calendar_name

if TYPE_CHECKING:
    from ...client.session import Session
    from ...core.resources.calendars import CalendarListEntry

MOST = 2500
"""The largest number of events that the view lists from each calendar."""


@dataclass(frozen=True, slots=True)
class ListRequest:
    """A request for the events of a period in some calendars. `zone_name` is the time zone in which days begin."""

    period: Period
    calendars: tuple[CalendarListEntry, ...]
    zone_name: str

    def send(self, session: Session) -> Listing:
        """Return at most `MOST` events of each calendar. Cancelled events are not listed."""
        from ...client.events.events import list_events

        shown: list[ShownEvent] = []
        incomplete: list[str] = []
        tz = zone(self.zone_name)
        query = {
            "timeMin": _instant(self.period.days[0], tz),
            "timeMax": _instant(self.period.end, tz),
            "singleEvents": "true",
            "orderBy": "startTime",
        }
        for calendar in self.calendars:
            events = [*list_events(session, str(calendar["id"]), query, limit=MOST + 1)]
            if len(events) > MOST:
                incomplete.append(calendar_name(calendar))
            shown += [ShownEvent(event, calendar) for event in events[:MOST] if event.get("status") != "cancelled"]
        return Listing(self, tuple(shown), tuple(incomplete))

    def code(self) -> str:
        """Return the calls of `events` that list the same events."""
        days = self.period.days
        arguments = {"time_min": str(days[0]), "time_max": str(self.period.end), "single_events": True}
        rest = {"order_by": "start_time", "limit": MOST, "time_zone": self.zone_name}
        calls = []
        for calendar in self.calendars:
            named = {} if calendar.get("primary") else {"calendar": str(calendar["id"])}
            calls.append(call_text("events", (), {**arguments, **rest, **named}))
        return "\n".join(calls) or "svc.calendars()"


@dataclass(frozen=True, slots=True)
class Listing:
    """The listed events. `incomplete` has the names of calendars with more than `MOST` events in the period."""

    request: ListRequest
    events: tuple[ShownEvent, ...] = ()
    incomplete: tuple[str, ...] = ()

    def find(self, key: str) -> ShownEvent:
        """Return the event with this key. Raises ValueError if the event is not listed any more."""
        for shown in self.events:
            if shown.key == key:
                return shown
        raise ValueError("This event is not in the list any more. Refresh the view.")


def chosen_calendars(entries: Sequence[CalendarListEntry], ids: Sequence[str]) -> tuple[CalendarListEntry, ...]:
    """Return the entries with these ids, where "primary" means the primary calendar. Raises ValueError for others."""
    by_id = {str(entry["id"]): entry for entry in entries}
    primary = next((entry for entry in entries if entry.get("primary")), None)
    if primary is not None:
        by_id["primary"] = primary
    for each in ids:
        if each not in by_id:
            raise ValueError(f"calendar has {each!r}, which is not in your list. svc.calendars() lists the calendars.")
    return tuple(dict((str(by_id[each]["id"]), by_id[each]) for each in ids).values())


def _instant(day: date, tz: tzinfo) -> str:
    return instant(day, tz).isoformat().replace("+00:00", "Z")
