"""Lists and creates calendars, and lists the colours of events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.events.colors import EVENT_COLORS
from ..current_session import SessionLike, session_or_current
from ..frames.event_schemas import CALENDARS, COLORS
from ..frames.frames import frame
from ..times import zone_name

if TYPE_CHECKING:
    from pandas import DataFrame

    from ..times import Zone


def calendars(*, session: SessionLike = None) -> DataFrame:
    """List the caller's own and shared calendars. The primary calendar is the first row.

    Returns:
        One row for each calendar: id, summary, time_zone, access_role (str), primary (boolean), description (str).

    >>> lab = svc.sandbox()
    >>> svc.calendars()[["id", "access_role"]].values.tolist()
    [['ada@svc.example', 'owner']]
    """
    from ...client.events.events import list_calendars

    entries = [{"primary": False, **entry} for entry in list_calendars(session_or_current(session))]
    return frame(CALENDARS, entries)


def create_calendar(
    summary: str,
    *,
    time_zone: Zone | None = None,
    description: str | None = None,
    session: SessionLike = None,
) -> DataFrame:
    """Create a secondary calendar. Pass its id to `create_event(calendar=...)`.

    Args:
        summary: The name of the calendar.
        time_zone: The time zone of the calendar, as an IANA name or a ZoneInfo. None: the service's time zone.
        description: A text that describes the calendar.

    Returns:
        One row for the new calendar, with the columns of `calendars`.

    Raises:
        ValueError: There is no such time zone.
        BadRequest: The service refused the calendar.

    >>> lab = svc.sandbox()
    >>> term = svc.create_calendar("Term", time_zone="Europe/Berlin")
    >>> svc.calendars()["summary"].tolist()
    ['ada@svc.example', 'Term']
    """
    from ...client.events.events import insert_calendar

    body = {"summary": summary, "timeZone": zone_name("time_zone", time_zone), "description": description}
    made = insert_calendar(
        session_or_current(session), {name: value for name, value in body.items() if value is not None}
    )
    return frame(CALENDARS, [{"primary": False, "accessRole": "owner", **made}])


def event_colors(*, session: SessionLike = None) -> DataFrame:
    """List the colours of events. Pass the id or the name of a colour to `create_event(color=...)`.

    Returns:
        One row for each colour: id, name (str), background, foreground (str, CSS colours such as "#a4bdfc").

    See docs/rules.md#e-24 (E-24).

    >>> lab = svc.sandbox()
    >>> svc.event_colors().head(2)[["id", "name"]].values.tolist()
    [['1', 'Lavender'], ['2', 'Sage']]
    """
    from ...client.events.events import colors

    palette = colors(session_or_current(session)).get("event")
    entries = palette if isinstance(palette, dict) else {}
    names = {key: color.name for key, color in EVENT_COLORS.items()}
    return frame(
        COLORS,
        [{"id": key, "name": names.get(key), **entry} for key, entry in entries.items() if isinstance(entry, dict)],
    )
