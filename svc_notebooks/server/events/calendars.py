"""Calendars: who may do what with one, and the operations on calendars and the list of them (E-01)."""

from __future__ import annotations

import json
from typing import Any

from ...core.api.operations import CALENDAR_ID
from ...core.clock import format_time, from_millis
from ...core.colors import CALENDAR_COLORS, EVENT_COLORS, Color
from ...core.errors.catalogue import refuse
from ...core.events import calendars as rules
from ...core.events.calendars import CALENDAR_SHAPE, LIST_SHAPE, CalendarRole
from ...core.field_mask import Shape
from ...core.http.messages import JSONObject, Response
from ..context import page_tokens as paging
from ..context.responses import empty, json_response
from ..context.service_context import RequestContext, ServiceContext
from ..files.operations import int_param, parse_fields_param, read_json, selected
from ..store.calendars import CalendarRow

PRIMARY = "primary"
_PAGE, _MOST_PAGE = 100, 250


def calendar_of(
    context: ServiceContext, request: RequestContext, least: CalendarRole, name: str | None = None
) -> CalendarRow:
    """The calendar in the path, if the caller has at least this role on it. Raises ApiError (403, 404)."""
    wanted = request.path_params[CALENDAR_ID] if name is None else name
    row = primary_of(context, request.caller.user) if wanted == PRIMARY else seen(context, wanted)
    role = role_of(context, request.caller.user, row) if row else None
    if row is None or role is None or not _in_scope(request, row, role):
        raise refuse("calendarNotFound", calendarId=wanted[:200])
    if role < least:
        raise refuse("calendarAccess", role=least.word)
    return row


def _in_scope(request: RequestContext, row: CalendarRow, role: CalendarRole) -> bool:
    """Whether the token reaches this calendar, and not only those that its app made or its user owns."""
    wide = request.caller.scopes & request.operation.scopes - _NARROW
    made = "calendar.app.created" in request.caller.scopes and row.client == request.caller.client
    return bool(wide) or made or (role is CalendarRole.OWNER and bool(request.caller.scopes & _OWNED))


_OWNED = {"calendar.events.owned", "calendar.events.owned.readonly"}
_NARROW = _OWNED | {"calendar.app.created"}


def seen(context: ServiceContext, wanted: str) -> CalendarRow | None:
    """A calendar by its id, a user's primary one by their address."""
    found = context.store.calendars.get(wanted)
    if found is None and context.store.users.root(wanted.lower()):
        return primary_of(context, wanted.lower())
    return found


def primary_of(context: ServiceContext, user: str) -> CalendarRow:
    """A user's main calendar; it is there from the first time that anybody asks."""
    found = context.store.calendars.get(user)
    if found is None:
        summary = json.dumps({"summary": user})
        found = CalendarRow(user, user, "", context.policy.calendar_zone, context.millis(), summary)
        context.store.calendars.save(found)
    return found


def role_of(context: ServiceContext, user: str, row: CalendarRow) -> CalendarRole | None:
    """What a user is to a calendar; None: they do not see it."""
    if row.owner == user:
        return CalendarRole.OWNER
    reaching = ("default", f"domain:{user.partition('@')[2]}", f"user:{user}")
    found = [CalendarRole(one.role) for one in context.store.calendars.grants(row.id) if one.scope in reaching]
    return max(found, default=None)


def _etag(row: CalendarRow) -> str:
    return f'"{row.created * 2}000"'


def calendar_resource(context: ServiceContext, row: CalendarRow) -> JSONObject:
    """A calendar."""
    head: JSONObject = {"kind": context.names.kind("calendar"), "etag": _etag(row), "id": row.id}
    body: JSONObject = json.loads(row.body)
    return head | body | {"timeZone": row.zone}


def entry(context: ServiceContext, user: str, row: CalendarRow) -> JSONObject:
    """A calendar as it stands in a user's list."""
    role = role_of(context, user, row) or CalendarRole.READER
    color = CALENDAR_COLORS["14" if row.primary else "7"]
    found = calendar_resource(context, row) | {"kind": context.names.kind("calendarListEntry")}
    found |= {"colorId": "14" if row.primary else "7", "backgroundColor": color.background}
    found |= {"foregroundColor": color.foreground, "selected": True, "accessRole": role.word}
    found["defaultReminders"] = default_reminders(context)
    return found | {"primary": True} if row.id == user else found


def default_reminders(context: ServiceContext) -> list[Any]:
    """What an event without reminders of its own does."""
    return [{"method": "popup", "minutes": context.policy.default_reminder}]


def insert(context: ServiceContext, request: RequestContext) -> Response:
    """A secondary calendar."""
    given = rules.check_calendar(read_json(request.body, context.policy.max_metadata_size), creating=True)
    body: JSONObject = {name: value for name, value in given.items() if value is not None}
    zone = str(body.pop("timeZone", context.policy.calendar_zone))
    name = f"{context.ids.calendar()}@group.calendar.{context.policy.domain}"
    row = CalendarRow(name, request.caller.user, request.caller.client, zone, context.millis(), json.dumps(body))
    context.store.calendars.save(row)
    return answer(request, calendar_resource(context, row), CALENDAR_SHAPE)


def get(context: ServiceContext, request: RequestContext) -> Response:
    """A calendar."""
    row = calendar_of(context, request, CalendarRole.READER)
    return answer(request, calendar_resource(context, row), CALENDAR_SHAPE)


def patch(context: ServiceContext, request: RequestContext) -> Response:
    """Some of a calendar's fields; the others stay."""
    return _change(context, request, keep=True)


def update(context: ServiceContext, request: RequestContext) -> Response:
    """All of a calendar's fields."""
    return _change(context, request, keep=False)


def _change(context: ServiceContext, request: RequestContext, *, keep: bool) -> Response:
    body = rules.check_calendar(read_json(request.body, context.policy.max_metadata_size), creating=not keep)
    with context.store.transaction():
        row = calendar_of(context, request, CalendarRole.OWNER)
        zone = str(body.pop("timeZone", None) or row.zone)
        merged = (json.loads(row.body) if keep else {}) | body
        kept = {name: value for name, value in merged.items() if value is not None}
        row = row._replace(zone=zone, body=json.dumps(kept))
        context.store.calendars.save(row)
    return answer(request, calendar_resource(context, row), CALENDAR_SHAPE)


def delete(context: ServiceContext, request: RequestContext) -> Response:
    """Remove a secondary calendar with its events; a primary one can only be cleared."""
    with context.store.transaction():
        row = calendar_of(context, request, CalendarRole.OWNER)
        if row.primary:
            raise refuse("invalid", field="calendarId", message="a primary calendar is cleared, not deleted.")
        context.store.events.drop_all(row.id)
        context.store.calendars.drop(row.id)
    return empty(204)


def clear(context: ServiceContext, request: RequestContext) -> Response:
    """Remove all events of a primary calendar."""
    with context.store.transaction():
        row = calendar_of(context, request, CalendarRole.OWNER)
        if not row.primary:
            raise refuse("invalid", field="calendarId", message="only a primary calendar is cleared; delete this one.")
        context.store.events.drop_all(row.id)
    return empty(204)


def get_entry(context: ServiceContext, request: RequestContext) -> Response:
    """One calendar of the caller's list."""
    row = calendar_of(context, request, CalendarRole.FREE_BUSY_READER)
    return answer(request, entry(context, request.caller.user, row), LIST_SHAPE)


def list_entries(context: ServiceContext, request: RequestContext) -> Response:
    """The caller's calendars, the primary one first."""
    least = rules.check_role(request.query.get("minAccessRole")) if "minAccessRole" in request.query else None
    user = request.caller.user
    primary_of(context, user)
    rows = sorted(context.store.calendars.of(user), key=lambda row: (row.id != user, row.created, row.id))
    entries = [entry(context, user, row) for row in rows if _reaches(context, user, row, least)]
    size = int_param(request.query, "maxResults", _PAGE, _MOST_PAGE)
    about, token = ("calendarList", user), request.query.get("pageToken")
    start = paging.read(token, about, 1, context.secret)[0] if token else 0
    value: JSONObject = {"kind": context.names.kind("calendarList"), "items": list(entries[start : start + size])}
    if start + size < len(entries):
        value["nextPageToken"] = paging.encode_page_token((start + size,), about, context.secret)
    return answer(request, value, {"kind": None, "etag": None, "nextPageToken": None, "items": LIST_SHAPE})


def _reaches(context: ServiceContext, user: str, row: CalendarRow, least: CalendarRole | None) -> bool:
    return least is None or (role_of(context, user, row) or CalendarRole.FREE_BUSY_READER) >= least


def colors(context: ServiceContext, request: RequestContext) -> Response:
    """The colours that calendars and events can have."""
    value: JSONObject = {
        "kind": context.names.kind("colors"),
        "updated": format_time(from_millis(0)),
        "calendar": {key: _color(one) for key, one in CALENDAR_COLORS.items()},
        "event": {key: _color(one) for key, one in EVENT_COLORS.items()},
    }
    return answer(request, value, {"kind": None, "updated": None, "calendar": {"": None}, "event": {"": None}})


def _color(one: Color) -> JSONObject:
    return {"background": one.background, "foreground": one.foreground}


def answer(request: RequestContext, value: JSONObject, shape: Shape) -> Response:
    """A resource of the calendar interface: all of it unless a mask selects. Raises ApiError."""
    return json_response(request.query, selected(parse_fields_param(request.query, {}, shape), value))
