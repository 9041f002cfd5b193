"""Handlers of calendars and the calendar list, and the roles that users have on calendars (E-01)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ...core.api.operations import CALENDAR_ID
from ...core.clock import format_time, from_millis
from ...core.errors.catalogue import refuse
from ...core.events import calendars
from ...core.events.calendars import CALENDAR_SHAPE, LIST_SHAPE, CalendarRole
from ...core.events.colors import CALENDAR_COLORS, EVENT_COLORS
from ...core.field_mask import Shape
from ...core.http.messages import Response
from ...core.resources.calendars import Calendar, CalendarList, CalendarListEntry, Colors
from ...core.resources.events import Reminder
from ..context.page_tokens import decode_page_token, encode_page_token
from ..context.responses import empty_response, json_response
from ..context.service_context import RequestContext, ServiceContext
from ..files.operations import int_param, parse_fields_param, read_json, select_fields
from ..files.resource import display_name
from ..tables.calendars import CalendarRow

PRIMARY = "primary"
_OWNER_SCOPES = {"calendar.events.owned", "calendar.events.owned.readonly"}
_NARROW_SCOPES = _OWNER_SCOPES | {"calendar.app.created"}
_DEFAULT_PAGE_SIZE, _MAX_PAGE_SIZE = 100, 250


def calendar_of(
    context: ServiceContext, request: RequestContext, minimum_role: CalendarRole, name: str | None = None
) -> CalendarRow:
    """Return the calendar with the id `name`, or by default with the id in the path.

    Raises ApiError (404) if the caller cannot see the calendar, and (403) if the caller's role is below `minimum_role`.
    """
    calendar_id = request.path_params[CALENDAR_ID] if name is None else name
    row = primary_of(context, request.caller.user) if calendar_id == PRIMARY else calendar_by_id(context, calendar_id)
    role = role_of(context, request.caller.user, row) if row else None
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
    head: Calendar = {"kind": context.names.kind("calendar"), "etag": _etag(row), "id": row.id}
    return {**head, **body, "timeZone": row.zone}


def _etag(row: CalendarRow) -> str:
    return f'"{row.created * 2}000"'


def list_entry(context: ServiceContext, user: str, row: CalendarRow) -> CalendarListEntry:
    """Build the CalendarListEntry resource, which shows a calendar in a user's calendar list."""
    role = role_of(context, user, row) or CalendarRole.READER
    body: CalendarListEntry = json.loads(row.body)
    color_id = "14" if row.primary else "7"
    entry: CalendarListEntry = {
        "kind": context.names.kind("calendarListEntry"),
        "etag": _etag(row),
        "id": row.id,
        **body,
        "timeZone": row.zone,
        "colorId": color_id,
        "backgroundColor": CALENDAR_COLORS[color_id].background,
        "foregroundColor": CALENDAR_COLORS[color_id].foreground,
        "selected": True,
        "accessRole": role.wire_name,
        "defaultReminders": default_reminders(context),
    }
    if row.id == user:
        entry["primary"] = True
    return entry


def default_reminders(context: ServiceContext) -> list[Reminder]:
    """Return the reminders that apply to events without reminders of their own."""
    return [{"method": "popup", "minutes": context.policy.default_reminder}]


def insert(context: ServiceContext, request: RequestContext) -> Response:
    """Create a secondary calendar and return the calendar."""
    fields = calendars.check_calendar(read_json(request.body, context.policy.max_metadata_size), creating=True)
    body = {name: value for name, value in fields.items() if value is not None}
    zone = str(body.pop("timeZone", context.policy.calendar_zone))
    name = f"{context.ids.calendar()}@group.calendar.{context.policy.domain}"
    row = CalendarRow(name, request.caller.user, request.caller.client, zone, context.millis(), json.dumps(body))
    context.store.calendars.save(row)
    return resource_response(request, calendar_resource(context, row), CALENDAR_SHAPE)


def get(context: ServiceContext, request: RequestContext) -> Response:
    """Return the calendar whose id is in the path."""
    row = calendar_of(context, request, CalendarRole.READER)
    return resource_response(request, calendar_resource(context, row), CALENDAR_SHAPE)


def patch(context: ServiceContext, request: RequestContext) -> Response:
    """Change the given fields of a calendar and return the calendar."""
    return _change(context, request, partial=True)


def update(context: ServiceContext, request: RequestContext) -> Response:
    """Replace all fields of a calendar and return the calendar."""
    return _change(context, request, partial=False)


def _change(context: ServiceContext, request: RequestContext, *, partial: bool) -> Response:
    body = calendars.check_calendar(read_json(request.body, context.policy.max_metadata_size), creating=not partial)
    with context.store.transaction():
        row = calendar_of(context, request, CalendarRole.OWNER)
        zone = str(body.pop("timeZone", None) or row.zone)
        merged = (json.loads(row.body) if partial else {}) | body
        fields = {name: value for name, value in merged.items() if value is not None}
        row = row._replace(zone=zone, body=json.dumps(fields))
        context.store.calendars.save(row)
    return resource_response(request, calendar_resource(context, row), CALENDAR_SHAPE)


def delete(context: ServiceContext, request: RequestContext) -> Response:
    """Delete a secondary calendar with its events. Raises ApiError (400) for a primary calendar."""
    with context.store.transaction():
        row = calendar_of(context, request, CalendarRole.OWNER)
        if row.primary:
            raise refuse("invalid", field="calendarId", message="a primary calendar cannot be deleted; use clear.")
        context.store.events.drop_all(row.id)
        context.store.calendars.drop(row.id)
    return empty_response(204)


def clear(context: ServiceContext, request: RequestContext) -> Response:
    """Delete all events of a primary calendar. Raises ApiError (400) for a secondary calendar."""
    with context.store.transaction():
        row = calendar_of(context, request, CalendarRole.OWNER)
        if not row.primary:
            raise refuse("invalid", field="calendarId", message="only a primary calendar can be cleared.")
        context.store.events.drop_all(row.id)
    return empty_response(204)


def get_entry(context: ServiceContext, request: RequestContext) -> Response:
    """Return the caller's calendar list entry for the calendar whose id is in the path."""
    row = calendar_of(context, request, CalendarRole.FREE_BUSY_READER)
    return resource_response(request, list_entry(context, request.caller.user, row), LIST_SHAPE)


def list_entries(context: ServiceContext, request: RequestContext) -> Response:
    """Return one page of the caller's calendar list, beginning with the primary calendar."""
    minimum_role = CalendarRole.FREE_BUSY_READER
    if "minAccessRole" in request.query:
        minimum_role = calendars.check_role(request.query.get("minAccessRole"))
    user = request.caller.user
    primary_of(context, user)
    rows = sorted(context.store.calendars.of(user), key=lambda row: (row.id != user, row.created, row.id))
    entries = [
        list_entry(context, user, row)
        for row in rows
        if (role_of(context, user, row) or CalendarRole.FREE_BUSY_READER) >= minimum_role
    ]
    size = int_param(request.query, "maxResults", _DEFAULT_PAGE_SIZE, _MAX_PAGE_SIZE)
    about, token = ("calendarList", user), request.query.get("pageToken")
    start = decode_page_token(token, about, 1, context.secret)[0] if token else 0
    page: CalendarList = {"kind": context.names.kind("calendarList"), "items": entries[start : start + size]}
    if start + size < len(entries):
        page["nextPageToken"] = encode_page_token((start + size,), about, context.secret)
    return resource_response(request, page, {"kind": None, "etag": None, "nextPageToken": None, "items": LIST_SHAPE})


def colors(context: ServiceContext, request: RequestContext) -> Response:
    """Return the colors that calendars and events can have, by color id."""
    value: Colors = {
        "kind": context.names.kind("colors"),
        "updated": format_time(from_millis(0)),
        "calendar": {
            key: {"background": color.background, "foreground": color.foreground}
            for key, color in CALENDAR_COLORS.items()
        },
        "event": {
            key: {"background": color.background, "foreground": color.foreground} for key, color in EVENT_COLORS.items()
        },
    }
    shape: Shape = {"kind": None, "updated": None, "calendar": {"": None}, "event": {"": None}}
    return resource_response(request, value, shape)


def resource_response(request: RequestContext, value: Mapping[str, Any], shape: Shape) -> Response:
    """Return a JSON response with the fields that `fields` selects. Raises ApiError (400) if `fields` is invalid."""
    return json_response(request.query, select_fields(parse_fields_param(request.query, {}, shape), value))
