"""Builds the properties of an event in an .ics file, except identifiers and times (RFC 5545, 3.8; RFC 7986)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from ...core.resources.colors import EVENT_COLORS
from ...core.resources.events import Attendee, Event, Person
from .ical_lines import Property, text_property

Reminders: TypeAlias = Sequence[Mapping[str, Any]]
"""Reminder dicts with method and minutes, as in an event's `reminders.overrides`."""


COLOR_NAMES: Mapping[str, Sequence[str]] = {
    color: names.split()
    for color, names in {
        "1": "lightsteelblue steelblue lightskyblue deepskyblue lightblue powderblue lavender",
        "2": "mediumaquamarine aquamarine mediumseagreen seagreen darkseagreen darkolivegreen mintcream",
        "3": "plum mediumpurple orchid violet rebeccapurple mediumorchid purple darkmagenta indigo darkorchid"
        " darkviolet mediumvioletred fuchsia magenta thistle",
        "4": "salmon lightcoral indianred lightsalmon darksalmon brown coral palevioletred lightpink pink hotpink"
        " deeppink",
        "5": "gold goldenrod darkgoldenrod khaki olive darkkhaki yellow lightyellow lemonchiffon palegoldenrod",
        "6": "sandybrown peru burlywood navajowhite saddlebrown sienna tan moccasin chocolate orange darkorange"
        " peachpuff",
        "7": "mediumturquoise darkturquoise lightseagreen turquoise aqua cyan darkcyan teal paleturquoise cadetblue"
        " skyblue",
        "8": "gainsboro lightgray lightgrey silver darkgray darkgrey gray grey dimgray dimgrey slategray slategrey"
        " lightslategray lightslategrey darkslategray darkslategrey black white whitesmoke",
        "9": "cornflowerblue dodgerblue royalblue slateblue darkslateblue mediumslateblue midnightblue navy darkblue"
        " mediumblue blue blueviolet",
        "10": "limegreen forestgreen green lightgreen palegreen darkgreen olivedrab yellowgreen mediumspringgreen"
        " springgreen greenyellow lawngreen chartreuse lime",
        "11": "crimson tomato firebrick darkred orangered maroon red",
    }.items()
}
"""The CSS names that are nearest to the colour of each `colorId`. The first is written (RFC 7986, 5.9)."""

CLASSES = ("public", "private", "confidential")


def color_name(code: str) -> str:
    """Return the CSS name of the event colour that is nearest to a hex code.

    >>> color_name("#d06b64")
    'salmon'
    """
    parts = bytes.fromhex(code.removeprefix("#"))

    def difference(color: str) -> int:
        other = bytes.fromhex(EVENT_COLORS[color].background.removeprefix("#"))
        return sum((part - other_part) ** 2 for part, other_part in zip(parts, other, strict=True))

    return COLOR_NAMES[min(COLOR_NAMES, key=difference)][0]


def details(event: Event) -> Iterator[Property]:
    """Yield the properties for an event's texts, status, visibility, people and links."""
    texts = _texts(
        {"SUMMARY": event.get("summary"), "DESCRIPTION": event.get("description"), "LOCATION": event.get("location")}
    )
    yield from (text_property(name, text) for name, text in texts.items())
    if color := COLOR_NAMES.get(str(event.get("colorId"))):
        yield Property("COLOR", color[0])
    yield Property("STATUS", str(event.get("status") or "confirmed").upper())
    yield Property("TRANSP", str(event.get("transparency") or "opaque").upper())
    if event.get("visibility") in CLASSES:
        yield Property("CLASS", str(event["visibility"]).upper())
    yield from _people(event)
    yield from _links(event)


RESPONSES = ("accepted", "declined", "tentative")


def _people(event: Event) -> Iterator[Property]:
    guests = _objects(event.get("attendees"))  # an event without attendees has no organizer (RFC 5545, 3.8.4.3)
    organizer = event.get("organizer")
    if guests and isinstance(organizer, dict) and organizer.get("email"):
        yield Property("ORGANIZER", _mail_address(organizer), _common_name(organizer))
    for guest in guests:
        if guest.get("email"):
            yield Property("ATTENDEE", _mail_address(guest), _guest_parameters(guest))


def _guest_parameters(guest: Attendee) -> dict[str, str]:
    response = guest.get("responseStatus")
    parameters = {
        "CUTYPE": "RESOURCE" if guest.get("resource") else "INDIVIDUAL",
        "ROLE": "OPT-PARTICIPANT" if guest.get("optional") else "REQ-PARTICIPANT",
        "PARTSTAT": str(response).upper() if response in RESPONSES else "NEEDS-ACTION",
    }
    more = {"X-NUM-GUESTS": guest.get("additionalGuests"), "X-RESPONSE-COMMENT": guest.get("comment")}
    return parameters | _common_name(guest) | _texts(more)


def _common_name(person: Attendee | Person) -> dict[str, str]:
    return _texts({"CN": person.get("displayName")})


def _mail_address(person: Attendee | Person) -> str:
    return _link(f"mailto:{person['email']}")


def _link(url: object) -> str:
    """Return a URL without control characters, because a line break would end the property."""
    return re.sub(r"[\x00-\x1f\x7f]", "", str(url))


def _objects(value: object) -> list[Any]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


# -- links -----------------------------------------------------------------------------------------------------------


PAGE = "X-EVENT-PAGE"
"""The parameter of a URL that is the page of the exported event, which an imported event does not have."""
_FEATURES = {"video": "VIDEO", "phone": "PHONE", "sip": "AUDIO"}


def _links(event: Event) -> Iterator[Property]:
    """Yield the properties for an event's source (or page) URL, conference (RFC 7986, 5.11) and attachments."""
    source = event.get("source")
    url = source.get("url") if isinstance(source, dict) else None
    if url or event.get("htmlLink"):
        yield Property("URL", _link(url or event["htmlLink"]), {} if url else {PAGE: "TRUE"})
    conference = event.get("conferenceData")
    for entry in _objects(conference.get("entryPoints")) if isinstance(conference, dict) else []:
        if entry.get("uri"):
            feature = _FEATURES.get(str(entry.get("entryPointType")))
            parameters = _texts({"VALUE": "URI", "FEATURE": feature, "LABEL": entry.get("label")})
            yield Property("CONFERENCE", _link(entry["uri"]), parameters)
    for attachment in _objects(event.get("attachments")):
        if attachment.get("fileUrl"):
            parameters = _texts({"FMTTYPE": attachment.get("mimeType"), "FILENAME": attachment.get("title")})
            yield Property("ATTACH", _link(attachment["fileUrl"]), parameters)


def _texts(parameters: Mapping[str, object]) -> dict[str, str]:
    return {name: str(value) for name, value in parameters.items() if value}


# -- reminders -------------------------------------------------------------------------------------------------------


DEFAULT_ALARM = "X-DEFAULT-ALARM"
"""The property of an alarm that is a default reminder of the calendar, which an imported event has of its calendar."""
NO_ALARM = "NONE"
"""The ACTION of an alarm with which Apple's programs say that an event has no reminders, not those of its calendar."""


def alarms(event: Event, default: Reminders) -> Iterator[tuple[Property, ...]]:
    """Yield a tuple of alarm properties per reminder. `default` applies to events without reminders of their own."""
    settings = event.get("reminders") or {"useDefault": True}
    is_default = bool(settings.get("useDefault"))
    reminders = default if is_default else _objects(settings.get("overrides"))
    if not is_default and not reminders:
        yield (Property("ACTION", NO_ALARM), Property("TRIGGER", "19760401T005545Z", {"VALUE": "DATE-TIME"}))
    for reminder in reminders:
        alarm = _alarm(event, str(reminder.get("method")), int(str(reminder.get("minutes"))))
        yield (*alarm, *([Property(DEFAULT_ALARM, "TRUE")] if is_default else []))


def _alarm(event: Event, method: str, minutes: int) -> Iterator[Property]:
    """Yield the properties of an alarm, an e-mail to the event copy's owner if the method is "email", else a popup."""
    summary = event.get("summary") or "Reminder"
    people = [*_objects(event.get("attendees")), *_objects([event.get("organizer"), event.get("creator")])]
    owner = next((person for person in people if person.get("self") and person.get("email")), None)
    trigger = Property("TRIGGER", f"-PT{minutes}M")
    if method == "email" and owner:
        yield from (Property("ACTION", "EMAIL"), trigger, Property("ATTENDEE", _mail_address(owner)))
        yield text_property("DESCRIPTION", event.get("description") or summary)
        yield text_property("SUMMARY", summary)
    else:
        yield from (Property("ACTION", "DISPLAY"), trigger, text_property("DESCRIPTION", summary))
