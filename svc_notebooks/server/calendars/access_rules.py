"""Handles the access rules of calendars (acl)."""

from __future__ import annotations

from typing import cast

from ...core.api.operations import RULE_ID
from ...core.errors.catalogue import refuse
from ...core.events.calendars import RULE_SHAPE, CalendarRole, check_role, check_rule
from ...core.http.messages import Response
from ...core.resources.calendars import AclRule, AclScope
from ..dispatch.requests_and_responses import bool_param, empty_response, read_json, resource_response
from ..dispatch.service_context import RequestContext, ServiceContext
from . import event_messages
from .access import calendar_of
from .calendar_list import list_response, read_sync_request
from .tables import AccessRow, CalendarRow


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
    scope, role = check_rule(read_json(request.body, context.policy.max_metadata_size))
    with context.store.transaction():
        return _grant(context, request, calendar_of(context, request, CalendarRole.OWNER), scope, role)


def change_rule(context: ServiceContext, request: RequestContext) -> Response:
    """Change the role of an access rule and return the rule."""
    body = read_json(request.body, context.policy.max_metadata_size)
    with context.store.transaction():
        calendar = calendar_of(context, request, CalendarRole.OWNER)
        row = _rule_in_path(context, request, calendar)
        if body.get("scope") is not None and check_rule(body)[0] != row.scope:
            raise refuse("fieldOnCreation", field="scope", hint="")
        return _grant(context, request, calendar, row.scope, check_role(body.get("role"), name="role"))


def _grant(
    context: ServiceContext, request: RequestContext, calendar: CalendarRow, scope: str, role: CalendarRole
) -> Response:
    if scope == f"user:{calendar.owner}":
        raise refuse("invalid", field="scope.value", message="the role of the calendar's owner cannot be changed.")
    row = AccessRow(calendar.id, scope, role)
    context.store.calendars.grant(row)
    event_messages.record_access(context, calendar, scope)
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
    sync = read_sync_request(context, request, event_messages.access_of(calendar.id))
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
        event_messages.record_access(context, calendar, row.scope)
    return empty_response(204)
