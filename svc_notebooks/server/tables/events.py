"""The tables of events, including changed instances of recurring events, and of invitations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sqlalchemy import and_, bindparam, delete, func, literal, or_, select

from ..database.engine import Prepared, TableGroup, inserting
from ..database.schema import events, invitations


class EventRow(NamedTuple):
    """A database row of an event in a calendar. Times are in Unix milliseconds, and `body` is JSON text.

    `origin` is the organizer's calendar, and other calendars have copies. A row with a `series` is a changed instance
    of that recurring event, and its body has only the changed fields.
    """

    calendar: str
    id: str
    uid: str
    origin: str
    series: str | None
    recurring: int
    cancelled: int
    start: int
    end: int | None
    created: int
    updated: int
    place: int
    body: str
    seq: int = 0


class InvitationRow(NamedTuple):
    """A database row of an invitation, which a real service would send as an e-mail."""

    time: int
    event: str
    recipient: str
    method: str
    subject: str


_STORED = EventRow._fields[:-1]
_COLUMNS = tuple(events.c[name] for name in EventRow._fields)
_HERE = events.c.calendar == bindparam("calendar")
_THIS = (_HERE, events.c.id == bindparam("key"))
_BY_AGE = (events.c.place, events.c.id)

# A changed row is replaced, so that it gets a greater number. Sync tokens select rows by this number.
_SAVE = inserting(events, _STORED, otherwise="REPLACE")
_GET = Prepared(select(*_COLUMNS).where(*_THIS))
_ANYWHERE = Prepared(select(events.c.id).where(events.c.id == bindparam("key")).limit(1))
_BY_UID = Prepared(select(*_COLUMNS).where(events.c.uid == bindparam("uid")).order_by(events.c.seq))
_OF_SERIES = Prepared(select(*_COLUMNS).where(_HERE, events.c.series == bindparam("series")).order_by(events.c.start))
_CHANGED = Prepared(
    select(*_COLUMNS).where(_HERE, events.c.series.is_not(None)).order_by(events.c.series, events.c.start)
)
_OLDER = or_(
    events.c.place > bindparam("place"), and_(events.c.place == bindparam("place"), events.c.id > bindparam("key"))
)
_PAGE = Prepared(select(*_COLUMNS).where(_HERE, _OLDER).order_by(*_BY_AGE).limit(bindparam("size")))
_IN_WINDOW = and_(or_(events.c.end.is_(None), events.c.end > bindparam("after")), events.c.start < bindparam("before"))
# An instance may have been moved to a time before the series begins.
_MOVED_HERE = select(events.c.series).where(_HERE, events.c.series.is_not(None), _IN_WINDOW)
_WITHIN = Prepared(
    select(*_COLUMNS)
    .where(_HERE, events.c.series.is_(None), or_(_IN_WINDOW, events.c.id.in_(_MOVED_HERE)))
    .order_by(events.c.start, events.c.id)
)
_SINCE = Prepared(select(*_COLUMNS).where(_HERE, events.c.seq > bindparam("since")).order_by(*_BY_AGE))
_LAST = Prepared(select(func.coalesce(func.max(events.c.seq), literal(0))).where(_HERE))
_LATEST = Prepared(select(func.max(events.c.updated)).where(_HERE))
_NAMING = Prepared(
    select(*_COLUMNS)
    .where(events.c.calendar == events.c.origin, events.c.series.is_(None))
    .where(func.lower(events.c.body).contains(bindparam("text")))
    .order_by(events.c.seq)
)
_DROP = Prepared(delete(events).where(*_THIS))
_DROP_ALL = Prepared(delete(events).where(_HERE))
_INVITE = inserting(invitations, InvitationRow._fields)
_INVITATIONS = Prepared(
    select(*(invitations.c[name] for name in InvitationRow._fields))
    .order_by(invitations.c.seq.desc())
    .limit(bindparam("size"))
)


class Events(TableGroup):
    """The table of the events of all calendars, and the table of invitations."""

    def save(self, row: EventRow) -> None:
        """Add the row of an event, or replace the row with the same calendar and id."""
        self._database.change(_SAVE, row._asdict())

    def get(self, calendar: str, event: str) -> EventRow | None:
        """Return the event with an id in a calendar, or None if the id is unknown."""
        row = self._database.fetch_one(_GET, {"calendar": calendar, "key": event})
        return EventRow._make(row) if row else None

    def exists(self, event: str) -> bool:
        """Return whether any calendar has an event with this id."""
        return self._database.fetch_one(_ANYWHERE, {"key": event}) is not None

    def by_uid(self, uid: str) -> list[EventRow]:
        """Return all rows with this iCalendar UID in all calendars, which are the event and its copies."""
        return self._rows(_BY_UID, uid=uid)

    def changed_instances(self, calendar: str, series: str | None = None) -> list[EventRow]:
        """Return the changed instances in a calendar, of the recurring event `series` or by default of all."""
        if series is None:
            return self._rows(_CHANGED, calendar=calendar)
        return self._rows(_OF_SERIES, calendar=calendar, series=series)

    def by_age(self, calendar: str, place: int, event: str, size: int) -> Iterator[EventRow]:
        """Yield the rows of a calendar after this `place` and event id, oldest first, in queries of `size` rows."""
        while rows := self._rows(_PAGE, calendar=calendar, place=place, key=event, size=size):
            yield from rows
            place, event = rows[-1].place, rows[-1].id

    def within(self, calendar: str, after: int, before: int) -> list[EventRow]:
        """Return the single and recurring events that may have an instance between `after` and `before`."""
        return self._rows(_WITHIN, calendar=calendar, after=after, before=before)

    def since(self, calendar: str, seq: int) -> list[EventRow]:
        """Return the rows of a calendar whose number is greater than `seq`, which is the number in a sync token."""
        return self._rows(_SINCE, calendar=calendar, since=seq)

    def naming(self, text: str) -> list[EventRow]:
        """Return the events in organizers' calendars whose body contains `text`, where `_` matches any character."""
        return self._rows(_NAMING, text=text)

    def last(self, calendar: str) -> int:
        """Return the highest row number in a calendar, or 0 if the calendar has no events."""
        return int(self._database.run(_LAST, {"calendar": calendar})[0][0])

    def latest(self, calendar: str) -> int | None:
        """Return the time of the last change to a calendar's events in Unix milliseconds, or None without events."""
        millis: int | None = self._database.run(_LATEST, {"calendar": calendar})[0][0]
        return millis

    def drop(self, calendar: str, event: str) -> None:
        """Delete the row of an event in a calendar."""
        self._database.change(_DROP, {"calendar": calendar, "key": event})

    def drop_all(self, calendar: str) -> None:
        """Delete all events of a calendar."""
        self._database.change(_DROP_ALL, {"calendar": calendar})

    def invite(self, row: InvitationRow) -> None:
        """Add an invitation to the table of invitations."""
        self._database.change(_INVITE, row._asdict())

    def invitations(self, size: int) -> list[InvitationRow]:
        """Return the last `size` invitations, oldest first."""
        return [InvitationRow._make(row) for row in reversed(self._database.run(_INVITATIONS, {"size": size}))]

    def _rows(self, prepared: Prepared, **values: str | int) -> list[EventRow]:
        return [EventRow._make(row) for row in self._database.run(prepared, values)]
