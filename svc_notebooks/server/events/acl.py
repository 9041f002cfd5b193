"""Who sees a calendar: the rules of its access control list."""

from __future__ import annotations

from ...core.api.operations import RULE_ID
from ...core.errors.catalogue import refuse
from ...core.events import calendars as rules
from ...core.events.calendars import RULE_SHAPE, CalendarRole
from ...core.http.messages import JSONObject, Response
from ..context.responses import empty
from ..context.service_context import Call, House
from ..files.operations import read_json
from ..store.calendars import AccessRow, CalendarRow
from .calendars import answer, calendar_of


def _resource(house: House, row: AccessRow) -> JSONObject:
    kind, _, value = row.scope.partition(":")
    scope: JSONObject = {"type": kind, "value": value} if value else {"type": kind}
    return {
        "kind": house.names.kind("aclRule"),
        "etag": f'"{row.role:017d}"',
        "id": row.scope,
        "scope": scope,
        "role": CalendarRole(row.role).word,
    }


def _rows(house: House, calendar: CalendarRow) -> list[AccessRow]:
    own = AccessRow(calendar.id, f"user:{calendar.owner}", CalendarRole.OWNER)
    return [own, *(row for row in house.store.calendars.grants(calendar.id) if row.scope != own.scope)]


def insert(house: House, call: Call) -> Response:
    """Let somebody see a calendar, or write in it."""
    scope, role = rules.check_rule(read_json(call.body, house.policy.max_metadata_size))
    with house.store.transaction():
        return _grant(house, call, calendar_of(house, call, CalendarRole.OWNER), scope, role)


def _grant(house: House, call: Call, calendar: CalendarRow, scope: str, role: CalendarRole) -> Response:
    if scope == f"user:{calendar.owner}":
        raise refuse("invalid", field="scope.value", message="the owner of a calendar stays its owner.")
    row = AccessRow(calendar.id, scope, role)
    house.store.calendars.grant(row)
    return answer(call, _resource(house, row), RULE_SHAPE)


def change(house: House, call: Call) -> Response:
    """Another role for somebody who has one."""
    body = read_json(call.body, house.policy.max_metadata_size)
    with house.store.transaction():
        calendar = calendar_of(house, call, CalendarRole.OWNER)
        row = _rule(house, call, calendar)
        return _grant(house, call, calendar, row.scope, rules.check_role(body.get("role"), name="role"))


def _rule(house: House, call: Call, calendar: CalendarRow) -> AccessRow:
    wanted = call.places[RULE_ID]
    found = next((row for row in _rows(house, calendar) if row.scope == wanted), None)
    if found is None:
        raise refuse("notFound", message=f"there is no rule {wanted[:200]} for this calendar.")
    return found


def get(house: House, call: Call) -> Response:
    """One rule."""
    row = _rule(house, call, calendar_of(house, call, CalendarRole.OWNER))
    return answer(call, _resource(house, row), RULE_SHAPE)


def list_rules(house: House, call: Call) -> Response:
    """All rules, the owner's first."""
    calendar = calendar_of(house, call, CalendarRole.OWNER)
    items: JSONObject = {
        "kind": house.names.kind("acl"),
        "items": [_resource(house, row) for row in _rows(house, calendar)],
    }
    return answer(call, items, {"kind": None, "etag": None, "nextPageToken": None, "items": RULE_SHAPE})


def delete(house: House, call: Call) -> Response:
    """Take a role away."""
    with house.store.transaction():
        calendar = calendar_of(house, call, CalendarRole.OWNER)
        row = _rule(house, call, calendar)
        if row.scope == f"user:{calendar.owner}":
            raise refuse("invalid", field="ruleId", message="the owner of a calendar stays its owner.")
        house.store.calendars.revoke(calendar.id, row.scope)
    return empty(204)
