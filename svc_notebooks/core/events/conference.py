"""Checks of conference data, which requests a new conference or copies an existing conference (E-09)."""

from __future__ import annotations

from typing import Any

from ..decision_ids import CONFERENCE_PARTS, REQUEST_ID
from ..errors.catalogue import Row, row
from ..http.messages import JSON
from ..policy import Policy
from .value_checks import invalid

_REQUEST = "conferenceData.createRequest"


def conference_problems(data: Any, policy: Policy) -> list[Row]:
    """Return an error row for each problem of conference data whose field types were already checked."""
    if data.get("createRequest") and not has_conference(data):
        request = data["createRequest"]
        if request.get("requestId") == "":
            return [row("required", decided_by=REQUEST_ID, field=f"{_REQUEST}.requestId")]
        if (request.get("conferenceSolutionKey") or {}).get("type") not in (None, *policy.conference_types):
            message = f"Invalid conference type value. Expected one of {', '.join(policy.conference_types)}."
            return invalid(f"{_REQUEST}.conferenceSolutionKey.type", message, "conference_types")
        return []
    if not (data.get("conferenceSolution") and data.get("entryPoints")):
        message = "expected createRequest, or conferenceSolution with at least one entry point."
        return invalid("conferenceData", message, CONFERENCE_PARTS)
    types = [point.get("entryPointType") for point in data["entryPoints"]]
    if repeated := [entry_type for entry_type in ("video", "sip", "more") if types.count(entry_type) > 1]:
        return invalid("conferenceData.entryPoints", f"expected at most one {repeated[0]} entry point.")
    if types == ["more"]:
        return invalid(
            "conferenceData.entryPoints", "an entry point of type more needs an entry point of another type."
        )
    return []


def has_conference(data: Any) -> bool:
    """Return whether conference data contains an existing conference, so that no conference is created.

    >>> request = {"requestId": "r1", "status": {"statusCode": "success"}}
    >>> has_conference({"createRequest": request})
    False
    >>> has_conference({"createRequest": request, "conferenceSolution": {"name": "Meet"}, "entryPoints": [{}]})
    True
    """
    return request_status(data) == "success" and bool(data.get("conferenceSolution") and data.get("entryPoints"))


def request_status(data: Any) -> JSON:
    """Return the status of a conference request, such as "success", or None for a new or missing request."""
    request = data.get("createRequest")
    status = request.get("status") if isinstance(request, dict) else None
    return status.get("statusCode") if isinstance(status, dict) else None
