"""Completes the conference of an event, and attachments that are stored files."""

from __future__ import annotations

import re
from typing import Any

from ...core.errors.catalogue import ApiError, refuse
from ...core.events.conference import has_conference, request_status
from ...core.files.permissions import Role
from ...core.http.messages import JSON, JSONObject
from ..context.external_origin import external_origin
from ..context.service_context import RequestContext, ServiceContext
from ..files.rows import file_for

_STORED_FILE_PATH = re.compile(r"(?:file|document|spreadsheets|presentation|drawings|script)/d/([^/?#]+)/(?:view|edit)")


def complete_attachments(context: ServiceContext, request: RequestContext, sent: Any, before: Any) -> list[JSON]:
    """Attachments, those at a stored file's webViewLink with its id, name and type. Raises ApiError (400).

    What was attached before stays as it is: who changes an event need not see its files.
    """
    known = {attachment.get("fileUrl"): attachment for attachment in before or []}
    return [
        _attachment(context, request, index, attachment, known.get(attachment.get("fileUrl")))
        for index, attachment in enumerate(sent)
    ]


def _attachment(
    context: ServiceContext, request: RequestContext, index: int, attachment: JSONObject, before: JSONObject | None
) -> JSONObject:
    url, origin = str(attachment.get("fileUrl", "")), external_origin(request.http_request, context)
    match = _STORED_FILE_PATH.match(url.removeprefix(f"{origin}/")) if url.startswith(f"{origin}/") else None
    if match is None:
        return attachment
    try:
        row = file_for(context, request.caller, match[1], Role.READER)
    except ApiError:
        if before is not None:
            return before
        path = f"attachments[{index}].fileUrl"
        raise refuse("invalid", field=path, message="there is no stored file at this link that you can see.") from None
    icon = f"{origin}/icon/{row.mime_type}"
    return {"title": row.name, "mimeType": row.mime_type, "iconLink": icon, **attachment, "fileId": row.id}


def complete_conference(context: ServiceContext, conference_data: Any, before: Any) -> JSONObject:
    """Conference data as it was sent, or a new conference (E-09).

    The same request twice makes one. A request that was answered, on this event or on another, makes none.
    """
    request = conference_data.get("createRequest")
    if not request or has_conference(conference_data):
        return dict(conference_data)
    if before and (before.get("createRequest") or {}).get("requestId") == request["requestId"]:
        return dict(before)
    status = _STATUS[context.policy.conference]
    solution_type = (request.get("conferenceSolutionKey") or {}).get("type") or context.policy.conference_types[0]
    create_request = {**request, "conferenceSolutionKey": {"type": solution_type}, "status": {"statusCode": status}}
    return (
        create_conference(context, {"createRequest": create_request})
        if status == "success"
        else {"createRequest": create_request}
    )


_STATUS = {"success": "success", "pending-then-success": "pending", "failure": "failure"}


def is_conference_pending(body: JSONObject) -> bool:
    """Whether its conference is still to be made."""
    data: Any = body.get("conferenceData") or {}
    return request_status(data) == "pending"


def create_conference(context: ServiceContext, conference_data: Any) -> JSONObject:
    """The conference that was asked for."""
    name = context.ids.conference()
    address = f"meet.{context.policy.domain}/{name}"
    solution_type = conference_data["createRequest"]["conferenceSolutionKey"]["type"]
    return {
        "createRequest": {**conference_data["createRequest"], "status": {"statusCode": "success"}},
        "entryPoints": [{"entryPointType": "video", "uri": f"https://{address}", "label": address}],
        "conferenceSolution": {"key": {"type": solution_type}, "name": "Svc Meet"},
        "conferenceId": name,
    }


def meeting_link(context: ServiceContext, body: JSONObject) -> JSON:
    """Where a conference that was made here is."""
    data: Any = body.get("conferenceData") or {}
    points = [point.get("uri") for point in data.get("entryPoints") or [] if point.get("entryPointType") == "video"]
    solution_type = ((data.get("conferenceSolution") or {}).get("key") or {}).get("type")
    return points[0] if points and solution_type in context.policy.conference_types else None
