"""The query parameters and request headers of the operations in operations.py. Unknown parameters are ignored."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from ..events.field_table import EVENT_TYPES


@dataclass(frozen=True, slots=True)
class Parameter:
    """A query parameter or a request header.

    `type` is string, boolean, integer or time (RFC 3339 with an offset). `maximum` is a number or the name of a
    `Policy` field. `location` is query or header.
    """

    name: str
    type: str = "string"
    rule: str = ""
    values: tuple[str, ...] = ()
    minimum: int | None = None
    maximum: int | str | None = None
    required: bool = False
    repeated: bool = False
    location: str = "query"


def page(maximum: int | str, name: str = "pageSize") -> tuple[Parameter, ...]:
    """Return the page size parameter, with this name and maximum, and the `pageToken` parameter of a paged list."""
    return (
        Parameter(name, "integer", "how many entries a page has at most", minimum=1, maximum=maximum),
        Parameter("pageToken", rule="the nextPageToken of the page before"),
    )


FIELDS: Final = Parameter(
    "fields", rule="the parts of the answer that are wanted, such as id,name or files(id,owners/emailAddress)"
)
COMMON: Final = (FIELDS, Parameter("prettyPrint", "boolean", "false: the answer is on one line"))
"""Parameters of every operation that returns JSON. An operation's own parameter of the same name takes precedence."""

MOVE_FILE: Final = (
    Parameter("addParents", rule="the folder that the file moves into"),
    Parameter("removeParents", rule="the folder that it leaves"),
)
FILE_CONTENT: Final = (
    Parameter("alt", rule="media: the content instead of the metadata", values=("json", "media")),
    Parameter(
        "acknowledgeAbuse", "boolean", "the owner wants a file that was found to be abusive; with alt=media only"
    ),
    Parameter("Range", rule="one range of bytes, such as bytes=0-99", location="header"),
)
GENERATED_IDS: Final = (
    Parameter("count", "integer", "how many", minimum=1, maximum="max_generated_ids"),
    Parameter("space", values=("storage", "drive", "appDataFolder")),
    Parameter("type", values=("files", "shortcuts")),
)
FILE_SEARCH: Final = (
    Parameter("q", rule="a search, such as name contains 'a' and trashed = false"),
    Parameter("orderBy", rule="keys parted by commas, each with desc or without"),
    Parameter("corpora", values=("user", "domain", "drive", "allDrives")),
    Parameter("spaces", rule="storage, drive or appDataFolder, parted by commas"),
    *page("max_page_size"),
)
EXPORT_FORMAT: Final = Parameter("mimeType", rule="the format that is wanted", required=True)
CHANGES: Final = (
    Parameter("pageToken", rule="where to begin", required=True),
    page("max_page_size")[0],
    Parameter("includeRemoved", "boolean", "files that are gone, too"),
)
CHANGE_POSITION: Final = Parameter("pageToken", rule="where the caller stands in the change log")
ABOUT_FIELDS: Final = replace(FIELDS, required=True)

_ZONE = Parameter("timeZone", rule="an IANA name: times of the answer are in this zone")
_ATTENDEES = Parameter(
    "maxAttendees", "integer", "with more attendees only the participant is shown", minimum=1, maximum=10**9 - 1
)
READ_EVENT: Final = (_ATTENDEES, _ZONE)
SEND_UPDATES: Final = (
    Parameter("sendUpdates", rule="who is told", values=("all", "externalOnly", "none", "true", "false")),
    Parameter("sendNotifications", "boolean", "deprecated: use sendUpdates"),
)
WRITE_EVENT: Final = (
    Parameter("conferenceDataVersion", "integer", "1: conferenceData is kept", minimum=0, maximum=1),
    _ATTENDEES,
    *SEND_UPDATES,
    Parameter("supportsAttachments", "boolean", "attachments are kept"),
    _ZONE,
)
MOVE_EVENT: Final = (Parameter("destination", rule="the calendar that the event goes to", required=True), *SEND_UPDATES)
_WINDOW = (
    Parameter("timeMin", "time", "events that end after it"),
    Parameter("timeMax", "time", "events that begin before it"),
    Parameter("showDeleted", "boolean", "cancelled events too"),
    *page(2500, "maxResults"),
    _ATTENDEES,
    _ZONE,
)
INSTANCES: Final = (*_WINDOW, Parameter("originalStart", rule="when one instance would have begun"))
EVENT_SEARCH: Final = (
    *_WINDOW,
    Parameter("updatedMin", "time", "events that were changed after it"),
    Parameter("singleEvents", "boolean", "instances instead of recurring events"),
    Parameter("orderBy", values=("startTime", "updated")),
    Parameter("q", rule="words that the texts of an event have"),
    Parameter("iCalUID"),
    Parameter("eventTypes", values=(*EVENT_TYPES, "fromGmail"), repeated=True),
    Parameter("privateExtendedProperty", rule="key=value", repeated=True),
    Parameter("sharedExtendedProperty", rule="key=value", repeated=True),
    Parameter("syncToken", rule="the nextSyncToken of a list before: what has changed since"),
)
CALENDAR_SEARCH: Final = (
    Parameter("minAccessRole", values=("freeBusyReader", "reader", "writer", "owner")),
    *page(250, "maxResults"),
)
UPLOAD: Final = (
    Parameter("uploadType", rule="how the content comes", values=("media", "multipart", "resumable"), required=True),
    Parameter("ocrLanguage", rule="BCP 47: the language of the text in a picture that is converted"),
    Parameter("X-Upload-Content-Type", rule="resumable: the media type of the content to come", location="header"),
    Parameter(
        "X-Upload-Content-Length",
        "integer",
        "resumable: its size",
        minimum=0,
        maximum="max_upload_size",
        location="header",
    ),
)
"""Parameters of the operations that receive content at their upload URI."""

UPLOAD_SESSION: Final = (
    Parameter("uploadType", values=("resumable",)),
    Parameter("upload_id", rule="as the Location of the initiation has it", required=True),
    Parameter(
        "Content-Range", rule="bytes first-last/total of a chunk, bytes */total of a question", location="header"
    ),
)
