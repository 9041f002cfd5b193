"""Operations on calendars and the calendar list, and the roles that users have on calendars (E-01)."""

from __future__ import annotations

import json
from typing import Any

from ...core.api.operations import CALENDAR_ID
from ...core.clock import format_time, from_millis
from ...core.errors.catalogue import refuse
from ...core.events import calendars
from ...core.events.calendars import CALENDAR_SHAPE, LIST_SHAPE, CalendarRole
from ...core.events.colors import CALENDAR_COLORS, EVENT_COLORS, Color
from ...core.field_mask import Shape
from ...core.http.messages import JSONObject, Response
from ..context.page_tokens import decode_page_token, encode_page_token
from ..context.responses import empty_response, json_response
from ..context.service_context import RequestContext, ServiceContext
from ..files.operations import int_param, parse_fields_param, read_json, select_fields
from ..tables.calendars import CalendarRow

PRIMARY = "primary"
_DEFAULT_PAGE_SIZE, _MAX_PAGE_SIZE = 100, 250


def calendar_of(
    context: ServiceContext, request: RequestContext, minimum_role: CalendarRole, name: str | None = None
) -> CalendarRow:
    """The calendar in the path, if the caller has at least this role on it. Raises ApiError (403, 404)."""
    calendar_id = request.path_params[CALENDAR_ID] if name is None else name
    row = primary_of(context, request.caller.user) if calendar_id == PRIMARY else calendar_by_id(context, calendar_id)
    role = role_of(context, request.caller.user, row) if row else None
    if row is None or role is None or not _in_scope(request, row, role):
        raise refuse("calendarNotFound", calendarId=calendar_id[:200])
    if role < minimum_role:
        raise refuse("calendarAccess", role=minimum_role.wire_name)
    return row


def _in_scope(request: RequestContext, row: CalendarRow, role: CalendarRole) -> bool:
    """Whether the token reaches this calendar, and not only those that its app made or its user owns."""
    reaches_all = request.caller.scopes & request.operation.scopes - _NARROW_SCOPES
    made_by_client = "calendar.app.created" in request.caller.scopes and row.client == request.caller.client
    return (
        bool(reaches_all)
        or made_by_client
        or (role is CalendarRole.OWNER and bool(request.caller.scopes & _OWNER_SCOPES))
    )


_OWNER_SCOPES = {"calendar.events.owned", "calendar.events.owned.readonly"}
_NARROW_SCOPES = _OWNER_SCOPES | {"calendar.app.created"}


def calendar_by_id(context: ServiceContext, calendar_id: str) -> CalendarRow | None:
    """A calendar by its id, a user's primary one by their address."""
    row = context.store.calendars.get(calendar_id)
    if row is None and context.store.users.root(calendar_id.lower()):
        return primary_of(context, calendar_id.lower())
    return row


def primary_of(context: ServiceContext, user: str) -> CalendarRow:
    """A user's main calendar; it is there from the first time that anybody asks."""
    row = context.store.calendars.get(user)
    if row is None:
        summary = json.dumps({"summary": user})
        row = CalendarRow(user, user, "", context.policy.calendar_zone, context.millis(), summary)
        context.store.calendars.save(row)
    return row


def role_of(context: ServiceContext, user: str, row: CalendarRow) -> CalendarRole | None:
    """What a user is to a calendar; None: they do not see it."""
    if row.owner == user:
        return CalendarRole.OWNER
    scopes = ("default", f"domain:{user.partition('@')[2]}", f"user:{user}")
    roles = [CalendarRole(grant.role) for grant in context.store.calendars.grants(row.id) if grant.scope in scopes]
    return max(roles, default=None)


def _etag(row: CalendarRow) -> str:
    return f'"{row.created * 2}000"'


def calendar_resource(context: ServiceContext, row: CalendarRow) -> JSONObject:
    """A calendar."""
    head: JSONObject = {"kind": context.names.kind("calendar"), "etag": _etag(row), "id": row.id}
    body: JSONObject = json.loads(row.body)
    return head | body | {"timeZone": row.zone}


def list_entry(context: ServiceContext, user: str, row: CalendarRow) -> JSONObject:
    """A calendar as it stands in a user's list."""
    role = role_of(context, user, row) or CalendarRole.READER
    color = CALENDAR_COLORS["14" if row.primary else "7"]
    resource = calendar_resource(context, row) | {"kind": context.names.kind("calendarListEntry")}
    resource |= {"colorId": "14" if row.primary else "7", "backgroundColor": color.background}
    resource |= {"foregroundColor": color.foreground, "selected": True, "accessRole": role.wire_name}
    resource["defaultReminders"] = default_reminders(context)
    return resource | {"primary": True} if row.id == user else resource


def default_reminders(context: ServiceContext) -> list[Any]:
    """What an event without reminders of its own does."""
    return [{"method": "popup", "minutes": context.policy.default_reminder}]


def insert(context: ServiceContext, request: RequestContext) -> Response:
    """A secondary calendar."""
    fields = calendars.check_calendar(read_json(request.body, context.policy.max_metadata_size), creating=True)
    body: JSONObject = {name: value for name, value in fields.items() if value is not None}
    zone = str(body.pop("timeZone", context.policy.calendar_zone))
    name = f"{context.ids.calendar()}@group.calendar.{context.policy.domain}"
    row = CalendarRow(name, request.caller.user, request.caller.client, zone, context.millis(), json.dumps(body))
    context.store.calendars.save(row)
    return resource_response(request, calendar_resource(context, row), CALENDAR_SHAPE)


def get(context: ServiceContext, request: RequestContext) -> Response:
    """A calendar."""
    row = calendar_of(context, request, CalendarRole.READER)
    return resource_response(request, calendar_resource(context, row), CALENDAR_SHAPE)


def patch(context: ServiceContext, request: RequestContext) -> Response:
    """Some of a calendar's fields; the others stay."""
    return _change(context, request, partial=True)


def update(context: ServiceContext, request: RequestContext) -> Response:
    """All of a calendar's fields."""
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
    """Remove a secondary calendar with its events; a primary one can only be cleared."""
    with context.store.transaction():
        row = calendar_of(context, request, CalendarRole.OWNER)
        if row.primary:
            raise refuse("invalid", field="calendarId", message="a primary calendar is cleared, not deleted.")
        context.store.events.drop_all(row.id)
        context.store.calendars.drop(row.id)
    return empty_response(204)


def clear(context: ServiceContext, request: RequestContext) -> Response:
    """Remove all events of a primary calendar."""
    with context.store.transaction():
        row = calendar_of(context, request, CalendarRole.OWNER)
        if not row.primary:
            raise refuse("invalid", field="calendarId", message="only a primary calendar is cleared; delete this one.")
        context.store.events.drop_all(row.id)
    return empty_response(204)


def get_entry(context: ServiceContext, request: RequestContext) -> Response:
    """One calendar of the caller's list."""
    row = calendar_of(context, request, CalendarRole.FREE_BUSY_READER)
    return resource_response(request, list_entry(context, request.caller.user, row), LIST_SHAPE)


def list_entries(context: ServiceContext, request: RequestContext) -> Response:
    """The caller's calendars, the primary one first."""
    minimum_role = (
        calendars.check_role(request.query.get("minAccessRole")) if "minAccessRole" in request.query else None
    )
    user = request.caller.user
    primary_of(context, user)
    rows = sorted(context.store.calendars.of(user), key=lambda row: (row.id != user, row.created, row.id))
    entries = [list_entry(context, user, row) for row in rows if _has_role(context, user, row, minimum_role)]
    size = int_param(request.query, "maxResults", _DEFAULT_PAGE_SIZE, _MAX_PAGE_SIZE)
    about, token = ("calendarList", user), request.query.get("pageToken")
    start = decode_page_token(token, about, 1, context.secret)[0] if token else 0
    value: JSONObject = {"kind": context.names.kind("calendarList"), "items": list(entries[start : start + size])}
    if start + size < len(entries):
        value["nextPageToken"] = encode_page_token((start + size,), about, context.secret)
    return resource_response(request, value, {"kind": None, "etag": None, "nextPageToken": None, "items": LIST_SHAPE})


def _has_role(context: ServiceContext, user: str, row: CalendarRow, minimum_role: CalendarRole | None) -> bool:
    return minimum_role is None or (role_of(context, user, row) or CalendarRole.FREE_BUSY_READER) >= minimum_role


def colors(context: ServiceContext, request: RequestContext) -> Response:
    """The colours that calendars and events can have."""
    value: JSONObject = {
        "kind": context.names.kind("colors"),
        "updated": format_time(from_millis(0)),
        "calendar": {key: _color(color) for key, color in CALENDAR_COLORS.items()},
        "event": {key: _color(color) for key, color in EVENT_COLORS.items()},
    }
    return resource_response(
        request, value, {"kind": None, "updated": None, "calendar": {"": None}, "event": {"": None}}
    )


def _color(color: Color) -> JSONObject:
    return {"background": color.background, "foreground": color.foreground}


def resource_response(request: RequestContext, value: JSONObject, shape: Shape) -> Response:
    """A resource of the calendar interface: all of it unless a mask selects. Raises ApiError."""
    return json_response(request.query, select_fields(parse_fields_param(request.query, {}, shape), value))
