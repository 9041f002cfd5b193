"""Handlers of calendars (E-01) and of their access rules, and of the colours of calendars and events."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import cast

from ...core.api.operations import RULE_ID
from ...core.clock import format_millis
from ...core.errors.catalogue import refuse
from ...core.events import calendars
from ...core.events.calendars import CALENDAR_SHAPE, RULE_SHAPE, CalendarRole
from ...core.field_mask import shape_of
from ...core.http.messages import Response
from ...core.resources.calendars import AclRule, AclScope, ColorPair, Colors
from ...core.resources.colors import CALENDAR_COLORS, EVENT_COLORS, Color
from ..dispatch.requests_and_responses import bool_param, empty_response, read_json, resource_response
from ..dispatch.service_context import RequestContext, ServiceContext
from . import event_messages
from .access import calendar_of, calendar_resource
from .attendee_copies import move_days
from .calendar_list import list_response, read_sync_request
from .event_messages import access_of, record_access
from .tables import AccessRow, CalendarRow


def insert(context: ServiceContext, request: RequestContext) -> Response:
    """Create a secondary calendar and return the calendar."""
    fields = calendars.check_calendar(read_json(request.body, context.policy.max_metadata_size), creating=True)
    body = {name: value for name, value in fields.items() if value is not None}
    zone = str(body.pop("timeZone", context.policy.calendar_zone))
    name = f"{context.ids.calendar()}@group.calendar.{context.policy.domain}"
    row = CalendarRow(name, request.caller.user, request.caller.client, zone, context.millis(), json.dumps(body))
    with context.store.transaction():
        context.store.calendars.save(row)
        event_messages.record_calendar_change(context, row)
    return resource_response(request, calendar_resource(context, row), CALENDAR_SHAPE)


def get(context: ServiceContext, request: RequestContext) -> Response:
    """Return the calendar whose id is in the path."""
    row = calendar_of(context, request, CalendarRole.READER)
    return resource_response(request, calendar_resource(context, row), CALENDAR_SHAPE)


def change(context: ServiceContext, request: RequestContext) -> Response:
    """Change the given fields of a calendar (PATCH), or replace all fields (PUT), and return the calendar."""
    partial = request.method == "PATCH"
    body = calendars.check_calendar(read_json(request.body, context.policy.max_metadata_size), creating=not partial)
    with event_messages.changing_events(context):
        row = calendar_of(context, request, CalendarRole.OWNER)
        zone = str(body.pop("timeZone", None) or row.zone)
        merged = (json.loads(row.body) if partial else {}) | body
        fields = {name: value for name, value in merged.items() if value is not None}
        if row.primary and zone != row.zone:
            context.store.changes.add([event_messages.settings_of(row.owner)], "timezone", context.millis())
        has_other_days = zone != row.zone
        row = row._replace(zone=zone, body=json.dumps(fields))
        context.store.calendars.save(row)
        if has_other_days:
            move_days(context, row)
        event_messages.record_calendar_change(context, row)
    return resource_response(request, calendar_resource(context, row), CALENDAR_SHAPE)


def delete(context: ServiceContext, request: RequestContext) -> Response:
    """Delete a secondary calendar with its events. Raises ApiError (400) for a primary calendar."""
    with context.store.transaction():
        row = calendar_of(context, request, CalendarRole.OWNER)
        if row.primary:
            raise refuse("invalid", field="calendarId", message="a primary calendar cannot be deleted; use clear.")
        users = event_messages.users_of(context, row)
        context.store.events.drop_all(row.id)
        context.store.calendars.drop(row.id)
        event_messages.record_deletion(context, row, users)
    return empty_response(204)


def clear(context: ServiceContext, request: RequestContext) -> Response:
    """Delete all events of a primary calendar. Raises ApiError (400) for a secondary calendar."""
    with context.store.transaction():
        row = calendar_of(context, request, CalendarRole.OWNER)
        if not row.primary:
            raise refuse("invalid", field="calendarId", message="only a primary calendar can be cleared.")
        context.store.events.drop_all(row.id)
        event_messages.record_clearing(context, row.id)
    return empty_response(204)


def colors(context: ServiceContext, request: RequestContext) -> Response:
    """Return the colors that calendars and events can have, by color id."""
    value: Colors = {
        "kind": context.names.calendar_kind("colors"),
        "updated": format_millis(0),
        "calendar": _color_pairs(CALENDAR_COLORS),
        "event": _color_pairs(EVENT_COLORS),
    }
    return resource_response(request, value, shape_of(Colors))


def _color_pairs(colors: Mapping[str, Color]) -> dict[str, ColorPair]:
    return {key: {"background": color.background, "foreground": color.foreground} for key, color in colors.items()}


def _rule_resource(context: ServiceContext, row: AccessRow) -> AclRule:
    scope_type, _, value = row.scope.partition(":")
    scope = cast(AclScope, {"type": scope_type, "value": value} if value else {"type": scope_type})
    return {
        "kind": context.names.calendar_kind("aclRule"),
        "etag": f'"{row.role:017d}"',
        "id": row.scope,
        "scope": scope,
        "role": CalendarRole(row.role).wire_name if row.role else "none",
    }


def _rule_rows(context: ServiceContext, calendar: CalendarRow) -> list[AccessRow]:
    own = AccessRow(calendar.id, f"user:{calendar.owner}", CalendarRole.OWNER)
    return [own, *(row for row in context.store.calendars.grants(calendar.id) if row.scope != own.scope)]


def _rule_in_path(context: ServiceContext, request: RequestContext, calendar: CalendarRow) -> AccessRow:
    rule_id = request.path_params[RULE_ID]
    for row in _rule_rows(context, calendar):
        if row.scope == rule_id:
            return row
    raise refuse("notFound", message=f"there is no access rule {rule_id[:200]} for this calendar.")


def insert_rule(context: ServiceContext, request: RequestContext) -> Response:
    """Create an access rule, which gives a user, a domain or everyone a role on a calendar. Return the rule."""
    scope, role = calendars.check_rule(read_json(request.body, context.policy.max_metadata_size))
    with context.store.transaction():
        return _grant(context, request, calendar_of(context, request, CalendarRole.OWNER), scope, role)


def change_rule(context: ServiceContext, request: RequestContext) -> Response:
    """Change the role of an access rule and return the rule."""
    body = read_json(request.body, context.policy.max_metadata_size)
    with context.store.transaction():
        calendar = calendar_of(context, request, CalendarRole.OWNER)
        row = _rule_in_path(context, request, calendar)
        if body.get("scope") is not None and calendars.check_rule(body)[0] != row.scope:
            raise refuse("fieldOnCreation", field="scope", hint="")
        return _grant(context, request, calendar, row.scope, calendars.check_role(body.get("role"), name="role"))


def _grant(
    context: ServiceContext, request: RequestContext, calendar: CalendarRow, scope: str, role: CalendarRole
) -> Response:
    if scope == f"user:{calendar.owner}":
        raise refuse("invalid", field="scope.value", message="the role of the calendar's owner cannot be changed.")
    row = AccessRow(calendar.id, scope, role)
    context.store.calendars.grant(row)
    record_access(context, calendar, scope)
    return resource_response(request, _rule_resource(context, row), RULE_SHAPE)


def get_rule(context: ServiceContext, request: RequestContext) -> Response:
    """Return the access rule whose id is in the path. Raises ApiError (404) if there is no such rule."""
    row = _rule_in_path(context, request, calendar_of(context, request, CalendarRole.OWNER))
    return resource_response(request, _rule_resource(context, row), RULE_SHAPE)


def list_rules(context: ServiceContext, request: RequestContext) -> Response:
    """Return one page of the access rules of a calendar, beginning with the owner's rule. A deleted rule has no role.

    With a sync token, these are the rules that changed since then.
    """
    calendar = calendar_of(context, request, CalendarRole.OWNER)
    sync = read_sync_request(context, request, access_of(calendar.id))
    rules = {row.scope: _rule_resource(context, row) for row in _rule_rows(context, calendar)}
    if sync.changed is not None or bool_param(request.query, "showDeleted", default=False):
        logged = context.store.changes.since(sync.log, 0)
        rules |= {
            scope: _rule_resource(context, AccessRow(calendar.id, scope, 0)) for scope in logged if scope not in rules
        }
    entries = [
        ((scope != f"user:{calendar.owner}", scope), rule)
        for scope, rule in rules.items()
        if sync.changed is None or scope in sync.changed
    ]
    return list_response(context, request, sync, context.names.calendar_kind("acl"), entries, RULE_SHAPE)


def delete_rule(context: ServiceContext, request: RequestContext) -> Response:
    """Delete an access rule, which takes the role away. Raises ApiError (400) for the owner's rule."""
    with context.store.transaction():
        calendar = calendar_of(context, request, CalendarRole.OWNER)
        row = _rule_in_path(context, request, calendar)
        if row.scope == f"user:{calendar.owner}":
            raise refuse("invalid", field="ruleId", message="the rule of the calendar's owner cannot be deleted.")
        context.store.calendars.revoke(calendar.id, row.scope)
        record_access(context, calendar, row.scope)
    return empty_response(204)
