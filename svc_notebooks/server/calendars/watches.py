"""Handles watch requests for the events of a calendar and for a user's calendar list."""

from __future__ import annotations

from ...core.events.calendars import CalendarRole
from ...core.http.messages import Response, segment
from ..context.service_context import RequestContext, ServiceContext
from ..events.calendars import calendar_of
from ..events.event_messages import events_of, list_of
from ..notifications.watch_requests import open_channel, resource_uri


def watch_events(context: ServiceContext, request: RequestContext) -> Response:
    """Open and return a channel that watches the events of a calendar. Raises ApiError (404) for a hidden calendar."""
    calendar = calendar_of(context, request, CalendarRole.READER)
    path = context.names.calendar_path("calendars", segment(calendar.id), "events")
    return _open(context, request, events_of(calendar.id), path)


def watch_calendar_list(context: ServiceContext, request: RequestContext) -> Response:
    """Open and return a channel that watches the caller's calendar list."""
    path = context.names.calendar_path("users", "me", "calendarList")
    return _open(context, request, list_of(request.caller.user), path)


def _open(context: ServiceContext, request: RequestContext, watched: str, path: str) -> Response:
    uri, limit = resource_uri(context, request, path), context.policy.max_file_channel_lifetime
    return open_channel(context, request, watched, uri, limit, of_changes=False)
