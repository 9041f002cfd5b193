"""Adds the missing data to the conference of an event and to attachments that are stored files."""

from __future__ import annotations

import re
from typing import Any

from ...core.errors.catalogue import ApiError, refuse
from ...core.events.conference import has_conference, request_status
from ...core.files.permissions import Role
from ...core.resources.events import Attachment, ConferenceData, ConferenceRequest, Event
from ..context.external_origin import external_base_url
from ..context.service_context import RequestContext, ServiceContext
from ..files.rows import file_for

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
    base_url = external_base_url(request.http_request, context)
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
