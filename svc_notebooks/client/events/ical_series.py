"""Gives the changed instances of a file to their series, and splits a series at a change of all later instances."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from itertools import islice
from typing import NamedTuple

from ...core.events.instances import Occurrence, occurrences
from ...core.events.rfc5545_times import Start, print_moment
from ...core.events.rrule import WEEKDAYS, RDate, Recurrence, read_line
from ...core.events.times import instant, read_time
from ...core.http.messages import JSONObject
from .ical_times import time_object

_DAY, _SECOND = timedelta(days=1), timedelta(seconds=1)
_ANY_DAY = date(2000, 1, 1)
_NOT_INHERITED = ("description", "location", "attendees", "colorId", "source")
"""The fields of a series that a changed instance has only if the file repeats them."""
_NO_TIME = {"date": None, "dateTime": None, "timeZone": None}
"""The fields of a time that a change removes, because an instance can have another type of time than its series."""
_MAX_COUNT = 20_000
"""The largest number of instances that are counted to split a series with COUNT."""


class ImportedEvent(NamedTuple):
    """An event of a file.

    `changes` has the original start of each changed instance and its fields, None if cancelled. `notes` says what was
    changed or left out. `stamp` is the time of the version in UTC, or "". `method` is the METHOD of the calendar, which
    is CANCEL for an event that is cancelled. For an instance whose series is not in the file, `instance_of` has the UID
    and a function that returns the original start for the start of the series. `problem` says why the event cannot be
    read.
    """

    body: JSONObject
    changes: list[tuple[str, JSONObject | None]]
    notes: list[str]
    stamp: str = ""
    method: str = ""
    instance_of: tuple[str, Callable[[Start], Start]] | None = None
    problem: str | None = None

    @property
    def digest(self) -> str:
        """Return a text that is the same for equal events with equal changes."""
        return sha256(json.dumps([self.body, self.changes], sort_keys=True).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class ImportedSeries:
    """An event and the instances that change it. RECURRENCE-IDs of the file are earlier by `shift`."""

    event: ImportedEvent
    shift: timedelta = timedelta()

    def change(self, original: Start, fields: JSONObject | None, notes: Sequence[str]) -> bool:
        """Add a changed or cancelled instance. Return False if the series has no instance with this original start."""
        body, original = self.event.body, original + self.shift
        start, lines = read_time(body["start"]), self._lines
        if not lines and original == start and fields is not None:  # the second of two versions of a single event
            body |= {**fields, "iCalUID": body["iCalUID"]}
        elif not self.has(original):
            return False
        else:
            if fields is not None:
                missing: JSONObject = {name: None for name in _NOT_INHERITED if name in body and name not in fields}
                times: JSONObject = {name: {**_NO_TIME, **fields[name]} for name in ("start", "end")}  # type: ignore[dict-item]
                fields = {name: value for name, value in fields.items() if name != "recurrence"} | missing | times
            self.event.changes.append((print_moment(original), fields))
        self.event.notes.extend(f"instance {print_moment(original)}: {note}" for note in notes)
        return True

    @property
    def _lines(self) -> list[str]:
        lines = self.event.body.get("recurrence", [])
        return [str(line) for line in lines] if isinstance(lines, list) else []

    def has(self, original: Start) -> bool:
        """Return whether the series has an instance with this start."""
        return self._instance(original) is not None

    def _instance(self, original: Start) -> Occurrence | None:
        start, end = read_time(self.event.body["start"]), read_time(self.event.body["end"])
        after = instant(original, UTC)
        recurrence = Recurrence.parse(self._lines, start)
        window = occurrences(recurrence, start, end, after=after, before=after + _SECOND) if self._lines else ()
        return next((instance for instance in window if instance.start == original), None)

    def instance_fields(self, original: Start) -> JSONObject | None:
        """Return the fields that an instance has of its series, or None if the series has no instance at this start."""
        if (instance := self._instance(original)) is None:
            return None
        fields = {name: value for name, value in self.event.body.items() if name not in ("iCalUID", "recurrence")}
        times = {"start": time_object(instance.start), "end": time_object(instance.end)}
        return fields | {name: {**_NO_TIME, **time} for name, time in times.items()}

    def split(self, original: Start, fields: JSONObject | None, notes: Sequence[str]) -> ImportedSeries:
        """End the series before an instance, and return the series of the later instances with changed fields.

        Without fields, the later instances are cancelled.
        """
        original += self.shift
        body, start, end = self.event.body, read_time(self.event.body["start"]), read_time(self.event.body["end"])
        before, later = _split(self._lines, start, end, original)
        rest: JSONObject = {**body, **(fields or {}), "iCalUID": f"{body['iCalUID']}_R{print_moment(original)}"}
        shift = _clock(read_time(fields["start"]), start) - _clock(original, start) if fields else timedelta()
        rest["recurrence"] = [_shifted(line, start, shift) for line in later] if fields else []
        if original == start and fields:  # the change of all instances
            body |= {**rest, "iCalUID": body["iCalUID"]}
            self.event.notes.extend(notes)
            return ImportedSeries(self.event, self.shift + shift)
        body["recurrence"] = [*before]
        end_of_series = "are an event of their own" if fields else "were cancelled"
        self.event.notes.append(f"the instances from {print_moment(original)} on {end_of_series}")
        return ImportedSeries(self.event._replace(body=rest, changes=[], notes=[*notes]), self.shift + shift)


def _clock(moment: Start, start: Start) -> datetime:
    """Return the local time of a time in the zone of the start."""
    if isinstance(moment, datetime) and isinstance(start, datetime):
        moment = moment.astimezone(start.tzinfo)
    return datetime(*moment.timetuple()[:6])  # noqa: DTZ001  only for differences


def _moved(moment: Start, start: Start, shift: timedelta) -> Start:
    """Move a time in the clock of the series."""
    if not isinstance(moment, datetime) or not isinstance(start, datetime):
        return moment + shift
    return (_clock(moment, start) + shift).replace(tzinfo=start.tzinfo)


def _split(lines: Sequence[str], start: Start, end: Start, original: Start) -> tuple[list[str], list[str]]:
    """Return the lines for the instances of a series before an instance, and those for the instances from it on."""
    before: list[str] = []
    later: list[str] = []
    last = print_moment(original - (_SECOND if isinstance(original, datetime) else _DAY))
    for line in lines:
        name, values = read_line(line, start)
        head, _, text = line.partition(":")
        if name in ("RRULE", "EXRULE"):
            rule = Recurrence(rules=(values[0],))
            count = sum(instance.start < original for instance in islice(occurrences(rule, start, end), _MAX_COUNT))
            endless = ";".join(part for part in text.split(";") if not part.startswith(("COUNT=", "UNTIL=")))
            goes_on = next(occurrences(rule, start, end, after=instant(original, UTC)), None)
            before.append(f"{head}:{endless};UNTIL={last}" if goes_on else line)
            rest = f"{head}:{endless};COUNT={(values[0].count or 0) - count}" if values[0].count else line
            later += [rest] if goes_on else []
            continue
        pairs = [
            (value.start if isinstance(value, RDate) else value, moment)
            for value, moment in zip(values, text.split(","), strict=True)
        ]
        for part, kept in (
            (before, [moment for value, moment in pairs if value < original]),
            (later, [moment for value, moment in pairs if value >= original]),
        ):
            part += [f"{head}:{','.join(kept)}"] if kept else []
    return before, later


def _shifted(line: str, start: Start, shift: timedelta) -> str:
    """Return a line of a series for a start that is moved in the clock of the series.

    The weekdays of a weekly rule move with it. Other rules follow the new start, without days of their own.
    """
    name, values = read_line(line, start)
    head, _, text = line.partition(":")
    if name not in ("RRULE", "EXRULE"):
        if not shift or "PERIOD" in head:
            return line
        moved = [_moved(value.start if isinstance(value, RDate) else value, start, shift) for value in values]
        return f"{head}:{','.join(map(print_moment, moved))}"
    parts = dict(part.split("=", 1) for part in text.split(";"))
    if values[0].until is not None:
        parts["UNTIL"] = print_moment(_moved(values[0].until, start, shift))
    days = (
        (datetime.combine(_ANY_DAY, start.time()) + shift).toordinal() - _ANY_DAY.toordinal()
        if isinstance(start, datetime)
        else shift.days
    )
    if days and parts["FREQ"] == "WEEKLY" and "BYDAY" in parts:
        parts["BYDAY"] = ",".join(WEEKDAYS[(day + days) % 7] for _, day in values[0].by_day)
    elif days:
        parts = {key: value for key, value in parts.items() if not key.startswith("BY")}
    return f"{head}:" + ";".join(f"{key}={value}" for key, value in parts.items())
