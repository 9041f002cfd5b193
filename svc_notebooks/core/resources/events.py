"""The TypedDicts of events and their parts in the calendar interface."""

from __future__ import annotations

from typing import TypedDict

from ..http.messages import JSON, JSONObject


class EventTime(TypedDict, total=False):
    """The start or end of an event, with `date` if all-day, otherwise `dateTime` and optionally `timeZone`."""

    date: str
    dateTime: str
    timeZone: str


class Person(TypedDict, total=False):
    """The creator or organizer of an event."""

    id: str
    email: str
    displayName: str
    self: bool


class Attachment(TypedDict, total=False):
    """A file that is attached to an event."""

    fileUrl: str
    title: str
    mimeType: str
    iconLink: str
    fileId: str


class Attendee(TypedDict, total=False):
    """An attendee of an event, with the attendee's response to the invitation."""

    id: str
    email: str
    displayName: str
    organizer: bool
    self: bool
    resource: bool
    optional: bool
    responseStatus: str
    comment: str
    additionalGuests: int


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

    statusCode: str


class ConferenceRequest(TypedDict, total=False):
    """A request to create a conference for an event, with the status of the creation."""

    requestId: str
    conferenceSolutionKey: ConferenceSolutionKey
    status: ConferenceStatus


class EntryPoint(TypedDict, total=False):
    """A URL or telephone number of a conference, with its access codes."""

    entryPointType: str
    uri: str
    label: str
    pin: str
    accessCode: str
    meetingCode: str
    passcode: str
    password: str
    regionCode: str
    entryPointFeatures: list[JSON]


class ConferenceData(TypedDict, total=False):
    """The conference of an event, with its entry points, or the request to create a conference."""

    createRequest: ConferenceRequest
    conferenceId: str
    conferenceSolution: ConferenceSolution
    entryPoints: list[EntryPoint]
    notes: str
    parameters: JSONObject
    signature: str


class ExtendedProperties(TypedDict, total=False):
    """Properties that applications store in an event, private to one calendar or shared with all attendees."""

    private: dict[str, str]
    shared: dict[str, str]


class Gadget(TypedDict, total=False):
    """The gadget of an event, with its type, title, link and size."""

    display: str
    height: int
    iconLink: str
    link: str
    preferences: dict[str, str]
    title: str
    type: str
    width: int


class Reminder(TypedDict, total=False):
    """A reminder, with its method (email or popup) and the number of minutes before the start."""

    method: str
    minutes: int


class Reminders(TypedDict, total=False):
    """The reminders of an event, which are the calendar's default reminders or the event's own `overrides`."""

    useDefault: bool
    overrides: list[Reminder]


class EventSource(TypedDict, total=False):
    """The web page or message from which an event was created."""

    title: str
    url: str


class Event(TypedDict, total=False):
    """A single event, a recurring event, or an instance of a recurring event."""

    kind: str
    etag: str
    id: str
    status: str
    htmlLink: str
    created: str
    updated: str
    summary: str
    description: str
    location: str
    colorId: str
    creator: Person
    organizer: Person
    start: EventTime
    end: EventTime
    endTimeUnspecified: bool
    recurrence: list[str]
    recurringEventId: str
    originalStartTime: EventTime
    transparency: str
    visibility: str
    iCalUID: str
    sequence: int
    attendees: list[Attendee]
    attendeesOmitted: bool
    extendedProperties: ExtendedProperties
    hangoutLink: str
    conferenceData: ConferenceData
    gadget: Gadget
    anyoneCanAddSelf: bool
    guestsCanInviteOthers: bool
    guestsCanModify: bool
    guestsCanSeeOtherGuests: bool
    privateCopy: bool
    locked: bool
    reminders: Reminders
    source: EventSource
    attachments: list[Attachment]
    eventType: str
    eventLabelId: str
    birthdayProperties: JSONObject
    focusTimeProperties: JSONObject
    outOfOfficeProperties: JSONObject
    workingLocationProperties: JSONObject


class EventToWrite(TypedDict, total=False):
    """The fields of an event that a client may set. The value None clears a field."""

    id: str | None
    status: str | None
    summary: str | None
    description: str | None
    location: str | None
    colorId: str | None
    start: EventTime
    end: EventTime
    recurrence: list[str] | None
    originalStartTime: EventTime | None
    transparency: str | None
    visibility: str | None
    iCalUID: str | None
    sequence: int | None
    attendees: list[Attendee] | None
    extendedProperties: ExtendedProperties | None
    conferenceData: ConferenceData | None
    gadget: Gadget | None
    anyoneCanAddSelf: bool | None
    guestsCanInviteOthers: bool | None
    guestsCanModify: bool | None
    guestsCanSeeOtherGuests: bool | None
    reminders: Reminders | None
    source: EventSource | None
    attachments: list[Attachment] | None
    eventType: str | None
    eventLabelId: str | None
    birthdayProperties: JSONObject | None
    focusTimeProperties: JSONObject | None
    outOfOfficeProperties: JSONObject | None
    workingLocationProperties: JSONObject | None


class EventList(TypedDict, total=False):
    """A page of a list of events or instances, with the properties of their calendar."""

    kind: str
    etag: str
    summary: str
    description: str
    updated: str
    timeZone: str
    accessRole: str
    defaultReminders: list[Reminder]
    nextPageToken: str
    nextSyncToken: str
    items: list[Event]
