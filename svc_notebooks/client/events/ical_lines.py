"""Reads and writes the content lines of iCalendar files (RFC 5545, 3.1), which are the properties of components.

The reader accepts what other programs write: any line break, blank lines, indented files, lines that are folded inside
of a character, and components without an end.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from ...core.events.rrule import Start, print_moment

_LINE_SIZE = 75  # the maximum number of bytes in a line, without its line break


class Property(NamedTuple):
    """A property of a component, with the value as it is in the file. `moments` are the values of a written time."""

    name: str
    value: str
    parameters: Mapping[str, str] = {}
    moments: Sequence[Start] = ()


class Component(NamedTuple):
    """A component, such as VCALENDAR, VEVENT or VALARM."""

    name: str
    properties: list[Property]
    components: list[Component]

    def all(self, name: str) -> list[Property]:
        """Return the properties with a name, in the order of the file."""
        return [line for line in self.properties if line.name == name]

    def value(self, name: str) -> str:
        """Return the value of the first property with a name, without blanks around it, or ""."""
        return next((line.value.strip() for line in self.properties if line.name == name), "")

    def text(self, name: str) -> str:
        """Return the TEXT value of the first property with a name, or ""."""
        return next((read_text(line.value) for line in self.properties if line.name == name), "")

    def walk(self, name: str) -> Iterator[Component]:
        """Yield the components with a name that are in this component, or in a component inside of it."""
        for component in self.components:
            if component.name == name:
                yield component
            yield from component.walk(name)


# -- reading ---------------------------------------------------------------------------------------------------------

_MAX_LINES = 500_000
_INDENTED = re.compile(rb"([ \t]+)BEGIN:.*\n\1\w", re.IGNORECASE)
_NO_PROPERTY = re.compile(r"\n(?![A-Za-z][\w.-]*[;:])", re.ASCII)
_PROPERTY = re.compile(r'(?:\w*\.)?([\w-]+)((?:;(?:[^":;]|"[^"]*")*)*):(.*)', re.ASCII | re.DOTALL)
_UNQUOTED = re.compile(r"(?:\w*\.)?([\w-]+)(;[^:]*)?:(.*)", re.ASCII | re.DOTALL)
_PARAMETER = re.compile(r';([\w-]+)=("[^"]*"|[^;]*)', re.ASCII)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_CIRCUMFLEX = {"^n": "\n", "^^": "^", "^'": '"'}
_TIME_AFTER_ZONE = re.compile(r":(\d{4}-?\d\d-?\d\d.*)", re.ASCII | re.DOTALL)
# The properties in whose TZID a name with a colon is read without quotes too.
_TIMES = frozenset({"DTSTART", "DTEND", "DUE", "EXDATE", "RDATE", "RECURRENCE-ID"})


def unfolded(content: bytes) -> bytes:
    """Return the content of a file with one line for each property, each line ending with a line feed.

    Raises ValueError for a file with more than half a million lines, which would take too long.

    >>> unfolded(b"SUMMARY:M\\xc3\\r\\n \\xbcller\\r\\n").decode()
    'SUMMARY:Müller\\n'
    """
    content = content.removeprefix(BOM_UTF8).replace(b"\r\n", b"\n").replace(b"\r", b"\n").lstrip(b"\n")
    if (lines := content.count(b"\n")) > _MAX_LINES:
        raise ValueError(f"the calendar has {lines:,} lines, and at most {_MAX_LINES:,} are read; split the file")
    if indent := _INDENTED.match(content):
        content = re.sub(rb"^" + indent[1], b"", content, flags=re.MULTILINE)
    return re.sub(rb"\n[ \t]", b"", re.sub(rb"\n{2,}", b"\n", content))


def read_components(text: str) -> Component:
    """Return a component without a name, which contains the components of an unfolded file.

    >>> [event] = read_components("BEGIN:VCALENDAR\\nBEGIN:VEVENT\\nSUMMARY;LANGUAGE=en:Tea\\n").walk("VEVENT")
    >>> event.properties
    [Property(name='SUMMARY', value='Tea', parameters={'LANGUAGE': 'en'}, moments=())]
    """
    root = Component("", [], [])
    path = [root]
    for line in _read_properties(text):
        if line.name not in ("BEGIN", "END"):
            path[-1].properties.append(line)
            continue
        name = line.value.partition("\\")[0].strip().upper()
        names = [component.name for component in path]
        if line.name == "BEGIN":
            if name in names:  # its end is missing, because no component contains one of its own kind
                del path[names.index(name) :]
            path[-1].components.append(Component(name, [], []))
            path += path[-1].components[-1:] if len(path) < _MAX_DEPTH else []
        elif name in names[1:]:
            del path[names.index(name) :]
    return root


_MAX_DEPTH = 8  # the number of components inside of each other. RFC 5545 has three.


def _read_properties(text: str) -> Iterator[Property]:
    # A line without a name continues the value before, in which a program has not escaped a line break.
    for line in _NO_PROPERTY.sub(r"\\n", text.strip("\ufeff\n\t ")).split("\n"):
        if match := _PROPERTY.match(line) or _UNQUOTED.match(line):
            name, parameters, value = match[1].upper(), match[2], match[3]
            if name in _TIMES and (time := _TIME_AFTER_ZONE.search(value)):
                parameters, value = f"{parameters}:{value[: time.start()]}", time[1]
            yield Property(name, value, _read_parameters(parameters) if parameters else {})


def _read_parameters(text: str) -> dict[str, str]:
    pairs = {name.upper(): value.strip('"') for name, value in _PARAMETER.findall(text)}
    return {
        name: re.sub(r"\^[n^']", lambda match: _CIRCUMFLEX[match[0]], value) if "^" in value else value
        for name, value in pairs.items()
    }


def read_text(value: str) -> str:
    """Return a TEXT value (RFC 5545, 3.3.11) without its escapes.

    >>> read_text("Tea\\\\, and\\\\ncake")
    'Tea, and\\ncake'
    """
    return _ESCAPED.sub(lambda match: "\n" if match[1] in "nN" else match[1], value) if "\\" in value else value


# -- writing ---------------------------------------------------------------------------------------------------------

# The Unicode control pictures, such as U+2407 for the bell, for the characters that RFC 5545 (3.1) forbids.
_PICTURES = {chr(code): chr(0x2400 + code) for code in range(0x20) if code != 0x09} | {"\x7f": "\u2421"}
_TEXT = str.maketrans(_PICTURES | {"\n": "\\n", "\\": "\\\\", ";": "\\;", ",": "\\,"})
_PARAMETER_VALUE = str.maketrans(_PICTURES | {"\n": "^n", "^": "^^", '"': "^'"})
_LINE_BREAK = re.compile(r"\r\n?")


def text_property(name: str, text: object, parameters: Mapping[str, str] = {}) -> Property:
    """Return a property with a TEXT value. Control characters become their Unicode pictures.

    >>> text_property("SUMMARY", "Tea, and\\r\\ncake\\x07").value
    'Tea\\\\, and\\\\ncake\u2407'
    """
    return Property(name, _LINE_BREAK.sub("\n", str(text)).translate(_TEXT), parameters)


def time_property(name: str, *moments: Start) -> Property:
    """Return a property with dates, or with times in the zone of the first. A time in a zone without a name is in UTC.

    >>> time_property("DTSTART", datetime(2026, 10, 19, 10, tzinfo=ZoneInfo("Europe/Berlin")))[:3]
    ('DTSTART', '20261019T100000', {'TZID': 'Europe/Berlin'})
    """
    if not isinstance(moments[0], datetime):
        return Property(name, ",".join(map(print_moment, moments)), {"VALUE": "DATE"}, moments)
    tz = moments[0].tzinfo
    if not isinstance(tz, ZoneInfo) or tz.key == "UTC":
        return Property(name, ",".join(map(print_moment, moments)))
    return Property(name, ",".join([print_clock(moment) for moment in moments]), {"TZID": tz.key}, moments)


def print_clock(moment: Start) -> str:
    """Return the local time of a date-time without its zone, as 20261019T100000."""
    return moment.isoformat().replace("-", "").replace(":", "")[:15]


def print_utc(time: object) -> str:
    """Return an RFC 3339 time in UTC as in .ics files, without a part of a second, or "" without a time.

    >>> print_utc("2026-01-05T09:00:00.000Z")
    '20260105T090000Z'
    """
    return f"{str(time)[:19].replace('-', '').replace(':', '')}Z" if time else ""


def print_offset(offset: timedelta) -> str:
    """Return a UTC offset such as +0100, with seconds only if it has some.

    >>> print_offset(timedelta(hours=-3, minutes=-30)), print_offset(timedelta(minutes=53, seconds=28))
    ('-0330', '+005328')
    """
    seconds = abs(offset) // timedelta(seconds=1)
    text = f"{seconds // 3600:02}{seconds // 60 % 60:02}" + (f"{seconds % 60:02}" if seconds % 60 else "")
    return f"{'-' if offset < timedelta() else '+'}{text}"


def print_properties(properties: Iterable[Property]) -> str:
    """Return the lines of properties, folded at 75 bytes.

    >>> print_properties([Property("ATTENDEE", "mailto:bob@svc.example", {"CN": "Bob: B"})])
    'ATTENDEE;CN="Bob: B":mailto:bob@svc.example\\r\\n'
    """
    return "".join([f"{_folded(_line(*line[:3]))}\r\n" for line in properties])


def _line(name: str, value: str, parameters: Mapping[str, str]) -> str:
    for key, text in parameters.items():
        text = text if text.isalnum() else _LINE_BREAK.sub("\n", text).translate(_PARAMETER_VALUE)
        name += f';{key}="{text}"' if re.search("[:;,]", text) else f";{key}={text}"
    return f"{name}:{value}"


def _folded(line: str) -> str:
    if len(line) <= _LINE_SIZE and line.isascii():
        return line
    data, parts = line.encode("utf-8", "replace"), []
    begin, end = 0, _LINE_SIZE
    while end < len(data):
        while data[end] & 0xC0 == 0x80:  # inside of a character
            end -= 1
        parts.append(data[begin:end])
        begin, end = end, end + _LINE_SIZE - 1  # a folded line begins with a blank
    return b"\r\n ".join([*parts, data[begin:]]).decode()
