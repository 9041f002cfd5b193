"""Reads the query parameters of a request for events, and the fields of an event from a request that writes one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, cast

from ...core.errors.catalogue import ApiError, refuse
from ...core.events.calendars import CalendarRole
from ...core.events.fields import EVENT_FIELDS, EVENT_SHAPE
from ...core.events.validation import has_conference, problems, repair_reminders, request_status
from ...core.files.permissions import Role
from ...core.http.messages import JSON, JSONObject, Query
from ...core.policy import Policy
from ...core.resources.events import Attachment, ConferenceData, ConferenceRequest, Event
from ...core.times import zone
from ..dispatch.requests_and_responses import bool_param, int_param, parse_fields_param, read_json
from ..dispatch.service_context import RequestContext, ServiceContext, link_base_url
from ..files.access import file_for
from .access import role_of
from .event_resource import EventView, pick
from .tables import CalendarRow

_STORED_FILE_PATH = re.compile(r"(?:file|document|spreadsheets|presentation|drawings|script)/d/([^/?#]+)/(?:view|edit)")
_STATUS_OF_POLICY = {"success": "success", "pending-then-success": "pending", "failure": "failure"}


def complete_attachments(
    context: ServiceContext, request: RequestContext, sent: list[Attachment], before: list[Attachment] | None
) -> list[Attachment]:
    """Return the attachments of an event, with the id, title and type of the stored files.

    Raises ApiError (400) for a link to a file that the caller cannot see, unless the link is in `before`, the stored
    attachments.
    """
    known = {attachment.get("fileUrl"): attachment for attachment in before or []}
    base_url = link_base_url(request.http_request, context)
    attachments: list[Attachment] = []
    for index, attachment in enumerate(sent):
        url = str(attachment.get("fileUrl", ""))
        match = _STORED_FILE_PATH.match(url.removeprefix(f"{base_url}/")) if url.startswith(f"{base_url}/") else None
        if match is None:
            attachments.append(attachment)
            continue
        try:
            row = file_for(context, request.caller, match[1], Role.READER)
            icon = f"{base_url}/icon/{row.mime_type}"
            own: Attachment = {"title": row.name, "mimeType": row.mime_type, "iconLink": icon}
            attachments.append({**own, **attachment, "fileId": row.id})
        except ApiError:
            if attachment.get("fileUrl") not in known:
                message = "no stored file that you can see has this link."
                raise refuse("invalid", field=f"attachments[{index}].fileUrl", message=message) from None
            attachments.append(known[attachment.get("fileUrl")])
    return attachments


def complete_conference(
    context: ServiceContext, conference_data: ConferenceData, before: ConferenceData | None
) -> ConferenceData:
    """Return the conference data to store, and create the conference that the data requests (E-09).

    If `before`, the stored conference data, has the same request id, return `before`.
    """
    request = conference_data.get("createRequest")
    if not request or has_conference(conference_data):
        return conference_data
    if before and before.get("createRequest", {}).get("requestId") == request["requestId"]:
        return before
    status = _STATUS_OF_POLICY[context.policy.conference]
    solution_type = request.get("conferenceSolutionKey", {}).get("type") or context.policy.conference_types[0]
    create_request: ConferenceRequest = {
        **request,
        "conferenceSolutionKey": {"type": solution_type},
        "status": {"statusCode": status},
    }
    requested: ConferenceData = {"createRequest": create_request}
    return create_conference(context, requested) if status == "success" else requested


def is_conference_pending(body: Event) -> bool:
    """Return True if an event requests a conference that has not been created yet."""
    return request_status(body.get("conferenceData") or {}) == "pending"


def create_conference(context: ServiceContext, requested: ConferenceData) -> ConferenceData:
    """Create the conference that an event requests and return its conference data."""
    name = context.ids.conference()
    address = f"meet.{context.policy.domain}/{name}"
    request = requested["createRequest"]
    return {
        "createRequest": {**request, "status": {"statusCode": "success"}},
        "entryPoints": [{"entryPointType": "video", "uri": f"https://{address}", "label": address}],
        "conferenceSolution": {"key": {"type": request["conferenceSolutionKey"]["type"]}, "name": "Svc Meet"},
        "conferenceId": name,
    }


def meeting_link(context: ServiceContext, body: Event) -> str | None:
    """Return the video link of a conference that this service has created. Return None for any other conference."""
    data: Any = body.get("conferenceData") or {}
    points = [point.get("uri") for point in data.get("entryPoints") or [] if point.get("entryPointType") == "video"]
    solution_type = ((data.get("conferenceSolution") or {}).get("key") or {}).get("type")
    return points[0] if points and solution_type in context.policy.conference_types else None


_CONFERENCE = "conferenceData."  # the data of another event's conference are stored as they are
_SERVICE_SET = {field.path for field in EVENT_FIELDS if not field.writable and not field.path.startswith(_CONFERENCE)}
_WRITABLE = {field.path for field in EVENT_FIELDS if field.writable and "." not in field.path} - {"id", "iCalUID"}
_SEND_UPDATES = {"all": "all", "externalOnly": "externalOnly", "none": "none", "true": "all", "false": "none"}
_MAX_ATTENDEES = 10**9 - 1
_MAX_INTEGER = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Options:
    """The query parameters of a request that writes an event. `notify` is "all", "externalOnly" or "none".

    `kept` are the fields of the stored event that the request cannot set: the conference, the attachments or both.
    """

    kept: tuple[str, ...]
    notify: str


def read_options(query: Query) -> Options:
    """Read the query parameters of a request that writes an event. Raises ApiError (400) for an invalid parameter."""
    version = query.get("conferenceDataVersion", "0")
    if version not in ("0", "1"):
        raise refuse("invalidParameter", name="conferenceDataVersion", message="expected 0 or 1.")
    attachments = bool_param(query, "supportsAttachments", default=False)
    _read_max_attendees(query)
    # The deprecated parameter sendNotifications applies only if sendUpdates is missing (E-16).
    send_notifications = bool_param(query, "sendNotifications", default=False)
    send_updates = query.get("sendUpdates", "true" if send_notifications else "false")
    if send_updates not in _SEND_UPDATES:
        raise refuse("invalidParameter", name="sendUpdates", message=f"expected one of {', '.join(_SEND_UPDATES)}.")
    kept = (*(() if version == "1" else ("conferenceData",)), *(() if attachments else ("attachments",)))
    return Options(kept, _SEND_UPDATES[send_updates])


def _read_max_attendees(query: Query) -> int | None:
    return int_param(query, "maxAttendees", 1, _MAX_ATTENDEES) if "maxAttendees" in query else None


def page_size(query: Query, default: int, most: int) -> int:
    """Return `maxResults`, which is cut to `most`. Raises ApiError (400) if it is not a number of at least 1."""
    return min(int_param(query, "maxResults", default, _MAX_INTEGER), most)


def view_of(context: ServiceContext, request: RequestContext, calendar: CalendarRow) -> EventView:
    """Return the EventView for the caller of a request. Raises ApiError (400) for an invalid parameter."""
    try:
        tz = zone(request.query.get("timeZone") or calendar.zone)
    except ValueError as error:
        raise refuse("invalidParameter", name="timeZone", message=f"{error}.") from None
    base_url = link_base_url(request.http_request, context)
    writes = (role_of(context, request.caller.user, calendar) or CalendarRole.READER) > CalendarRole.READER
    return EventView(context, calendar, request.caller.user, base_url, tz, _read_max_attendees(request.query), writes)


def read_event_request(
    context: ServiceContext, request: RequestContext, calendar: CalendarRow
) -> tuple[JSONObject, Options, EventView]:
    """Read a request that writes an event, and check that its response can be built. Raises ApiError.

    Return the body, the options and the view for the response. Attachments and conference data that the options exclude
    are removed from the body without a check (E-09, E-17).
    """
    options = read_options(request.query)
    parse_fields_param(request.query, {}, EVENT_SHAPE)
    view = view_of(context, request, calendar)
    body = read_json(request.body, context.policy.max_metadata_size)
    for name in options.kept:
        body.pop(name, None)
    return body, options, view


def complete_fields(
    context: ServiceContext, request: RequestContext, body: JSONObject, options: Options, before: Event
) -> Event:
    """Return the event fields to store, with completed attachments and conference, from a checked body (E-09, E-17).

    Unknown fields, null values, and fields that only the service sets are removed. `before` contains the stored fields
    of the event. Raises ApiError for an invalid attachment, or if a service account invites attendees.
    """
    fields = _writable_fields(body, context.policy)
    if request.caller.service_account and fields.get("attendees"):
        raise refuse("serviceAccountInvites")
    if before:
        fields |= pick(before, options.kept)
    if "attachments" in fields and "attachments" not in options.kept:
        fields["attachments"] = complete_attachments(context, request, fields["attachments"], before.get("attachments"))
    if "conferenceData" in fields and "conferenceData" not in options.kept:
        fields["conferenceData"] = complete_conference(context, fields["conferenceData"], before.get("conferenceData"))
    if (link := meeting_link(context, fields)) is not None:
        fields["hangoutLink"] = link
    return fields


def check_event(context: ServiceContext, body: JSONObject) -> None:
    """Check the fields of an event. Raises ApiError (400) with a list of all problems."""
    if rows := problems(body, context.policy):
        raise ApiError(rows)


def _writable_fields(body: JSONObject, policy: Policy) -> Event:
    body = repair_reminders(body, policy)
    fields: Any = {
        name: value if isinstance(value, str) else _without_null(value, name)
        for name, value in body.items()
        if name in _WRITABLE and value is not None
    }
    if fields.get("recurrence") == []:
        del fields["recurrence"]
    if "attendees" in fields:  # a second entry with the same address is merged into the first
        by_email: dict[str, JSONObject] = {}
        for attendee in fields["attendees"]:
            earlier = by_email.get(attendee["email"].lower(), {})
            merged = {**earlier, **attendee, "email": earlier.get("email", attendee["email"])}
            by_email[attendee["email"].lower()] = merged
        fields["attendees"] = list(by_email.values())
    return cast(Event, fields)


def _without_null(value: JSON, path: str) -> JSON:
    if isinstance(value, dict):
        return {
            name: member if isinstance(member, str) else _without_null(member, f"{path}.{name}")
            for name, member in value.items()
            if member is not None and f"{path}.{name}" not in _SERVICE_SET
        }
    if isinstance(value, list):
        return [_without_null(element, f"{path}[]") for element in value if element is not None]
    return int(value) if isinstance(value, float) and value.is_integer() else value
