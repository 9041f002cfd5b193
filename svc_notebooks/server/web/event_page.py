"""The HTML page of an event, at the address in the event's htmlLink."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode
from datetime import timedelta
from html import escape
from itertools import islice

from ...core.clock import from_millis
from ...core.errors.catalogue import refuse
from ...core.events.rrule import is_all_day
from ...core.events.times import read_time
from ...core.http.messages import Response
from ...core.resources.events import Event
from ..auth.public_request import PublicRequest
from ..calendars.access import calendar_by_id
from ..calendars.event_resource import EventRecord, visible_to_readers
from ..calendars.instances import find_event, instances
from ..calendars.tables import CalendarRow
from ..dispatch.service_context import ServiceContext
from .html import description_list, html_page

_NEXT = 10


def event_page(request: PublicRequest) -> Response:
    """Return the public HTML page of an event. Raises ApiError (404) if the event is missing or links are closed."""
    context = request.context
    calendar, event = _event_at(context, request.query.get("eid") or "")
    if calendar is None or event is None or event.row.cancelled or not context.policy.open_links:
        raise refuse("notFound", message="there is no event at this link.")
    title = str(visible_to_readers(event.body).get("summary") or "(no title)")
    return html_page(title, f"<h1>{escape(title)}</h1>{description_list(_rows(context, calendar, event))}")


def _event_at(context: ServiceContext, eid: str) -> tuple[CalendarRow | None, EventRecord | None]:
    try:
        text = urlsafe_b64decode(eid.encode("ascii") + b"=" * (-len(eid) % 4)).decode()
    except ValueError:
        return None, None
    event, _, name = text.partition(" ")
    calendar = calendar_by_id(context, name) if name else None
    return calendar, find_event(context, calendar, event) if calendar else None


def _rows(context: ServiceContext, calendar: CalendarRow, event: EventRecord) -> list[tuple[str, str]]:
    body = visible_to_readers(event.body)
    rows = [("When", _when(body)), ("Calendar", str(json.loads(calendar.body).get("summary") or calendar.id))]
    texts = (("Where", "location"), ("What", "description"), ("Conference", "hangoutLink"))
    rows += [(title, str(body.get(name))) for title, name in texts if body.get(name)]
    if event.row.recurring:
        coming = islice(instances(context, calendar, event.row, context.clock.now(), None), _NEXT)
        rows.append(("Repeats", "\n".join(body.get("recurrence") or [])))
        rows.append(
            ("Next", "\n".join(_when(instance.body) for instance in coming if not instance.row.cancelled) or "no more")
        )
    rows.append(("Last changed", f"{from_millis(event.row.updated):%Y-%m-%d %H:%M} UTC"))
    return rows


_DAY = "{0:%A}, {0.day} {0:%B %Y}"


def _when(body: Event) -> str:
    start, end = read_time(body["start"]), read_time(body["end"])
    if is_all_day(start):
        last = end - timedelta(days=1)
        return _DAY.format(start) + (f" to {_DAY.format(last)}" if last > start else "") + ", all day"
    begins, ends = (f" ({getattr(moment, 'tzinfo', '')})" for moment in (start, end))
    until = f"{end:%H:%M}" if f"{start:%F}" == f"{end:%F}" else f"{_DAY.format(end)}, {end:%H:%M}"
    return f"{_DAY.format(start)}, {start:%H:%M}{'' if begins == ends else begins} to {until}{ends}"
