"""The parts of an event that the service completes: conferences, and attachments that are stored files."""

from __future__ import annotations

import re
from typing import Any

from ...core.errors.catalogue import ApiError, refuse
from ...core.events.conference import is_answered, status_of
from ...core.files.permissions import Role
from ...core.http.messages import JSON, JSONObject
from ..context.external_origin import external_origin
from ..context.service_context import RequestContext, ServiceContext
from ..files import rows as drafts

_STORED = re.compile(r"(?:file|document|spreadsheets|presentation|drawings|script)/d/([^/?#]+)/(?:view|edit)")


def attachments(context: ServiceContext, request: RequestContext, given: Any, before: Any) -> list[JSON]:
    """Attachments, those at a stored file's webViewLink with its id, name and type. Raises ApiError (400).

    What was attached before stays as it is: who changes an event need not see its files.
    """
    known = {one.get("fileUrl"): one for one in before or []}
    return [_attachment(context, request, index, one, known.get(one.get("fileUrl"))) for index, one in enumerate(given)]


def _attachment(
    context: ServiceContext, request: RequestContext, index: int, given: JSONObject, before: JSONObject | None
) -> JSONObject:
    url, origin = str(given.get("fileUrl", "")), external_origin(request.http_request, context)
    found = _STORED.match(url.removeprefix(f"{origin}/")) if url.startswith(f"{origin}/") else None
    if found is None:
        return given
    try:
        row = drafts.file_for(context, request.caller, found[1], Role.READER)
    except ApiError:
        if before is not None:
            return before
        path = f"attachments[{index}].fileUrl"
        raise refuse("invalid", field=path, message="there is no stored file at this link that you can see.") from None
    icon = f"{origin}/icon/{row.mime_type}"
    return {"title": row.name, "mimeType": row.mime_type, "iconLink": icon, **given, "fileId": row.id}


def conference(context: ServiceContext, given: Any, before: Any) -> JSONObject:
    """Conference data as it was sent, or a new conference (E-09).

    The same request twice makes one. A request that was answered, on this event or on another, makes none.
    """
    request = given.get("createRequest")
    if not request or is_answered(given):
        return dict(given)
    if before and (before.get("createRequest") or {}).get("requestId") == request["requestId"]:
        return dict(before)
    status = _STATUS[context.policy.conference]
    kind = (request.get("conferenceSolutionKey") or {}).get("type") or context.policy.conference_types[0]
    asked = {**request, "conferenceSolutionKey": {"type": kind}, "status": {"statusCode": status}}
    return made(context, {"createRequest": asked}) if status == "success" else {"createRequest": asked}


_STATUS = {"success": "success", "pending-then-success": "pending", "failure": "failure"}


def is_pending(body: JSONObject) -> bool:
    """Whether its conference is still to be made."""
    data: Any = body.get("conferenceData") or {}
    return status_of(data) == "pending"


def made(context: ServiceContext, data: Any) -> JSONObject:
    """The conference that was asked for."""
    name = context.ids.conference()
    address = f"meet.{context.policy.domain}/{name}"
    kind = data["createRequest"]["conferenceSolutionKey"]["type"]
    return {
        "createRequest": {**data["createRequest"], "status": {"statusCode": "success"}},
        "entryPoints": [{"entryPointType": "video", "uri": f"https://{address}", "label": address}],
        "conferenceSolution": {"key": {"type": kind}, "name": "Svc Meet"},
        "conferenceId": name,
    }


def meeting_link(context: ServiceContext, body: JSONObject) -> JSON:
    """Where a conference that was made here is."""
    data: Any = body.get("conferenceData") or {}
    points = [point.get("uri") for point in data.get("entryPoints") or [] if point.get("entryPointType") == "video"]
    kind = ((data.get("conferenceSolution") or {}).get("key") or {}).get("type")
    return points[0] if points and kind in context.policy.conference_types else None
