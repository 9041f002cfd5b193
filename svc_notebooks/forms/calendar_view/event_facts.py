"""The facts about an event that the calendar view shows when a person opens the event."""

from __future__ import annotations

from datetime import tzinfo
from typing import TYPE_CHECKING, Any

from ...notebook.html import join_html, tag
from .shown_event import ShownEvent, calendar_name

if TYPE_CHECKING:
    from ...core.resources.events import Event

_RESPONSES = ("accepted", "declined", "tentative")
_MOST_GUESTS = 12
_MOST_CHARACTERS = 600


def event_facts(shown: ShownEvent, tz: tzinfo) -> dict[str, object]:
    """Return the facts by name. Facts without a value are None or empty."""
    event, span = shown.event, shown.span(tz)
    own_zone = event["start"].get("timeZone")
    description = str(event.get("description") or "")
    return {
        "When": span.text,
        "Time zone": own_zone if own_zone not in (None, str(tz)) and not span.all_day else None,
        "Repeats": "yes, this event is one of a series" if shown.series_id else None,
        "Location": event.get("location"),
        "Description": description[:_MOST_CHARACTERS] + ("…" if len(description) > _MOST_CHARACTERS else ""),
        "Guests": _guests(event),
        "Conference": event.get("hangoutLink"),
        "Calendar": calendar_name(shown.calendar),
        "Status": event.get("status") if event.get("status") != "confirmed" else None,
        "Access": None if shown.editable else "You can only read this calendar.",
        "ID": tag("code", shown.id),
    }


def _guests(event: Event) -> object:
    guests: list[Any] = [*(event.get("attendees") or [])]
    lines = [_guest(guest) for guest in guests[:_MOST_GUESTS]]
    if len(guests) > _MOST_GUESTS:
        lines.append(f"… and {len(guests) - _MOST_GUESTS} more")
    return join_html(*(tag("div", line) for line in lines))


def _guest(guest: dict[str, Any]) -> str:
    response = guest.get("responseStatus")
    return f"{guest.get('displayName') or guest.get('email')}{f' ({response})' if response in _RESPONSES else ''}"
