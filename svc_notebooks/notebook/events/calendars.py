"""Lists and creates calendars, and lists the colours of events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias

from ...client.events.events import (
    colors,
    delete_access_rule,
    insert_access_rule,
    insert_calendar,
    list_access_rules,
    list_calendars,
)
from ...client.session import SessionLike, session_or_current
from ...core.events.calendars import ROLES
from ...core.resources.colors import EVENT_COLORS
from ..batch.batch import Batch, Errors, Report, RowCall, RowOperation, run
from ..frames.event_schemas import CALENDAR_PERMISSIONS, CALENDARS, COLORS
from ..frames.frames import Record, frame
from ..people import people as read_people, roles_of
from .body import calendar_ids
from .event_times import Zone, zone_name

if TYPE_CHECKING:
    from pandas import DataFrame

    from ...client.session import Session
    from ..arguments import Column, File


def calendars(*, session: SessionLike = None) -> DataFrame:
    """List the caller's own and shared calendars. The primary calendar is the first row.

    Returns:
        One row for each calendar: id, summary, time_zone, access_role (str), primary (boolean), description (str).

    >>> lab = svc.sandbox()
    >>> svc.calendars()[["id", "access_role"]].values.tolist()
    [['ada@svc.example', 'owner']]
    """

    entries = [{"primary": False, **entry} for entry in list_calendars(session_or_current(session))]
    return frame(CALENDARS, entries)


def create_calendar(
    summary: str, *, time_zone: Zone | None = None, description: str | None = None, session: SessionLike = None
) -> DataFrame:
    """Create a secondary calendar. Pass its row, id or name to `create_event(calendar=...)`.

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

    body = {"summary": summary, "timeZone": zone_name("time_zone", time_zone), "description": description}
    made = insert_calendar(
        session_or_current(session), {name: value for name, value in body.items() if value is not None}
    )
    return frame(CALENDARS, [{"primary": False, "accessRole": "owner", **made}])


def event_colors(*, session: SessionLike = None) -> DataFrame:
    """List the colours of events. Pass the id or the name of a colour to `create_event(color=...)`.

    Returns:
        One row for each colour: id, name (str), background, foreground (str, CSS colours such as "#a4bdfc").

    See tests/rules.csv (E-24).

    >>> lab = svc.sandbox()
    >>> svc.event_colors().head(2)[["id", "name"]].values.tolist()
    [['1', 'Lavender'], ['2', 'Sage']]
    """

    palette = colors(session_or_current(session)).get("event")
    entries = palette if isinstance(palette, dict) else {}
    names = {key: color.name for key, color in EVENT_COLORS.items()}
    return frame(
        COLORS,
        [{"id": key, "name": names.get(key), **entry} for key, entry in entries.items() if isinstance(entry, dict)],
    )


# -- gives people roles on calendars, removes the roles, and lists them


_Row: TypeAlias = tuple[str, str]


def share_calendar(
    calendar: File,
    people: str | Iterable[str],
    *,
    role: Column[str] | None = None,
    errors: Errors = None,
    session: SessionLike = None,
) -> DataFrame:
    """Give people a role on calendars. It replaces the role that a person already has.

    The calendar is then in the list `calendars()` of each person whom `people` names, and channels on that list get a
    message. The service sends no e-mail.

    Args:
        calendar: The id or name of a calendar, "primary", a row or a DataFrame of `calendars()`, or a list of these.
        people: An e-mail address, "anyone" (everyone who has the calendar's id), "domain:example.com" (every user of
            this domain), or several of these: in a list, a column, one text with commas between them, or a DataFrame
            such as that of `calendar_permissions()`.
        role: "freeBusyReader" (sees when the owner is busy), "reader" (sees the events), "writer" (also changes the
            events) or "owner" (also shares the calendar), or a list or Series with a role for each person. None: the
            column role of a DataFrame of people, or else "reader".
        errors: What happens with an error of one of several rows. See docs/bulk.md.

    Returns:
        One row for each calendar and person: calendar, id (str, the id of the permission), type (str: user, domain or
        anyone), role, email_address, domain (str; missing if not of this type), outcome, error (str), attempts
        (Int64), seconds (Float64).

    Raises:
        TypeError, ValueError: An argument is not valid; nothing was sent.
        NotAllowed: Only an owner can share the calendar.
        NotFound: The calendar does not exist, or this user has no access to it.

    >>> lab = svc.sandbox()
    >>> svc.share_calendar("primary", "bob@svc.example, eve@svc.example", role="freeBusyReader")["type"].tolist()
    ['user', 'user']
    """
    rules = [*map(_rule_id, read_people("people", people))]
    call = partial(_share_row, roles=dict(zip(rules, roles_of(people, role, len(rules), ROLES), strict=True)))
    return _run(call, calendar, people, "Share calendars", Batch(errors=errors), session)


def unshare_calendar(
    calendar: File, people: str | Iterable[str], *, errors: Errors = None, session: SessionLike = None
) -> DataFrame:
    """Remove the roles of people on calendars. People without another role, as of their domain, lose access.

    Args:
        calendar: The id or name of a calendar, "primary", a row or a DataFrame of `calendars()`, or a list of these.
        people: The people, as for `share_calendar`.
        errors: What happens with an error of one of several rows. See docs/bulk.md.

    Returns:
        One row for each removed role, with the columns of `share_calendar`.

    Raises:
        NotFound: A calendar does not exist, or is not shared with one of the people.
        NotAllowed: Only an owner can remove a role.

    >>> lab = svc.sandbox()
    >>> given = svc.share_calendar("primary", "bob@svc.example")
    >>> svc.unshare_calendar("primary", "bob@svc.example")["role"].tolist()
    ['reader']
    """
    return _run(_unshare_row, calendar, people, "Unshare calendars", Batch(errors=errors), session)


def calendar_permissions(calendar: File = "primary", *, session: SessionLike = None) -> DataFrame:
    """List who has which role on calendars. The owner comes first.

    Args:
        calendar: The id or name of a calendar, "primary", a row or a DataFrame of `calendars()`, or a list of these.

    Returns:
        One row for each role: calendar, id, type (str: user, domain or anyone), role, email_address, domain (str;
        missing if not of this type).

    Raises:
        NotAllowed: Only an owner can see the roles.

    >>> lab = svc.sandbox()
    >>> svc.calendar_permissions()[["email_address", "role"]].values.tolist()
    [['ada@svc.example', 'owner']]
    """

    session = session_or_current(session)
    ids = calendar_ids(session, calendar)
    rules = [(name, rule) for name in ids for rule in list_access_rules(session, name)]
    return frame(CALENDAR_PERMISSIONS, [_record((name, rule["id"]), rule["role"]) for name, rule in rules])


def _run(
    call: RowCall[_Row], calendar: File, people: object, title: str, batch: Batch, session: SessionLike
) -> DataFrame:
    """Call a function for each calendar and each of the people, as the calendar's id and the id of an access rule."""
    rules = [*map(_rule_id, read_people("people", people))]
    session = session_or_current(session)
    rows = list(product(calendar_ids(session, calendar), rules))
    operation = RowOperation(CALENDAR_PERMISSIONS, call, known=_record, title=title, unit="permissions")
    return run(operation, rows, session, batch)


def _share_row(session: Session, row: _Row, report: Report, *, roles: Mapping[str, str]) -> Record:

    scope_type, _, value = row[1].partition(":")
    role = roles[row[1]]
    insert_access_rule(session, row[0], {"role": role, "scope": {"type": scope_type, "value": value}})
    return _record(row, role)


def _unshare_row(session: Session, row: _Row, report: Report) -> Record:

    return _record(row, delete_access_rule(session, *row).get("role"))


def _rule_id(person: Mapping[str, Any]) -> str:
    """Return the id of the access rule of an e-mail address, "anyone" or a domain."""
    value = str(person.get("email") or dict(person))
    if value == "anyone":
        return "default"
    if not value.startswith("domain:") and "@" not in value:
        raise ValueError(f'people has {value!r}; give an e-mail address, "anyone" or "domain:example.com"')
    return value.lower() if value.startswith("domain:") else f"user:{value.lower()}"


def _record(row: _Row, role: str | None = None) -> Record:
    calendar, rule_id = row
    scope_type, _, value = rule_id.partition(":")
    column = "domain" if scope_type == "domain" else "emailAddress"
    scope_type = "anyone" if scope_type == "default" else scope_type
    return {"calendar": calendar, "id": rule_id, "type": scope_type, "role": role, column: value or None}
