"""Operations on the access control list of a calendar."""

from __future__ import annotations

from ...core.api.operations import RULE_ID
from ...core.errors.catalogue import refuse
from ...core.events import calendars
from ...core.events.calendars import RULE_SHAPE, CalendarRole
from ...core.http.messages import Response
from ...core.resources.calendars import Acl, AclRule, AclScope
from ..context.responses import empty_response
from ..context.service_context import RequestContext, ServiceContext
from ..events.calendars import calendar_of, resource_response
from ..events.event_messages import record_access
from ..files.operations import read_json
from ..tables.calendars import AccessRow, CalendarRow


def _resource(context: ServiceContext, row: AccessRow) -> AclRule:
    scope_type, _, value = row.scope.partition(":")
    scope: AclScope = {"type": scope_type, "value": value} if value else {"type": scope_type}
    return {
        "kind": context.names.calendar_kind("aclRule"),
        "etag": f'"{row.role:017d}"',
        "id": row.scope,
        "scope": scope,
        "role": CalendarRole(row.role).wire_name,
    }


def _rows(context: ServiceContext, calendar: CalendarRow) -> list[AccessRow]:
    own = AccessRow(calendar.id, f"user:{calendar.owner}", CalendarRole.OWNER)
    return [own, *(row for row in context.store.calendars.grants(calendar.id) if row.scope != own.scope)]


def _rule_in_path(context: ServiceContext, request: RequestContext, calendar: CalendarRow) -> AccessRow:
    rule_id = request.path_params[RULE_ID]
    for row in _rows(context, calendar):
        if row.scope == rule_id:
            return row
    raise refuse("notFound", message=f"there is no access rule {rule_id[:200]} for this calendar.")


def insert(context: ServiceContext, request: RequestContext) -> Response:
    """Create an access rule, which gives a user, a domain or everyone a role on a calendar. Return the rule."""
    scope, role = calendars.check_rule(read_json(request.body, context.policy.max_metadata_size))
    with context.store.transaction():
        return _grant(context, request, calendar_of(context, request, CalendarRole.OWNER), scope, role)


def change(context: ServiceContext, request: RequestContext) -> Response:
    """Change the role of an access rule and return the rule."""
    body = read_json(request.body, context.policy.max_metadata_size)
    with context.store.transaction():
        calendar = calendar_of(context, request, CalendarRole.OWNER)
        row = _rule_in_path(context, request, calendar)
        return _grant(context, request, calendar, row.scope, calendars.check_role(body.get("role"), name="role"))


def _grant(
    context: ServiceContext, request: RequestContext, calendar: CalendarRow, scope: str, role: CalendarRole
) -> Response:
    if scope == f"user:{calendar.owner}":
        raise refuse("invalid", field="scope.value", message="the role of the calendar's owner cannot be changed.")
    row = AccessRow(calendar.id, scope, role)
    context.store.calendars.grant(row)
    record_access(context, calendar, _named_users(scope))
    return resource_response(request, _resource(context, row), RULE_SHAPE)


def _named_users(scope: str) -> list[str]:
    """Return the user that the scope of an access rule names, or an empty list for a domain or everybody."""
    return [scope.removeprefix("user:")] if scope.startswith("user:") else []


def get(context: ServiceContext, request: RequestContext) -> Response:
    """Return the access rule whose id is in the path. Raises ApiError (404) if there is no such rule."""
    row = _rule_in_path(context, request, calendar_of(context, request, CalendarRole.OWNER))
    return resource_response(request, _resource(context, row), RULE_SHAPE)


def list_rules(context: ServiceContext, request: RequestContext) -> Response:
    """Return all access rules of a calendar, beginning with the owner's rule."""
    calendar = calendar_of(context, request, CalendarRole.OWNER)
    rules: Acl = {
        "kind": context.names.calendar_kind("acl"),
        "items": [_resource(context, row) for row in _rows(context, calendar)],
    }
    return resource_response(request, rules, {"kind": None, "etag": None, "nextPageToken": None, "items": RULE_SHAPE})


def delete(context: ServiceContext, request: RequestContext) -> Response:
    """Delete an access rule, which takes the role away. Raises ApiError (400) for the owner's rule."""
    with context.store.transaction():
        calendar = calendar_of(context, request, CalendarRole.OWNER)
        row = _rule_in_path(context, request, calendar)
        if row.scope == f"user:{calendar.owner}":
            raise refuse("invalid", field="ruleId", message="the rule of the calendar's owner cannot be deleted.")
        context.store.calendars.revoke(calendar.id, row.scope)
        record_access(context, calendar, _named_users(row.scope))
    return empty_response(204)
