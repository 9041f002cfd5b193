"""Handlers of the calendar list, which has one user's own settings of the calendars that the user can see.

The list has the user's own calendars and those that were shared with the user by name. An entry in the database changes
the settings of a calendar, adds another calendar that the user can see, or removes a calendar.
"""

from __future__ import annotations

import json
from typing import Any

from ...core.errors.catalogue import refuse
from ...core.events.calendars import LIST_SHAPE, CalendarRole, check_entry, check_role
from ...core.http.messages import JSONObject, Response
from ...core.resources.calendars import CalendarListEntry
from ...core.resources.colors import CALENDAR_COLORS
from ..dispatch.requests import bool_param, parse_fields_param, read_json
from ..dispatch.responses import empty_response
from ..dispatch.service_context import RequestContext, ServiceContext
from .access import calendar_of, default_reminders, etag, primary_of, resource_response, role_of
from .event_messages import list_of, record_list_change
from .list_pages import list_response, read_sync_request
from .tables import CalendarRow

_REMOVED = "removed"
"""The key of a stored entry whose calendar the user has removed from the list."""


def list_entry(context: ServiceContext, user: str, row: CalendarRow, settings: JSONObject) -> CalendarListEntry:
    """Build the CalendarListEntry resource of a calendar with the stored settings of a user."""
    role = role_of(context, user, row) or CalendarRole.READER
    body: CalendarListEntry = json.loads(row.body)
    color_id = str(settings.get("colorId") or ("14" if row.primary else "7"))
    entry: CalendarListEntry = {
        "kind": context.names.calendar_kind("calendarListEntry"),
        "etag": etag(row),
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
    if settings.get(_REMOVED):
        entry["deleted"] = True
    entry |= {name: value for name, value in settings.items() if name != _REMOVED}  # type: ignore[typeddict-item]
    return entry


def get_entry(context: ServiceContext, request: RequestContext) -> Response:
    """Return the caller's calendar list entry for the calendar whose id is in the path."""
    row = calendar_of(context, request, CalendarRole.FREE_BUSY_READER)
    return _entry_response(context, request, row, _settings(context, request, row))


def _entry_response(
    context: ServiceContext, request: RequestContext, row: CalendarRow, settings: JSONObject
) -> Response:
    return resource_response(request, list_entry(context, request.caller.user, row, settings), LIST_SHAPE)


def _settings(context: ServiceContext, request: RequestContext, row: CalendarRow) -> JSONObject:
    """Return the caller's stored settings of a calendar. Raises ApiError (404) for a calendar that was removed."""
    stored = context.store.calendars.entry(request.caller.user, row.id)
    settings: JSONObject = json.loads(stored) if stored else {}
    if settings.get(_REMOVED):
        raise refuse("calendarNotFound", calendarId=row.id)
    return settings


def list_entries(context: ServiceContext, request: RequestContext) -> Response:
    """Return one page of the caller's calendar list, beginning with the primary calendar.

    With a sync token, these are the entries that changed since then, with deleted and hidden ones.
    """
    user = request.caller.user
    sync = read_sync_request(context, request, list_of(user))
    changed, minimum_role = sync.changed, CalendarRole.FREE_BUSY_READER
    if "minAccessRole" in request.query:
        minimum_role = check_role(request.query.get("minAccessRole"))
    show_hidden = bool_param(request.query, "showHidden", default=False) or changed is not None
    show_deleted = bool_param(request.query, "showDeleted", default=False) or changed is not None
    primary_of(context, user)
    stored = {name: json.loads(body) for name, body in context.store.calendars.entries(user)}
    rows = {row.id: row for row in _visible(context, user, stored) if changed is None or row.id in changed}
    entries: list[tuple[tuple[Any, ...], CalendarListEntry]] = []
    for row in rows.values():
        settings = stored.get(row.id, {})
        is_shown = (show_hidden or not settings.get("hidden")) and (show_deleted or not settings.get(_REMOVED))
        if is_shown and (role_of(context, user, row) or CalendarRole.FREE_BUSY_READER) >= minimum_role:
            entries.append(((row.id != user, row.created, row.id), list_entry(context, user, row, settings)))
    for name in (changed or frozenset()) - rows.keys():
        entries.append(((True, 0, name), _deleted_entry(context, name)))
    return list_response(context, request, sync, context.names.calendar_kind("calendarList"), entries, LIST_SHAPE)


def _deleted_entry(context: ServiceContext, calendar: str) -> CalendarListEntry:
    """Return the entry of a calendar that does not exist any more, or that the user cannot see any more."""
    kind, role = context.names.calendar_kind("calendarListEntry"), CalendarRole.FREE_BUSY_READER.wire_name
    return {"kind": kind, "id": calendar, "deleted": True, "accessRole": role}  # clients require a role


def _visible(context: ServiceContext, user: str, stored: dict[str, JSONObject]) -> list[CalendarRow]:
    """Return the user's calendars, those shared by name, and those in `stored` that the user can still see."""
    rows = context.store.calendars.of(user)
    known = {row.id for row in rows}
    added = (context.store.calendars.get(name) for name in stored if name not in known)
    return [*rows, *(row for row in added if row and role_of(context, user, row))]


def insert(context: ServiceContext, request: RequestContext) -> Response:
    """Add a calendar that the caller can see to the caller's list, and return its entry."""
    parse_fields_param(request.query, {}, LIST_SHAPE)
    body = read_json(request.body, context.policy.max_metadata_size)
    name = body.get("id")
    if name in (None, ""):
        raise refuse("required", field="id")
    if not isinstance(name, str):
        raise refuse("invalid", field="id", message="expected the id of a calendar.")
    fields = _fields(request, body)
    with context.store.transaction():
        row = calendar_of(context, request, CalendarRole.FREE_BUSY_READER, name)
        return _save(context, request, row, fields)


def patch(context: ServiceContext, request: RequestContext) -> Response:
    """Change the given settings of a calendar in the caller's list, and return its entry."""
    return _change(context, request, partial=True)


def update(context: ServiceContext, request: RequestContext) -> Response:
    """Replace all settings of a calendar in the caller's list, and return its entry."""
    return _change(context, request, partial=False)


def _change(context: ServiceContext, request: RequestContext, *, partial: bool) -> Response:
    parse_fields_param(request.query, {}, LIST_SHAPE)
    fields = _fields(request, read_json(request.body, context.policy.max_metadata_size))
    with context.store.transaction():
        row = calendar_of(context, request, CalendarRole.FREE_BUSY_READER)
        before = _settings(context, request, row)
        return _save(context, request, row, {**before, **fields} if partial else fields)


def _fields(request: RequestContext, body: JSONObject) -> JSONObject:
    return check_entry(body, rgb=bool_param(request.query, "colorRgbFormat", default=False))


def _save(context: ServiceContext, request: RequestContext, row: CalendarRow, fields: JSONObject) -> Response:
    settings: JSONObject = {name: value for name, value in fields.items() if value is not None}
    context.store.calendars.save_entry(request.caller.user, row.id, json.dumps(settings))
    record_list_change(context, [request.caller.user], row.id)
    return _entry_response(context, request, row, settings)


def delete(context: ServiceContext, request: RequestContext) -> Response:
    """Remove a calendar from the caller's list. Raises ApiError (400) for the primary calendar."""
    with context.store.transaction():
        row = calendar_of(context, request, CalendarRole.FREE_BUSY_READER)
        if row.id == request.caller.user:
            raise refuse("invalid", field="calendarId", message="the primary calendar cannot be removed from the list.")
        settings = {**_settings(context, request, row), _REMOVED: True}
        context.store.calendars.save_entry(request.caller.user, row.id, json.dumps(settings))
        record_list_change(context, [request.caller.user], row.id)
    return empty_response(204)
