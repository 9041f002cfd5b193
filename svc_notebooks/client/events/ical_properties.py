"""What a calendar file says of an event beside its times: texts, people, links and reminders (RFC 5545, 3.8)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, NamedTuple, TypeAlias

from ...core.http.messages import JSONObject

Reminders: TypeAlias = Sequence[Mapping[str, Any]]
"""Pairs of method and minutes, as `reminders.overrides` has them."""


class Property(NamedTuple):
    """One line of a component; the value is a text, a number, a moment or several, or a length of time."""

    name: str
    value: Any
    parameters: Mapping[str, str] = {}


_TEXTS = (("SUMMARY", "summary"), ("DESCRIPTION", "description"), ("LOCATION", "location"))
_CLASSES = {"public": "PUBLIC", "private": "PRIVATE", "confidential": "CONFIDENTIAL"}


def details(event: JSONObject) -> Iterator[Property]:
    """All of an event but its times and its reminders."""
    yield from _text_properties(event)
    yield from _people(event)
    yield from _links(event)


def _text_properties(event: JSONObject) -> Iterator[Property]:
    yield from (Property(name, event[key]) for name, key in _TEXTS if event.get(key))
    yield Property("STATUS", str(event.get("status") or "confirmed").upper())
    yield Property("TRANSP", str(event.get("transparency") or "opaque").upper())
    if event.get("visibility") in _CLASSES:
        yield Property("CLASS", _CLASSES[str(event["visibility"])])


_RESPONSES = {"accepted": "ACCEPTED", "declined": "DECLINED", "tentative": "TENTATIVE"}


def _people(event: JSONObject) -> Iterator[Property]:
    """Who is invited, and by whom; without guests an event has no organizer (3.8.4.3)."""
    guests = _objects(event.get("attendees"))
    organizer = event.get("organizer")
    if guests and isinstance(organizer, dict) and organizer.get("email"):
        yield Property("ORGANIZER", _mail_address(organizer), _common_name(organizer))
    for guest in guests:
        if guest.get("email"):
            yield Property("ATTENDEE", _mail_address(guest), _guest_parameters(guest))


def _guest_parameters(guest: JSONObject) -> dict[str, str]:
    parameters = {
        "CUTYPE": "RESOURCE" if guest.get("resource") else "INDIVIDUAL",
        "ROLE": "OPT-PARTICIPANT" if guest.get("optional") else "REQ-PARTICIPANT",
        "PARTSTAT": _RESPONSES.get(str(guest.get("responseStatus")), "NEEDS-ACTION"),
    }
    more = {"X-NUM-GUESTS": guest.get("additionalGuests"), "X-RESPONSE-COMMENT": guest.get("comment")}
    return parameters | _common_name(guest) | {name: str(value) for name, value in more.items() if value}


def _common_name(person: JSONObject) -> dict[str, str]:
    return {"CN": str(person["displayName"])} if person.get("displayName") else {}


def _mail_address(person: JSONObject) -> str:
    return _link(f"mailto:{person['email']}")


def _link(url: object) -> str:
    """An address as one line, whatever a service let through."""
    return re.sub(r"[\x00-\x1f\x7f]", "", str(url))


def _objects(value: object) -> list[JSONObject]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


# -- where it leads --------------------------------------------------------------------------------------------------


def _links(event: JSONObject) -> Iterator[Property]:
    """The source's address, or the event's own; the ways into its conference (RFC 7986, 5.11); its attachments."""
    source = event.get("source")
    url = source.get("url") if isinstance(source, dict) else None
    if url or event.get("htmlLink"):
        yield Property("URL", _link(url or event["htmlLink"]))
    conference = event.get("conferenceData")
    for way in _objects(conference.get("entryPoints")) if isinstance(conference, dict) else []:
        if way.get("uri"):
            yield Property("CONFERENCE", _link(way["uri"]), _entry_point_parameters(way))
    for attachment in _objects(event.get("attachments")):
        if attachment.get("fileUrl"):
            yield Property("ATTACH", _link(attachment["fileUrl"]), _attachment_parameters(attachment))


_FEATURES = {"video": "VIDEO", "phone": "PHONE", "sip": "AUDIO"}


def _entry_point_parameters(way: JSONObject) -> dict[str, str]:
    feature = _FEATURES.get(str(way.get("entryPointType")))
    parameters = {"VALUE": "URI", "FEATURE": feature, "LABEL": way.get("label")}
    return {name: str(value) for name, value in parameters.items() if value}


def _attachment_parameters(attachment: JSONObject) -> dict[str, str]:
    parameters = {"FMTTYPE": attachment.get("mimeType"), "FILENAME": attachment.get("title")}
    return {name: str(value) for name, value in parameters.items() if value}


# -- when it reminds -------------------------------------------------------------------------------------------------


def alarms(event: JSONObject, default: Reminders) -> Iterator[tuple[Property, ...]]:
    """The event's reminders, or those of its calendar, each as a component of its own."""
    reminders = event.get("reminders")
    settings = reminders if isinstance(reminders, dict) else {"useDefault": True}
    for reminder in default if settings.get("useDefault") else _objects(settings.get("overrides")):
        yield tuple(_alarm(event, str(reminder.get("method")), int(str(reminder.get("minutes")))))


def _alarm(event: JSONObject, method: str, minutes: int) -> Iterator[Property]:
    """A popup shows the summary; an email goes to whose calendar it is."""
    summary, owner = event.get("summary") or "Reminder", _owner(event)
    mails = method == "email" and owner
    yield Property("ACTION", "EMAIL" if mails else "DISPLAY")
    yield Property("TRIGGER", -timedelta(minutes=minutes))
    yield Property("DESCRIPTION", event.get("description") or summary if mails else summary)
    if mails:
        yield Property("SUMMARY", summary)
        yield Property("ATTENDEE", _mail_address(owner))


def _owner(event: JSONObject) -> JSONObject:
    """The person whose copy this is."""
    people = [*_objects(event.get("attendees")), *_objects([event.get("organizer"), event.get("creator")])]
    return next((person for person in people if person.get("self") and person.get("email")), {})
