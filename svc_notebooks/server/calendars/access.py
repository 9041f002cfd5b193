"""Finds calendars, and the roles that users have on them (E-01)."""

from __future__ import annotations

import json

from ...core.api.operations import CALENDAR_ID
from ...core.errors.catalogue import refuse
from ...core.events.calendars import CalendarRole
from ...core.resources.calendars import Calendar, Reminder
from ..dispatch.service_context import RequestContext, ServiceContext
from ..files.resource import display_name
from .tables import CalendarRow

PRIMARY = "primary"
_OWNER_SCOPES = {"calendar.events.owned", "calendar.events.owned.readonly"}
_NARROW_SCOPES = _OWNER_SCOPES | {"calendar.app.created"}


def calendar_of(
    context: ServiceContext, request: RequestContext, minimum_role: CalendarRole, name: str | None = None
) -> CalendarRow:
    """Return the calendar with the id `name`, or by default with the id in the path.

    Raises ApiError (404) if the caller cannot see the calendar, and (403) if the caller's role is below `minimum_role`.
    """
    calendar_id = request.path_params[CALENDAR_ID] if name is None else name
    user = request.caller.user  # "" with an API key
    row = primary_of(context, user) if user and calendar_id == PRIMARY else calendar_by_id(context, calendar_id)
    role = role_of(context, user, row) if row else None
    if row is None or role is None:
        raise refuse("calendarNotFound", calendarId=calendar_id[:200])
    # Some scopes give access only to calendars that the app has created, or to calendars that the user owns.
    scopes = request.caller.scopes
    reaches_all = bool(scopes & request.operation.scopes - _NARROW_SCOPES)
    created_by_app = "calendar.app.created" in scopes and row.client == request.caller.client
    owned = role is CalendarRole.OWNER and bool(scopes & _OWNER_SCOPES)
    if not (reaches_all or created_by_app or owned):
        raise refuse("calendarNotFound", calendarId=calendar_id[:200])
    if role < minimum_role:
        raise refuse("calendarAccess", role=minimum_role.wire_name)
    return row


def calendar_by_id(context: ServiceContext, calendar_id: str) -> CalendarRow | None:
    """Return the calendar with this id, or the primary calendar of the user with this e-mail address, or None."""
    row = context.store.calendars.get(calendar_id)
    if row is None and context.store.users.root(calendar_id.lower()):
        return primary_of(context, calendar_id.lower())
    return row


def primary_of(context: ServiceContext, user: str) -> CalendarRow:
    """Return a user's primary calendar. The first call creates the calendar."""
    row = context.store.calendars.get(user)
    if row is None:
        summary = json.dumps({"summary": user})
        row = CalendarRow(user, user, "", context.policy.calendar_zone, context.millis(), summary)
        context.store.calendars.save(row)
    return row


def role_of(context: ServiceContext, user: str, row: CalendarRow) -> CalendarRole | None:
    """Return the role of a user on a calendar, or None if the user has no access."""
    if row.owner == user:
        return CalendarRole.OWNER
    scopes = ("default", f"domain:{user.partition('@')[2]}", f"user:{user}")
    roles = [CalendarRole(grant.role) for grant in context.store.calendars.grants(row.id) if grant.scope in scopes]
    return max(roles, default=None)


def title_of(row: CalendarRow) -> str:
    """Return the title of a calendar, or the display name of its owner if the calendar has no title."""
    return str(json.loads(row.body).get("summary") or display_name(row.owner))


def calendar_resource(context: ServiceContext, row: CalendarRow) -> Calendar:
    """Build the Calendar resource for a stored calendar."""
    body: Calendar = json.loads(row.body)
    head: Calendar = {"kind": context.names.calendar_kind("calendar"), "etag": etag(row), "id": row.id}
    return {**head, **body, "timeZone": row.zone}


def etag(row: CalendarRow) -> str:
    """Return the etag of a calendar."""
    return f'"{row.created * 2}000"'


def default_reminders(context: ServiceContext) -> list[Reminder]:
    """Return the reminders that apply to events without reminders of their own."""
    return [{"method": "popup", "minutes": context.policy.default_reminder}]
