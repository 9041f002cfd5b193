"""Handles a user's calendar list and settings. A page has the entries that changed since a sync token."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ...core.api.operations import SETTING
from ...core.errors.catalogue import refuse
from ...core.events.calendars import LIST_SHAPE, SETTING_SHAPE, CalendarRole, check_entry, check_role
from ...core.field_mask import Shape
from ...core.http.messages import JSONObject, Response
from ...core.resources.calendars import CALENDAR_COLORS, CalendarListEntry, Setting
from ..dispatch.page_tokens import decode_page_token, decode_sync_token, encode_page_token, selecting_parameters
from ..dispatch.requests_and_responses import (
    bool_param,
    empty_response,
    parse_fields_param,
    read_json,
    resource_response,
)
from ..dispatch.service_context import RequestContext, ServiceContext
from . import event_messages
from .access import calendar_of, default_reminders, etag, primary_of, role_of
from .event_requests import page_size
from .tables import CalendarRow

_DEFAULT_PAGE_SIZE, _MAX_PAGE_SIZE = 100, 250
_PAGE = dict.fromkeys(("kind", "etag", "nextPageToken", "nextSyncToken"))


@dataclass(frozen=True, slots=True)
class SyncRequest:
    """What a list request asks for. `log` is the name of the list's log, and `last` the last number in all logs.

    `changed` has the ids of the entries that changed since the sync token, or is None without a sync token.
    `is_selection` is True for a list of the calendars with a minimum role, which has no sync token.
    """

    log: str
    last: int
    changed: frozenset[str] | None
    is_selection: bool = False


def read_sync_request(context: ServiceContext, request: RequestContext, log: str) -> SyncRequest:
    """Read the sync token of a list request. Raises ApiError (410) if it is not of this list, or is too old."""
    query, last = request.query, context.store.changes.last()
    token = query.get("syncToken")
    given = {parameter.name for parameter in request.operation.parameters if parameter.name in query}
    if token is None:
        return SyncRequest(log, last, None, "minAccessRole" in given)
    if "minAccessRole" in given:
        raise refuse("invalidParameter", name="minAccessRole", message="cannot be combined with syncToken.")
    for name in sorted(given & {"showDeleted", "showHidden"}):
        if not bool_param(query, name, default=True):
            raise refuse("invalidParameter", name=name, message="must not be false with syncToken.")
    (since,) = decode_sync_token(token, ("sync", context.store.history(), log), 1, context.secret)
    return SyncRequest(log, last, frozenset(context.store.changes.since(log, since)))


def list_response(
    context: ServiceContext,
    request: RequestContext,
    sync: SyncRequest,
    kind: str,
    entries: Iterable[tuple[tuple[Any, ...], Mapping[str, Any]]],
    shape: Shape,
) -> Response:
    """Return a page of entries, in the order of their keys. A page token has the key of the last entry of its page."""
    size, token = page_size(request.query, _DEFAULT_PAGE_SIZE, _MAX_PAGE_SIZE), request.query.get("pageToken")
    listing = (sync.log, selecting_parameters(request.query, request.operation))
    after, last = decode_page_token(token, listing, 2, context.secret) if token else ([], sync.last)
    rest = sorted((entry for entry in entries if entry[0] > tuple(after)), key=lambda entry: entry[0])
    items = [resource for _, resource in rest[:size]]
    page: dict[str, Any] = {"kind": kind, "etag": f'"{last:017d}"', "items": items}
    if len(rest) > size:
        page["nextPageToken"] = encode_page_token((rest[size - 1][0], last), listing, context.secret)
    elif not sync.is_selection:
        synchronized = ("sync", context.store.history(), sync.log)
        page["nextSyncToken"] = encode_page_token((last,), synchronized, context.secret)
    return resource_response(request, page, {**_PAGE, "items": shape})


_REMOVED = "removed"  # the key of a stored entry whose calendar the user has removed from the list


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
    sync = read_sync_request(context, request, event_messages.list_of(user))
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
    kind, role = context.names.calendar_kind("calendarListEntry"), CalendarRole.FREE_BUSY_READER.wire_name
    for name in (changed or frozenset()) - rows.keys():  # deleted, or not visible any more; clients require a role
        entries.append(((True, 0, name), {"kind": kind, "id": name, "deleted": True, "accessRole": role}))
    return list_response(context, request, sync, context.names.calendar_kind("calendarList"), entries, LIST_SHAPE)


def _visible(context: ServiceContext, user: str, stored: dict[str, JSONObject]) -> list[CalendarRow]:
    """Return the user's calendars, those shared by name, and those in `stored` that the user can still see."""
    rows = context.store.calendars.of(user)
    known = {row.id for row in rows}
    added = (context.store.calendars.get(name) for name in stored if name not in known)
    return [*rows, *(row for row in added if row and role_of(context, user, row))]


def insert_entry(context: ServiceContext, request: RequestContext) -> Response:
    """Add a calendar that the caller can see to the caller's list, and return its entry."""
    parse_fields_param(request.query, {}, LIST_SHAPE)
    body = read_json(request.body, context.policy.max_metadata_size)
    name = body.get("id")
    if name in (None, ""):
        raise refuse("required", field="id")
    if not isinstance(name, str):
        raise refuse("invalid", field="id", message="expected the id of a calendar.")
    fields = check_entry(body, rgb=bool_param(request.query, "colorRgbFormat", default=False))
    with context.store.transaction():
        row = calendar_of(context, request, CalendarRole.FREE_BUSY_READER, name)
        return _save(context, request, row, fields)


def change_entry(context: ServiceContext, request: RequestContext) -> Response:
    """Change the given settings of a calendar in the caller's list (PATCH), or replace all, and return its entry."""
    parse_fields_param(request.query, {}, LIST_SHAPE)
    body = read_json(request.body, context.policy.max_metadata_size)
    fields = check_entry(body, rgb=bool_param(request.query, "colorRgbFormat", default=False))
    with context.store.transaction():
        row = calendar_of(context, request, CalendarRole.FREE_BUSY_READER)
        before = _settings(context, request, row)
        return _save(context, request, row, {**before, **fields} if request.method == "PATCH" else fields)


def _save(context: ServiceContext, request: RequestContext, row: CalendarRow, fields: JSONObject) -> Response:
    settings: JSONObject = {name: value for name, value in fields.items() if value is not None}
    context.store.calendars.save_entry(request.caller.user, row.id, json.dumps(settings))
    event_messages.record_list_change(context, [request.caller.user], row.id)
    return _entry_response(context, request, row, settings)


def delete_entry(context: ServiceContext, request: RequestContext) -> Response:
    """Remove a calendar from the caller's list. Raises ApiError (400) for the primary calendar."""
    with context.store.transaction():
        row = calendar_of(context, request, CalendarRole.FREE_BUSY_READER)
        if row.id == request.caller.user:
            raise refuse("invalid", field="calendarId", message="the primary calendar cannot be removed from the list.")
        settings = {**_settings(context, request, row), _REMOVED: True}
        context.store.calendars.save_entry(request.caller.user, row.id, json.dumps(settings))
        event_messages.record_list_change(context, [request.caller.user], row.id)
    return empty_response(204)


# The settings with their values. The time zone is that of the user's primary calendar.
_FIXED = {
    "autoAddHangouts": "false",
    "dateFieldOrder": "MDY",
    "defaultEventLength": "60",
    "format24HourTime": "true",
    "hideInvitations": "false",
    "hideWeekends": "false",
    "locale": "en",
    "remindOnRespondedEventsOnly": "false",
    "showDeclinedEvents": "true",
    "timezone": "",
    "useKeyboardShortcuts": "true",
    "weekStart": "0",
}


def get_setting(context: ServiceContext, request: RequestContext) -> Response:
    """Return the setting whose id is in the path. Raises ApiError (404) for an unknown setting."""
    name = request.path_params[SETTING]
    if name not in _FIXED:
        raise refuse("notFound", message=f"there is no setting {name[:100]}.")
    return resource_response(request, _setting(context, request, name), SETTING_SHAPE)


def list_settings(context: ServiceContext, request: RequestContext) -> Response:
    """Return one page of the caller's settings, or of those that changed since the sync token."""
    sync = read_sync_request(context, request, event_messages.settings_of(request.caller.user))
    names = [name for name in _FIXED if sync.changed is None or name in sync.changed]
    entries = [((name,), _setting(context, request, name)) for name in names]
    return list_response(context, request, sync, context.names.calendar_kind("settings"), entries, SETTING_SHAPE)


def _setting(context: ServiceContext, request: RequestContext, name: str) -> Setting:
    primary = primary_of(context, request.caller.user)
    value = primary.zone if name == "timezone" else _FIXED[name]
    return {"kind": context.names.calendar_kind("setting"), "id": name, "value": value}
