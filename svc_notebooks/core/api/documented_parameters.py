# ruff: noqa: E501  the parameters are a table: a row is a line
"""The query parameters and request headers of the operations in operations.py. Unknown parameters are ignored.

The service checks booleans by these tables. The handler checks the other values where it reads them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from ..events.fields import EVENT_TYPES


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
        Parameter(name, "integer", "The maximum number of entries in a page.", minimum=1, maximum=maximum),
        Parameter("pageToken", rule="The nextPageToken of the previous page."),
    )


# fmt: off
FIELDS: Final = Parameter("fields", rule="The fields that the response contains, such as id,name or files(id,owners/emailAddress).")

# Parameters of every operation that returns JSON. An operation's own parameter of the same name takes precedence.
COMMON: Final = (
    FIELDS,
    Parameter("prettyPrint", "boolean", "Whether the JSON is indented. With false it is on one line."),
)

MOVE_FILE: Final = (
    Parameter("addParents", rule="The id of the folder to move the file to."),
    Parameter("removeParents", rule="The id of the folder to remove the file from."),
)
FILE_CONTENT: Final = (
    Parameter("alt", rule="With media, the response is the content instead of the metadata.", values=("json", "media")),
    Parameter("acknowledgeAbuse", "boolean", "Whether the owner downloads a file flagged as malware or spam. Requires alt=media."),
    Parameter("Range", rule="One range of bytes, such as bytes=0-99.", location="header"),
)
GENERATED_IDS: Final = (
    Parameter("count", "integer", "The number of ids.", minimum=1, maximum="max_generated_ids"),
    Parameter("space", values=("storage", "drive", "appDataFolder")),
    Parameter("type", values=("files", "shortcuts")),
)
FILE_SEARCH: Final = (
    Parameter("q", rule="A search query, such as name contains 'a' and trashed = false."),
    Parameter("orderBy", rule="Sort keys separated by commas, such as folder,modifiedTime desc."),
    Parameter("corpora", values=("user", "domain", "drive", "allDrives")),
    Parameter("spaces", rule="One or more of storage, drive and appDataFolder, separated by commas."),
    *page("max_page_size"),
)
EXPORT_FORMAT: Final = Parameter("mimeType", rule="The media type of the exported format.", required=True)
CHANGES: Final = (
    Parameter("pageToken", rule="The page token of the previous page, or of changes.getStartPageToken.", required=True),
    page("max_page_size")[0],
    Parameter("includeRemoved", "boolean", "Whether the list contains files that were deleted or are no longer shared."),
)
CHANGE_POSITION: Final = Parameter("pageToken", rule="The caller's position in the change log.")
ABOUT_FIELDS: Final = replace(FIELDS, required=True)

_ZONE = Parameter("timeZone", rule="The time zone of the times in the response, as an IANA name such as Europe/Berlin.")
_ATTENDEES = Parameter(
    "maxAttendees",
    "integer",
    "The maximum number of attendees in the response. If an event has more, only the caller is listed.",
    minimum=1,
    maximum=10**9 - 1,
)
READ_EVENT: Final = (_ATTENDEES, _ZONE)
SEND_UPDATES: Final = (
    Parameter("sendUpdates", rule="Which guests are notified by e-mail.", values=("all", "externalOnly", "none", "true", "false")),
    Parameter("sendNotifications", "boolean", "Deprecated. Use sendUpdates."),
)
WRITE_EVENT: Final = (
    Parameter("conferenceDataVersion", "integer", "With 1, conferenceData of the body is stored. With 0, it is ignored.", minimum=0, maximum=1),
    _ATTENDEES,
    *SEND_UPDATES,
    Parameter("supportsAttachments", "boolean", "Whether attachments of the body are stored."),
    _ZONE,
)
MOVE_EVENT: Final = (
    Parameter("destination", rule="The id of the calendar to move the event to.", required=True),
    *SEND_UPDATES,
)
QUICK_ADD: Final = (
    Parameter("text", rule="The event in English words, such as Lunch with Bob tomorrow 12:30-13:30.", required=True),
    *SEND_UPDATES,
)
_SYNC = Parameter("syncToken", rule="The nextSyncToken of an earlier list. The response has only the entries that have changed since then.")
_WINDOW = (
    Parameter("timeMin", "time", "Only events that end after this time."),
    Parameter("timeMax", "time", "Only events that begin before this time."),
    Parameter("showDeleted", "boolean", "Whether the list contains cancelled events."),
    Parameter("maxResults", "integer", "The maximum number of entries in a page, at most 2500.", minimum=1),
    page(2500)[1],
    _ATTENDEES,
    _ZONE,
)
INSTANCES: Final = (*_WINDOW, Parameter("originalStart", rule="Only the instance whose original start is this time."))
EVENT_SEARCH: Final = (
    *_WINDOW,
    Parameter("updatedMin", "time", "Only events that were changed after this time."),
    Parameter("singleEvents", "boolean", "Whether the list contains the instances of a recurring event instead of the event itself."),
    Parameter("orderBy", values=("startTime", "updated")),
    Parameter("q", rule="Words to search for in the texts of events."),
    Parameter("iCalUID"),
    Parameter("eventTypes", values=(*EVENT_TYPES, "fromGmail"), repeated=True),
    Parameter("privateExtendedProperty", rule="Only events with this private property, as key=value.", repeated=True),
    Parameter("sharedExtendedProperty", rule="Only events with this shared property, as key=value.", repeated=True),
    _SYNC,
)
PAGE_OF_250: Final = (
    Parameter("maxResults", "integer", "The maximum number of entries in a page, at most 250.", minimum=1),
    page(250)[1],
    _SYNC,
)
ACCESS_RULES: Final = (*PAGE_OF_250, Parameter("showDeleted", "boolean", "Whether the list contains deleted rules."))
CALENDAR_SEARCH: Final = (
    Parameter("minAccessRole", values=("freeBusyReader", "reader", "writer", "owner")),
    *PAGE_OF_250,
    Parameter("showHidden", "boolean", "Whether the list contains hidden calendars."),
    Parameter("showDeleted", "boolean", "Whether the list contains calendars that the caller removed from the list."),
)
RGB_COLORS: Final = Parameter("colorRgbFormat", "boolean", "Whether backgroundColor and foregroundColor of the body are stored.")

# Parameters of the operations that receive content at their upload URI.
UPLOAD: Final = (
    Parameter("uploadType", rule="The type of the upload.", values=("media", "multipart", "resumable"), required=True),
    Parameter("ocrLanguage", rule="The language of the text in a picture to convert, as a BCP 47 code such as de."),
    Parameter("X-Upload-Content-Type", rule="The media type of the content, for a resumable upload.", location="header"),
    Parameter(
        "X-Upload-Content-Length",
        "integer",
        "The size of the content in bytes, for a resumable upload.",
        minimum=0,
        maximum="max_upload_size",
        location="header",
    ),
)

UPLOAD_SESSION: Final = (
    Parameter("uploadType", values=("resumable",)),
    Parameter("upload_id", rule="The id in the session URI, which the Location header of the initiation returned.", required=True),
    Parameter("Content-Range", rule="bytes FIRST-LAST/TOTAL for a chunk, bytes */TOTAL for a status query.", location="header"),
)
# fmt: on
