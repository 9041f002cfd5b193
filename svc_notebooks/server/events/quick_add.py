"""Creates an event from one line of English words."""

from __future__ import annotations

from ...core.errors.catalogue import refuse
from ...core.events.calendars import CalendarRole
from ...core.events.field_table import EVENT_SHAPE
from ...core.events.quick_words import quick_event
from ...core.http.messages import Response
from ...core.time_zones import zone
from ..context.service_context import RequestContext, ServiceContext
from ..files.operations import parse_fields_param
from .calendars import calendar_of
from .event_request import read_options, view_of
from .operations import add_event


def quick_add(context: ServiceContext, request: RequestContext) -> Response:
    """Create the event that the parameter `text` describes, in the time zone of the calendar, and return the event."""
    calendar = calendar_of(context, request, CalendarRole.WRITER)
    options = read_options(request.query)
    parse_fields_param(request.query, {}, EVENT_SHAPE)
    view = view_of(context, request, calendar)
    text = request.query.get("text")
    if not text:
        raise refuse("requiredParameter", name="text")
    try:
        body = quick_event(text, context.clock.now().astimezone(zone(calendar.zone)))
    except (ValueError, OverflowError) as error:
        raise refuse("invalidParameter", name="text", message=f"{error}.") from None
    return add_event(context, request, calendar, body, options, view)
