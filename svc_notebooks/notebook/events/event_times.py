"""The start and the end of an event, and their conversion to fields and to arguments of calls."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from ...core.events.instances import duration
from ...core.events.rrule import Start
from ...core.events.times import print_time, read_time
from ...core.time_zones import zone

if TYPE_CHECKING:
    from ...core.resources.events import Event


@dataclass(frozen=True, slots=True)
class Times:
    """The start and the exclusive end of an event, both dates or both datetimes in their own time zones."""

    start: Start
    end: Start

    @classmethod
    def of(cls, event: Event) -> Times:
        return cls(read_time(event["start"]), read_time(event["end"]))

    def shifted(self, shift: timedelta, longer: timedelta) -> Times:
        """Return the times with the start at another clock time in its own zone, and a length that is `longer`."""
        start, end = self.start, self.end
        if not isinstance(start, datetime) or not isinstance(end, datetime):
            return Times(start + shift, end + shift + longer)
        begin = (start.replace(tzinfo=None) + shift).replace(tzinfo=start.tzinfo).astimezone(UTC)
        finish = begin + duration(start, end) + longer
        return Times(begin.astimezone(start.tzinfo), finish.astimezone(end.tzinfo))

    def fields(self, event: Event) -> dict[str, Any]:
        """Return the fields start and end, in the time zones of the event."""
        times = ((self.start, event["start"]), (self.end, event["end"]))
        start, end = (
            print_time(moment, getattr(moment, "tzinfo", None) or UTC, old.get("timeZone")) for moment, old in times
        )
        return {"start": start, "end": end}

    def arguments(self, event: Event) -> dict[str, Any]:
        """Return the arguments of `create_event` and `update_event`, in the time zones of the event.

        The times of an all-day event that becomes a timed one have their own time zone.
        """
        names = [event["start"].get("timeZone"), event["end"].get("timeZone")]
        if isinstance(self.start, datetime) and "date" in event["start"]:
            names = [str(self.start.tzinfo)] * 2
        named: dict[str, Any] = {
            "start": _argument(self.start, names[0]),
            "end": _argument(self.end, names[1] or names[0]),
        }
        if names[0] and isinstance(self.start, datetime):
            named["time_zone"] = names[0]
        if names[1] and names[1] != names[0] and isinstance(self.end, datetime):
            named["end_time_zone"] = names[1]
        return named


def _argument(moment: Start, time_zone: str | None) -> str:
    """Return a time as text, with its UTC offset if the clock time is ambiguous or the event has no time zone."""
    if not isinstance(moment, datetime):
        return str(moment)
    if time_zone is not None:
        moment = moment.astimezone(zone(time_zone))
        if moment.replace(fold=not moment.fold).utcoffset() == moment.utcoffset():
            moment = moment.replace(tzinfo=None)
    return moment.isoformat(" ", "seconds" if moment.second else "minutes")
