"""Lists and creates calendars, and lists the colours of events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.events.colors import EVENT_COLORS
from ..current_session import session_or_current
from ..frames.event_schemas import CALENDARS, COLORS
from ..frames.frames import frame
from ..times import zone_name

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.session import Session
    from .details import Zone


def calendars(*, session: Session | None = None) -> DataFrame:
    """List the caller's calendars, the primary one first, including shared ones.

    Returns:
        One row for each: id, summary, time_zone, access_role (str), primary (boolean), description (str).

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
    session: Session | None = None,
) -> DataFrame:
    """Create a secondary calendar, for `create_event(calendar=...)`.

    Args:
        summary: Its name.
        time_zone: An IANA name or a ZoneInfo; None: that of the service.
        description: A text.

    Returns:
        One row, with the columns of `calendars`.

    Raises:
        ValueError: There is no such time zone.
        BadRequest: The service refused it.

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


def event_colors(*, session: Session | None = None) -> DataFrame:
    """List the colours of events. `create_event(color=...)` takes their ids and their names.

    Returns:
        One row for each: id, name, background, foreground (str, as CSS writes them).

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
