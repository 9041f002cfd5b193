# ruff: noqa: E501  the catalogue is a table: a row is a line
"""The error catalogue, with one row per service error, and the body of error responses (X-01).

A handler raises `refuse("fileNotFound", fileId="x")`, and the dispatcher sends `envelope(error)`. The interface defines
status and reason; the messages are our own. `decided_by` is a rule id of tests/rules.csv or a row name of
docs/decisions.md, which only the journal stores.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from .. import decision_ids as rules
from ..http.messages import JSON
from ..resources.errors import ErrorDetail, ErrorResponse


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the error catalogue. `message` and `location` may contain placeholders in braces."""

    status: int
    reason: str
    decided_by: str
    message: str
    location: str | None = None
    location_type: str | None = None
    domain: str = "global"


ENGINE = "engine"
"""The domain of errors that are caused by software missing on the service's machine."""

# fmt: off
CATALOGUE: dict[str, Row] = {
    # key                          status reason, decided by            message, location, location type, domain
    "badRequest":              Row(400, "badRequest", rules.FIELD, "{message}"),
    "parseError":              Row(400, "parseError", "A4-02", "The body is not the JSON object that this call expects: {message}"),
    "invalid":                 Row(400, "invalid", rules.FIELD, "{field}: {message}", "{field}", "other"),
    "required":                Row(400, "required", rules.FIELD, "{field} is missing.", "{field}", "other"),
    "requiredParameter":       Row(400, "required", rules.FIELD, "Required parameter: {name}", "{name}", "parameter"),
    "invalidParameter":        Row(400, "invalidParameter", rules.FIELD, "{name}: {message}", "{name}", "parameter"),
    "invalidValue":            Row(400, "invalid", rules.FIELD, "{name}: {message}", "{name}", "parameter"),
    "invalidHeader":           Row(400, "invalid", rules.FIELD, "{name}: {message}", "{name}", "header"),
    "invalidFields":           Row(400, "invalidParameter", rules.FIELD, "Invalid field selection {name}", "fields", "parameter"),
    "badTime":                 Row(400, "badRequest", "E-03", "{field}: {message}", "{field}", "other"),
    "badNumber":               Row(400, "badRequest", rules.FIELD, "{field}: {message}", "{field}", "other"),
    "missingTime":             Row(400, "required", rules.FIELD, "{field}: {message}", "{field}", "other"),
    "mixedTimes":              Row(400, "invalid", "E-02", "{field}: Start and end times must either both be date or both be dateTime.", "{field}", "other"),
    "timeRangeEmpty":          Row(400, "timeRangeEmpty", "E-05", "end: The specified time range is empty: end must lie after start.", "timeMax", "parameter", "calendar"),
    "timeRangeTooLong":        Row(400, "timeRangeTooLong", "expansion_steps", "timeMax: The requested time range is too long: ask for a shorter one, or for fewer calendars.", "timeMax", "other", "calendar"),
    "tooManyReminders":        Row(400, "eventRemindersCountExceedsLimit", "E-13", "reminders.overrides: expected at most {most}, not {count}.", "reminders.overrides", "other", "calendar"),
    "defaultAndOverrides":     Row(400, "cannotUseDefaultRemindersAndSpecifyOverride", rules.OVERRIDES, "reminders.overrides: Cannot specify both default reminders and overrides: leave one out.", "reminders.overrides", "other", "calendar"),
    "ordering":                Row(400, "badRequest", rules.FAMILY, "orderBy: The requested ordering is not available for the particular query: startTime needs singleEvents=true.", "orderBy", "parameter"),
    "badUploadType":           Row(400, "invalidParameter", "U-02", "uploadType is {value}; it must be media, multipart or resumable.", "uploadType", "parameter"),
    "badMultipart":            Row(400, "badRequest", "A2-02", "Malformed multipart body: {message}", "body", "other"),
    "badBatch":                Row(400, "badRequest", rules.BATCH, "Malformed batch: {message}", "body", "other"),
    "notInBatch":              Row(400, "badRequest", rules.BATCH, "This request cannot be part of the batch: {message}"),
    "noConversion":            Row(400, "badRequest", "A5-02", "Content of type {source} cannot be converted to {target}.", "mimeType", "other"),
    "otherText":               Row(400, "badRequest", "A5-02", 'Content of type {source} cannot be converted to {target}. Declare it as plain text: mime_type="text/plain".', "mimeType", "other"),
    "noImportEngine":          Row(400, "badRequest", "A5-02", "Content of type {source} cannot be converted to {target} here: {message}", "mimeType", "other", ENGINE),
    "notConverted":            Row(400, "badRequest", "A5-02", "The content could not be converted to {target}: {message}", "mimeType", "other"),
    "importTooLarge":          Row(400, "badRequest", "A source larger than maxImportSizes", "Content to convert to {target} may have at most {limit} bytes.", "mimeType", "other"),
    "noExport":                Row(400, "badRequest", "A7-02", "The requested conversion is not supported: {source} can be exported as {target}.", "mimeType", "parameter"),
    "noExportEngine":          Row(400, "badRequest", "A7-02", "{source} cannot be exported as {target} here: {message}", "mimeType", "parameter", ENGINE),
    "idNotUsable":             Row(400, "invalid", "L-01", "The provided file ID is not usable: use an id from generateIds.", "id", "other"),
    "idWithNativeType":        Row(400, "invalid", "X-03", "Generated IDs are not supported for native documents or conversions: leave the id out.", "id", "other"),
    "channelType":             Row(400, "push.channelTypeNotSupported", "A8-03", "type is {value}; it must be {allowed}.", "type", "other"),
    "webhookNotHttps":         Row(400, "push.webhookUrlNotHttps", "A8-04", "WebHook callback must be HTTPS: {address}", "address", "other"),
    "channelIdNotUnique":      Row(400, "channelIdNotUnique", "A8-02", "Channel id {id} not unique: use a new id for each channel.", "id", "other", "push"),
    "notSignedIn":             Row(401, "required", "T-01", "Sign in first: the request has no access token.", "Authorization", "header"),
    "badToken":                Row(401, "authError", "T-01", "Invalid Credentials: the access token is unknown or has expired.", "Authorization", "header"),
    "badAuthorization":        Row(401, "authError", "T-01", "Invalid Credentials: {problem}. Send the header Authorization with 'Bearer ' and the access token.", "Authorization", "header"),
    "controlToken":            Row(401, "authError", rules.CONTROL, "The control token is missing or wrong: send the token of --control-token in the header Authorization: Bearer TOKEN.", "Authorization", "header"),
    "hubUser":                 Row(403, "forbidden", rules.HUB, "Only a user of JupyterHub can use this service, not another service of the hub.", "Authorization", "header"),
    "hubAdmin":                Row(403, "forbidden", rules.HUB, "Only an administrator of JupyterHub can do this.", "Authorization", "header"),
    "hubScope":                Row(403, "insufficientPermissions", rules.HUB, "The JupyterHub token does not have the scope {name}. The administrator of the hub can add it in c.JupyterHub.load_roles.", "Authorization", "header"),
    "livePageKey":             Row(401, "authError", "live_page", "The live page needs the key of the link that serve prints, or the token of --control-token.", "Authorization", "header"),
    "webhookUnauthorized":     Row(401, "push.webhookUrlUnauthorized", "A8-05", "Unauthorized WebHook callback channel: {address}. Its domain is not registered here.", "address", "other"),
    "teacherOnly":             Row(403, "forbidden", rules.CLASS, "Only the sign-in token of a teacher can do this.", "Authorization", "header"),
    "storageQuota":            Row(403, "storageQuotaExceeded", rules.QUOTAS, "The storage quota of {user} is exceeded: files and open uploads may have at most {limit:,} bytes together."),
    "channelQuota":            Row(403, "quotaExceeded", rules.QUOTAS, "At most {limit:,} channels of a user can be active at a time: stop one of them.", domain="usageLimits"),
    "foreignHost":             Row(403, "hostNotAllowed", "host_names", "{host} is not a registered host name of this service. Add the name with serve --host-name, or with Policy(host_names=...).", "Host", "header"),
    "foreignOrigin":           Row(403, "originNotAllowed", rules.CROSS_SITE, "Pages of another origin ({origin}) are not allowed to send this request.", "Origin", "header"),
    "missingScope":            Row(403, "insufficientPermissions", rules.SCOPES_OF_FILES, "The access token has none of the scopes that {operation} accepts: {scopes}."),
    "fieldNotWritable":        Row(403, "fieldNotWritable", rules.SERVICES_OWN, "{field} is set by the service and cannot be written here.", "{field}", "other"),
    "fieldOnCreation":         Row(403, "fieldNotWritable", rules.SERVICES_OWN, "{field} can be set on creation only.{hint}", "{field}", "other"),
    "fieldAbsent":             Row(403, "fieldNotWritable", rules.SERVICES_OWN, "{field} is not part of this service: leave it out.", "{field}", "other"),
    "unknownField":            Row(403, "fieldNotWritable", rules.SERVICES_OWN, "{field} is not a field of this resource: check its spelling.", "{field}", "other"),
    "filePermission":          Row(403, "insufficientFilePermissions", rules.SHARING, "The user does not have sufficient permissions for file {fileId} ({name}).{hint}", "fileId", "parameter"),
    "ownerOnly":               Row(403, "insufficientFilePermissions", rules.WHO_TRASHES, "Only the owner of file {fileId} ({name}) may delete it.{hint}", "fileId", "parameter"),
    "noTransfer":              Row(403, "forbidden", rules.SHARING, "Ownership cannot be transferred: use the role writer, commenter or reader.", "role", "other"),
    "noRevisions":             Row(403, "revisionsNotSupported", rules.FAMILY, "Folders and shortcuts have no revisions.", "fileId", "parameter"),
    "notDownloadable":         Row(403, "fileNotDownloadable", "A6-07", "Only files with binary content can be downloaded: use export for native documents.", "alt", "parameter"),
    "notExportable":           Row(403, "fileNotExportable", "A7-02", "Only native documents can be exported: download this file with alt=media.", "fileId", "parameter"),
    "exportTooLarge":          Row(403, "exportSizeLimitExceeded", "An export that needs too much time, memory or disk space", "This file is too large to be exported: {message}"),
    "abusive":                 Row(403, "cannotDownloadAbusiveFile", "A6-03", "This file was found to be malware or spam: its owner can download it with acknowledgeAbuse=true.", "alt", "parameter"),
    "noAcknowledgment":        Row(403, "invalidAbuseAcknowledgment", "A6-03", "acknowledgeAbuse applies to downloads (alt=media) only.", "acknowledgeAbuse", "parameter"),
    "duplicateSortKeys":       Row(403, "orderByContainsDuplicateSortKeys", rules.FAMILY, "orderBy has the key {key} more than once.", "orderBy", "parameter"),
    "sortedFullText":          Row(403, "forbidden", rules.FAMILY, "The results of a fullText query are sorted by relevance: leave orderBy out.", "orderBy", "parameter"),
    "userRateLimit":           Row(403, "userRateLimitExceeded", "X-04", "User Rate Limit Exceeded: wait and try again.", domain="usageLimits"),
    "serviceAccountInvites":   Row(403, "forbiddenForServiceAccounts", rules.SERVICE_ACCOUNTS, "attendees: Service accounts cannot invite attendees: sign in as a user.", "attendees", "other", "calendar"),
    "notOrganizer":            Row(403, "forbiddenForNonOrganizer", "Changes by a guest", "{field}: Shared properties can only be changed by the organizer of the event.", "{field}", "other", "calendar"),
    "calendarAccess":          Row(403, "requiredAccessLevel", "Shared calendars", "You need to have {role} access to this calendar.", "calendarId", "parameter", "calendar"),
    "cannotCopy":              Row(403, "cannotCopyFile", "A6-05", "The user cannot copy file {fileId}: folders cannot be copied, and writers of a file can disable copying for readers.", "fileId", "parameter"),
    "cannotDownload":          Row(403, "cannotDownloadFile", "A6-05", "The user cannot download file {fileId}: a writer of the file has disabled downloads for readers.", "fileId", "parameter"),
    "cannotExport":            Row(403, "cannotExportFile", "A6-05", "The user cannot export file {fileId}: a writer of the file has disabled exports for readers.", "fileId", "parameter"),
    "fileNotFound":            Row(404, "notFound", rules.FIELD, "File not found: {fileId}.", "fileId", "parameter"),
    "channelNotFound":         Row(404, "notFound", "A10-01", "Channel '{id}' not found for this project: there is no such active channel with this resourceId."),
    "permissionNotFound":      Row(404, "notFound", rules.SHARING, "Permission not found: {permissionId}.", "permissionId", "parameter"),
    "unknownPath":             Row(404, "unknownOperation", rules.NOWHERE, "This service has no operation {operation}{near}"),
    "unknownOperation":        Row(404, "unknownOperation", rules.NOWHERE, "This service has no operation {operation}. Of the operations of its family, it leaves out: {absent}."),
    "notFound":                Row(404, "notFound", rules.NOWHERE, "Not Found: {message}"),
    "calendarNotFound":        Row(404, "notFound", "E-01", "Not Found: there is no calendar {calendarId} that you can see.", "calendarId", "parameter"),
    "eventNotFound":           Row(404, "notFound", rules.FAMILY, "Not Found: there is no event {eventId} in this calendar.", "eventId", "parameter"),
    "methodNotAllowed":        Row(405, "httpMethodNotAllowed", rules.NOWHERE, "The method {method} is not allowed at this address; use {allowed}."),
    "receiverOfAnother":       Row(409, "duplicate", rules.RECEIVERS, "{address} is the receiver of another user: use another port.", "address", "other"),
    "fileIdInUse":             Row(409, "fileIdInUse", "X-02", "A file already exists with the provided ID.", "id", "other"),
    "duplicate":               Row(409, "duplicate", "E-11", "The requested identifier already exists.", "id", "other"),
    "deleted":                 Row(410, "deleted", rules.FAMILY, "Resource has been deleted", "eventId", "parameter"),
    "fullSyncRequired":        Row(410, "fullSyncRequired", rules.FAMILY, "Sync token is no longer valid, a full sync is required.", "syncToken", "parameter", "calendar"),
    "conditionNotMet":         Row(412, "conditionNotMet", rules.FAMILY, "Precondition Failed: the resource was changed in the meantime, or does not meet the condition.", "{name}", "header"),
    "lengthRequired":          Row(411, "lengthRequired", rules.NO_LENGTH, "The length of the body is missing: send Content-Length (0 without a body) or Transfer-Encoding: chunked.", "Content-Length", "header"),
    "chunkedBody":             Row(411, "lengthRequired", "A1-03", "This server does not accept a chunked body: send Content-Length.", "Content-Length", "header"),
    "metadataTooLarge":        Row(413, "uploadTooLarge", "max_metadata_size", "Request Too Large: at most {limit} bytes are allowed."),
    "tooLarge":                Row(413, "uploadTooLarge", "max_upload_size", "Request Too Large: at most {limit} bytes are allowed."),
    "decodedTooLarge":         Row(413, "uploadTooLarge", rules.CODINGS, "Request Too Large: a body with a coding or a digest may have at most {limit:,} bytes after decoding. Send it without these headers."),
    "batchTooLarge":           Row(413, "uploadTooLarge", rules.BATCH, "A batch may have at most {limit} bytes."),
    "batchResponseTooLarge":   Row(413, "responseTooLarge", rules.BATCH, "The requests before this one, or other batches of the user, have taken the {limit} bytes or {seconds} seconds of a batch, so this request was not performed: send it in another batch."),
    "unsupportedCoding":       Row(415, "unsupportedMediaType", rules.CODINGS, "Content-Encoding: {message}", "Content-Encoding", "header"),
    "badRange":                Row(416, "requestedRangeNotSatisfiable", "A6-02", "The requested range is outside the content, which has {size} bytes.", "Range", "header"),
    "expectation":             Row(417, "expectationFailed", rules.UNREADABLE, "Expect: only 100-continue can be expected.", "Expect", "header"),
    "rateLimit":               Row(429, "rateLimitExceeded", "X-04", "Rate Limit Exceeded: wait and try again.", domain="usageLimits"),
    "cancelled":               Row(499, "clientClosedRequest", rules.ALL_OR_NOTHING, "The client closed the connection."),
    "backendError":            Row(500, "backendError", rules.INSIDE, "Backend Error: the service failed; try again."),
    "contentDamaged":          Row(500, "contentDamaged", rules.DAMAGED, "The stored content of {file} is damaged ({problem}). This request changed nothing."),
    "databaseDamaged":         Row(500, "databaseDamaged", rules.DAMAGED, "The database of this service is damaged. This request changed nothing."),
    "badGateway":              Row(502, "backendError", rules.INSIDE, "Bad Gateway: try again."),
    "unavailable":             Row(503, "backendError", rules.INSIDE, "Service Unavailable: try again."),
    "hubUnavailable":          Row(503, "backendError", rules.HUB, "JupyterHub does not respond, so the access token cannot be verified: try again."),
    "timedOut":                Row(504, "backendError", rules.INSIDE, "Gateway Timeout: try again."),
    "diskFull":                Row(507, "insufficientStorage", rules.FULL_DISK, "Insufficient Storage: the disk of this service is full. This request changed nothing."),
}
# fmt: on

RATE_LIMIT_REASONS = frozenset(
    {"userRateLimitExceeded", "rateLimitExceeded", "dailyLimitExceeded", "sharingRateLimitExceeded"}
)
"""The reasons of a 403 response after which a client waits and retries (X-04)."""

LASTING_REASONS = frozenset({"contentDamaged", "databaseDamaged", "insufficientStorage"})
"""The reasons of 5xx errors that last until an operator repairs the service."""


class ApiError(Exception):
    """An error response of the service, with at least one catalogue row and optional extra headers."""

    def __init__(self, rows: Sequence[Row], headers: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__(rows[0].message)
        self.rows = tuple(rows)
        self.headers = tuple(headers)

    @property
    def status(self) -> int:
        """The HTTP status of the first row."""
        return self.rows[0].status


def row(key: str, /, *, decided_by: str | None = None, **values: object) -> Row:
    """Return a catalogue row with `values` in its message and location. `decided_by` replaces the row's rule."""
    template = CATALOGUE[key]
    location = template.location.format(**values) if template.location else None
    message = template.message.format(**values)
    return replace(template, message=message, location=location, decided_by=decided_by or template.decided_by)


def refuse(key: str, /, *, decided_by: str | None = None, **values: object) -> ApiError:
    """Return the ApiError for a catalogue key, for the caller to raise.

    >>> refuse("fileNotFound", fileId="x").status
    404
    """
    return ApiError([row(key, decided_by=decided_by, **values)])


_NOT_FOUND = {
    resource: re.compile(re.sub(r"\\\{\w+\\\}", "(.+)", re.escape(CATALOGUE[f"{resource}NotFound"].message)))
    for resource in ("file", "channel", "calendar", "event")
}


def missing_id(message: str) -> tuple[str, str] | None:
    """Return the type and id of the missing resource from a 404 message, or None if the message names no resource.

    >>> missing_id(refuse("fileNotFound", fileId="x").rows[0].message)
    ('file', 'x')
    """
    matches = ((resource, pattern.fullmatch(message)) for resource, pattern in _NOT_FOUND.items())
    return next(((resource, match[1]) for resource, match in matches if match), None)


_MAX_DETAILS = 100
"""The largest number of problems in an error response, so that it is not much larger than the request."""


def envelope(error: ApiError) -> ErrorResponse:
    """Return the JSON body of an error response (X-01)."""
    details: list[ErrorDetail] = []
    for problem in error.rows[:_MAX_DETAILS]:
        detail: ErrorDetail = {"domain": problem.domain, "reason": problem.reason, "message": problem.message}
        if problem.location:
            detail |= {"locationType": problem.location_type or "", "location": problem.location}
        details.append(detail)
    return {"error": {"errors": details, "code": error.status, "message": error.rows[0].message}}


NO_TEXT = "expected text without lone surrogates."


def lone_surrogates(value: JSON) -> list[Row]:
    """Return an error row for each text in a JSON value that contains a lone surrogate.

    >>> [error.location for error in lone_surrogates({"a": ["x", chr(0xD800)]})]
    ['a[1]']
    """
    if _is_encodable(json.dumps(value, ensure_ascii=False, default=str)):
        return []
    return [row("invalid", field=path or "body", message=NO_TEXT) for path in _surrogate_paths(value, "")]


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _surrogate_paths(value: JSON, path: str) -> Iterator[str]:
    """Yield the path of each text with a lone surrogate, or of the parent object if the text is a key."""
    if isinstance(value, str) and not _is_encodable(value):
        yield path
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from _surrogate_paths(member, f"{path}[{index}]")
    elif isinstance(value, dict):
        for key, member in value.items():
            member_path = f"{path}.{key}" if path else key
            yield from _surrogate_paths(member, member_path) if _is_encodable(key) else (path,)
