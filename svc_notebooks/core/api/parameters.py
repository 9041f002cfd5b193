"""The query parameters and request headers of each operation, one row each (gaps of the interface: "Parameters").

The description of the interface (openapi.py) is written from this table. What a call does with a value is said
where the call is answered; a parameter that is not here is taken by nobody and ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ..events.fields import EVENT_TYPES


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter: `high` may be the name of the policy's field that says how much is taken.

    `type` is string, boolean, integer or time (RFC 3339 with an offset); `place` is query or header.
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


def _page(maximum: int | str, name: str = "pageSize") -> tuple[Parameter, ...]:
    return (
        Parameter(name, "integer", "how many entries a page has at most", minimum=1, maximum=maximum),
        Parameter("pageToken", rule="the nextPageToken of the page before"),
    )


def _flag(name: str, rule: str) -> Parameter:
    return Parameter(name, "boolean", rule)


COMMON: Final = (
    Parameter(
        "fields", rule="the parts of the answer that are wanted, such as id,name or files(id,owners/emailAddress)"
    ),
    _flag("prettyPrint", "false: the answer is on one line"),
)
"""Parameters that every operation with an answer in JSON takes."""

_SPACES = Parameter("spaces", rule="storage, drive or appDataFolder, parted by commas")
_OCR = Parameter("ocrLanguage", rule="BCP 47: the language of the text in a picture that is converted")
_MOVES = (
    Parameter("addParents", rule="the folder that the file moves into"),
    Parameter("removeParents", rule="the folder that it leaves"),
)
_ZONE = Parameter("timeZone", rule="an IANA name: times of the answer are in this zone")
_ATTENDEES = Parameter(
    "maxAttendees", "integer", "with more attendees only the participant is shown", minimum=1, maximum=10**9 - 1
)
_UPDATES = (
    Parameter("sendUpdates", rule="who is told", values=("all", "externalOnly", "none", "true", "false")),
    _flag("sendNotifications", "deprecated: use sendUpdates"),
)
_VERSION = Parameter("conferenceDataVersion", "integer", "1: conferenceData is kept", minimum=0, maximum=1)
_WRITES_EVENT = (
    _VERSION,
    _ATTENDEES,
    *_UPDATES,
    _flag("supportsAttachments", "attachments are kept"),
    _ZONE,
)
_WINDOW = (
    Parameter("timeMin", "time", "events that end after it"),
    Parameter("timeMax", "time", "events that begin before it"),
    _flag("showDeleted", "cancelled events too"),
    *_page(2500, "maxResults"),
    _ATTENDEES,
    _ZONE,
)

PARAMETERS: Final[Mapping[str, tuple[Parameter, ...]]] = {
    "files.update": _MOVES,
    "files.get": (
        Parameter("alt", rule="media: the content instead of the metadata", values=("json", "media")),
        _flag("acknowledgeAbuse", "the owner wants a file that was found to be abusive; with alt=media only"),
        Parameter("Range", rule="one range of bytes, such as bytes=0-99", location="header"),
    ),
    "files.generateIds": (
        Parameter("count", "integer", "how many", minimum=1, maximum="max_generated_ids"),
        Parameter("space", values=("storage", "drive", "appDataFolder")),
        Parameter("type", values=("files", "shortcuts")),
    ),
    "files.list": (
        Parameter("q", rule="a search, such as name contains 'a' and trashed = false"),
        Parameter("orderBy", rule="keys parted by commas, each with desc or without"),
        Parameter("corpora", values=("user", "domain", "drive", "allDrives")),
        _SPACES,
        *_page("max_page_size"),
    ),
    "files.export": (Parameter("mimeType", rule="the format that is wanted", required=True),),
    "permissions.list": _page(100),
    "changes.list": (
        Parameter("pageToken", rule="where to begin", required=True),
        Parameter("pageSize", "integer", "how many entries a page has at most", minimum=1, maximum="max_page_size"),
        _flag("includeRemoved", "files that are gone, too"),
    ),
    "changes.watch": (Parameter("pageToken", rule="where the caller stands in the change log"),),
    "events.insert": _WRITES_EVENT,
    "events.import": _WRITES_EVENT,
    "events.patch": _WRITES_EVENT,
    "events.update": _WRITES_EVENT,
    "events.move": (Parameter("destination", rule="the calendar that the event goes to", required=True), *_UPDATES),
    "events.delete": _UPDATES,
    "events.get": (_ATTENDEES, _ZONE),
    "events.instances": (*_WINDOW, Parameter("originalStart", rule="when one instance would have begun")),
    "events.list": (
        *_WINDOW,
        Parameter("updatedMin", "time", "events that were changed after it"),
        _flag("singleEvents", "instances instead of recurring events"),
        Parameter("orderBy", values=("startTime", "updated")),
        Parameter("q", rule="words that the texts of an event have"),
        Parameter("iCalUID"),
        Parameter("eventTypes", values=(*EVENT_TYPES, "fromGmail"), repeated=True),
        Parameter("privateExtendedProperty", rule="key=value", repeated=True),
        Parameter("sharedExtendedProperty", rule="key=value", repeated=True),
        Parameter("syncToken", rule="the nextSyncToken of a list before: what has changed since"),
    ),
    "calendarList.list": (
        Parameter("minAccessRole", values=("freeBusyReader", "reader", "writer", "owner")),
        *_page(250, "maxResults"),
    ),
    "upload.session": (
        Parameter("uploadType", values=("resumable",)),
        Parameter("upload_id", rule="as the Location of the initiation has it", required=True),
        Parameter(
            "Content-Range", rule="bytes first-last/total of a chunk, bytes */total of a question", location="header"
        ),
    ),
}
"""Parameters beside the common ones, by operation."""

UPLOAD: Final = (
    Parameter("uploadType", rule="how the content comes", values=("media", "multipart", "resumable"), required=True),
    _OCR,
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
"""Parameters of the operations that take content, at the media URI."""
