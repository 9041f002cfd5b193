"""Search for the interface rule behind an error, for the catalogue rows that serve several rules."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..errors.catalogue import Row
from ..events.fields import EVENT_FIELDS
from .operations import CONTENT, EVENTS_CREATE, METADATA_ONLY, Operation

# Maps field paths to rule ids. A nested field without an entry has the rule of the nearest parent field.
Fields = Mapping[str, str]

# The rule for an invalid field of a request body that has no entry in the tables.
WRONG_FIELD = "A4-02"

FILE = {"fileId": "T-04", "ocrLanguage": "A5-03", "pageSize": "max_page_size", "count": "max_generated_ids"}
UPLOAD = FILE | {"fileId": "U-06", "Content-Type": "A1-02", "X-Upload-Content-Type": "A3-02",
                         "X-Upload-Content-Length": "A3-03"}  # fmt: skip
EXPORT = FILE | {"mimeType": "A7-02"}
CHANNEL = {"fileId": "A8-08", "id": "A8-02", "type": "A8-03", "address": "A8-04", "token": "A8-06",
                   "expiration": "A8-07"}  # fmt: skip
STOP = {"id": "A10-01", "resourceId": "A10-01"}
PERMISSION = {"fileId": "T-04", "": "Sharing"}
EVENT = {field.path.replace("[]", ""): "E-22" for field in EVENT_FIELDS if field.values} | {
    "start": "E-02", "start.date": "E-03", "start.dateTime": "E-03", "start.timeZone": "E-04",
    "end": "E-02", "end.date": "E-03", "end.dateTime": "E-03", "end.timeZone": "E-04",
    "originalStartTime": "E-23", "attachments": "E-17", "attendees": "E-07", "attendees.resource": "E-08",
    "colorId": "E-24", "conferenceData": "E-09",
    "conferenceData.conferenceSolution": "Conference data beyond createRequest",
    "conferenceData.entryPoints": "Conference data beyond createRequest",
    "conferenceDataVersion": "E-09", "extendedProperties": "E-19",
    "gadget": "E-10", "id": "E-11", "maxAttendees": "E-15", "recurrence": "E-12", "reminders": "E-13",
    "sendNotifications": "E-16", "sendUpdates": "E-16", "source": "E-14", "supportsAttachments": "E-17",
}  # fmt: skip

# The rule tables by operation name ("files.export") or by the first word of operation names ("files").
FIELDS: Mapping[str, Fields] = {
    "files.export": EXPORT, "files.watch": CHANNEL, "changes.watch": CHANNEL, "channels.stop": STOP,
    "events.watch": CHANNEL, "calendarList.watch": CHANNEL, "calendarChannels.stop": STOP,
    "upload.session": UPLOAD, "files": FILE, "permissions": PERMISSION, "events": EVENT,
}  # fmt: skip


def rule_for(row: Row, operation: str | None, *, upload: bool = False) -> str:
    """Return the rule id or decision name behind an error. `upload` is True for a request to the upload URI.

    >>> from svc_notebooks.core.errors.catalogue import row
    >>> rule_for(row("badNumber", field="reminders.overrides[2].minutes", message=""), "events.insert")
    'E-13'
    """
    if row.decided_by:
        return row.decided_by
    name = operation or ""
    fields = UPLOAD if upload else FIELDS.get(name) or FIELDS.get(name.partition(".")[0]) or {}
    location = row.location or ""
    path = re.sub(r"\[\d*\]", "", location)
    while path:
        if rule := fields.get(path):
            return rule
        path = path.rpartition(".")[0]
    if location == "Content-Length":
        return "Content-Length with Transfer-Encoding, or two lengths"
    if row.location_type in ("parameter", "header"):
        return "Invalid parameters and headers"
    return fields.get("", WRONG_FIELD)


def rule_for_scopes(operation: Operation, scopes: frozenset[str]) -> str:
    """Return the rule id or decision name for missing scopes, which is T-03 if only access to content is missing."""
    if operation.scopes == EVENTS_CREATE:
        return "T-02"
    if operation.calendar:
        return "Scopes for calendars"
    shows_metadata_only = METADATA_ONLY & scopes and not CONTENT & scopes
    return "T-03" if operation.returns_content and shows_metadata_only else "Scopes for files"
