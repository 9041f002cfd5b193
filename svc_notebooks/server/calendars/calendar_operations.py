"""Handlers of calendars (E-01) and of the colors of calendars and events."""

from __future__ import annotations

import json
from collections.abc import Mapping

from ...core.errors.catalogue import refuse
from ...core.events.calendars import CALENDAR_SHAPE, CalendarRole, check_calendar
from ...core.field_mask import shape_of
from ...core.http.messages import Response
from ...core.resources.calendars import CALENDAR_COLORS, EVENT_COLORS, Color, ColorPair, Colors
from ...core.times import format_millis
from ..dispatch.requests_and_responses import empty_response, read_json, resource_response
from ..dispatch.service_context import RequestContext, ServiceContext
from . import event_messages
from .access import calendar_of, calendar_resource
from .attendee_copies import move_days
from .tables import CalendarRow


def insert(context: ServiceContext, request: RequestContext) -> Response:
    """Create a secondary calendar and return the calendar."""
    fields = check_calendar(read_json(request.body, context.policy.max_metadata_size), creating=True)
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
    body = check_calendar(read_json(request.body, context.policy.max_metadata_size), creating=not partial)
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
        event_messages.record_event_change(context, row.id)
        event_messages.record_list_change(context, users, row.id)
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
