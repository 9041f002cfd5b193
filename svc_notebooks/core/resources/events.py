"""The TypedDicts of events and their parts in the calendar interface."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Final, Literal, TypedDict

from ..http.messages import JSON, JSONObject
from .calendars import EVENT_COLORS, Reminder
from .field import EXTENSION, READ_ONLY, TIME, Field

NO_REQUEST_ID: Final = "A createRequest without a requestId"
PROPERTIES: Final = Field(decided_by="Values of extended properties and gadget preferences")


class EventTime(TypedDict, total=False):
    """The start or end of an event, with `date` if all-day, otherwise `dateTime` and optionally `timeZone`."""

    date: Annotated[str, Field("date", note="yyyy-mm-dd, for an all-day event")]
    dateTime: Annotated[str, Field("dateTime", note="RFC 3339; needs an offset unless timeZone is given")]
    timeZone: Annotated[str, Field("timeZone", note="an IANA name; required for recurring timed events")]


class Person(TypedDict, total=False):
    """The creator or organizer of an event."""

    id: str
    email: str
    displayName: str
    self: bool


class Attachment(TypedDict, total=False):
    """A file that is attached to an event."""

    fileUrl: Annotated[str, Field("link", note="the webViewLink of a stored file, or another URL")]
    title: Annotated[str, EXTENSION]
    mimeType: Annotated[str, EXTENSION]
    iconLink: Annotated[str, EXTENSION]
    fileId: Annotated[str, Field(note="only for a stored file: its id", writable=False)]


class Attendee(TypedDict, total=False):
    """An attendee of an event, with the attendee's response to the invitation."""

    id: Annotated[str, READ_ONLY]
    email: Annotated[str, Field("email", note="an RFC 5322 address", required=True)]
    displayName: str
    organizer: Annotated[bool, READ_ONLY]
    self: Annotated[bool, READ_ONLY]
    resource: Annotated[bool, Field(note="stored only when the attendee is first added", default=False)]
    optional: Annotated[bool, Field(default=False)]
    responseStatus: Annotated[Literal["needsAction", "declined", "tentative", "accepted"], Field(default="needsAction")]
    comment: str
    additionalGuests: Annotated[
        int, Field(note="0 or more", default=0, minimum=0, decided_by="A negative number of additional guests")
    ]


class ConferenceSolutionKey(TypedDict, total=False):
    """The key of a conference solution, which contains the type of the solution."""

    type: str


class ConferenceSolution(TypedDict, total=False):
    """The conference solution of an event, with its name and icon."""

    key: ConferenceSolutionKey
    name: str
    iconUri: str


class ConferenceStatus(TypedDict, total=False):
    """The status of a conference request, which is success, pending or failure."""

    statusCode: Annotated[str, READ_ONLY]


class ConferenceRequest(TypedDict, total=False):
    """A request to create a conference for an event, with the status of the creation."""

    requestId: Annotated[str, Field(note="a new text for each conference", required=True, decided_by=NO_REQUEST_ID)]
    conferenceSolutionKey: ConferenceSolutionKey
    status: Annotated[ConferenceStatus, READ_ONLY]


class EntryPoint(TypedDict, total=False):
    """A URL or telephone number of a conference, with its access codes."""

    entryPointType: Annotated[Literal["video", "phone", "sip", "more"], Field(required=True)]
    uri: Annotated[str, Field(required=True, max_length=1300)]
    label: Annotated[str, Field(max_length=512)]
    pin: Annotated[str, Field(max_length=128)]
    accessCode: Annotated[str, Field(max_length=128)]
    meetingCode: Annotated[str, Field(max_length=128)]
    passcode: Annotated[str, Field(max_length=128)]
    password: Annotated[str, Field(max_length=128)]
    regionCode: str
    entryPointFeatures: list[JSON]


class ConferenceData(TypedDict, total=False):
    """The conference of an event, with its entry points, or the request to create a conference."""

    createRequest: Annotated[ConferenceRequest, EXTENSION]
    conferenceId: Annotated[str, EXTENSION]
    conferenceSolution: Annotated[ConferenceSolution, EXTENSION]
    entryPoints: Annotated[list[EntryPoint], Field(note="at most one each of video, sip and more", extension=True)]
    notes: Annotated[str, Field(max_length=2048, extension=True)]
    parameters: Annotated[JSONObject, EXTENSION]
    signature: Annotated[str, EXTENSION]


class ExtendedProperties(TypedDict, total=False):
    """Properties that applications store in an event, private to one calendar or shared with all attendees."""

    private: Annotated[dict[str, str], replace(PROPERTIES, note="on this calendar's copy only")]
    shared: Annotated[dict[str, str], replace(PROPERTIES, note="also on the attendees' copies")]


class Gadget(TypedDict, total=False):
    """The gadget of an event, with its type, title, link and size."""

    display: Annotated[Literal["icon", "chip"], Field(decided_by="gadget.display")]
    height: Annotated[int, Field(note="pixels, above 0", minimum=1)]
    iconLink: Annotated[str, Field("https", note="an https URL")]
    link: Annotated[str, Field("https", note="an https URL")]
    preferences: Annotated[dict[str, str], PROPERTIES]
    title: str
    type: str
    width: Annotated[int, Field(note="pixels, above 0", minimum=1)]


class Reminders(TypedDict, total=False):
    """The reminders of an event, which are the calendar's default reminders or the event's own `overrides`."""

    useDefault: Annotated[bool, Field(note="cannot be true with overrides", default=True)]
    overrides: Annotated[list[Reminder], Field(note="at most 5")]


class EventSource(TypedDict, total=False):
    """The web page or message from which an event was created."""

    title: str
    url: Annotated[str, Field("url", note="an http or https URL")]


class Event(TypedDict, total=False):
    """A single event, a recurring event, or an instance of a recurring event."""

    kind: Annotated[str, READ_ONLY]
    etag: Annotated[str, READ_ONLY]
    id: Annotated[str, Field("id", note="5 to 1024 characters of 0-9 and a-v; by default, the service generates it")]
    status: Annotated[Literal["confirmed", "tentative", "cancelled"], Field(default="confirmed")]
    htmlLink: Annotated[str, Field(note="the URL of the event's page", writable=False)]
    created: Annotated[str, READ_ONLY]
    updated: Annotated[str, READ_ONLY]
    summary: Annotated[str, Field(max_length=1024)]
    description: Annotated[str, Field(max_length=8192)]
    location: Annotated[str, Field(max_length=1024)]
    colorId: Annotated[str, Field(values=tuple(EVENT_COLORS), note="an entry of the event colours")]
    creator: Annotated[Person, Field("person", writable=False)]
    organizer: Annotated[Person, Field("person", writable=False)]
    start: Annotated[
        EventTime,
        Field("time", note="inclusive; for a recurring event, the start of the first instance", required=True),
    ]
    end: Annotated[
        EventTime, Field("time", note="exclusive; for a recurring event, the end of the first instance", required=True)
    ]
    endTimeUnspecified: Annotated[bool, READ_ONLY]
    recurrence: Annotated[list[str], Field(note="RRULE, EXRULE, RDATE and EXDATE lines of RFC 5545")]
    recurringEventId: Annotated[str, Field(note="only for an instance: the id of the recurring event", writable=False)]
    originalStartTime: Annotated[EventTime, Field("time", note="the start of an instance before it was moved")]
    transparency: Annotated[Literal["opaque", "transparent"], Field(default="opaque")]
    visibility: Annotated[Literal["default", "public", "private", "confidential"], Field(default="default")]
    iCalUID: Annotated[str, Field(note="by default <id>@svc.example", max_length=1024, extension=True)]
    sequence: Annotated[int, Field(note="0 or more", minimum=0, decided_by="A negative sequence")]
    attendees: Annotated[list[Attendee], Field(max_length=200)]
    attendeesOmitted: Annotated[bool, Field(note="true if not all attendees are listed", writable=False)]
    extendedProperties: ExtendedProperties
    hangoutLink: Annotated[str, Field(note="the URL of the conference", writable=False)]
    conferenceData: Annotated[
        ConferenceData, Field(note="stored only with conferenceDataVersion=1; createRequest creates a conference")
    ]
    gadget: Gadget
    anyoneCanAddSelf: Annotated[bool, Field(note="legacy social events only", default=False)]
    guestsCanInviteOthers: Annotated[bool, Field(default=True)]
    guestsCanModify: Annotated[bool, Field(default=False)]
    guestsCanSeeOtherGuests: Annotated[bool, Field(default=True)]
    privateCopy: Annotated[bool, READ_ONLY]
    locked: Annotated[bool, READ_ONLY]
    reminders: Reminders
    source: EventSource
    attachments: Annotated[list[Attachment], Field(note="stored only with supportsAttachments=true", max_length=25)]
    eventType: Annotated[
        Literal["default", "birthday", "focusTime", "outOfOffice", "workingLocation"],
        Field(default="default", extension=True),
    ]
    eventLabelId: Annotated[str, EXTENSION]
    birthdayProperties: Annotated[JSONObject, EXTENSION]
    focusTimeProperties: Annotated[JSONObject, EXTENSION]
    outOfOfficeProperties: Annotated[JSONObject, EXTENSION]
    workingLocationProperties: Annotated[JSONObject, EXTENSION]


class EventList(TypedDict, total=False):
    """A page of a list of events or instances, with the properties of their calendar."""

    kind: str
    etag: str
    summary: str
    description: str
    updated: Annotated[str, TIME]
    timeZone: str
    accessRole: Literal["freeBusyReader", "reader", "writer", "owner"]
    defaultReminders: list[Reminder]
    nextPageToken: str
    nextSyncToken: str
    items: list[Event]
