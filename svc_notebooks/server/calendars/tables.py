"""The tables of calendars, their access rules, events and invitations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

from sqlalchemy import and_, bindparam, delete, func, literal_column, or_, select, tuple_

from ..store.engine import Database, Prepared, TableGroup, inserting, position
from ..store.schema import calendar_access, calendar_entries, calendars, events, invitations


class CalendarRow(NamedTuple):
    """A database row of a calendar. `client` is "" for a primary calendar. `created` is in Unix milliseconds."""

    id: str
    owner: str
    client: str
    zone: str
    created: int
    body: str

    @property
    def primary(self) -> bool:
        """Return whether the calendar is the primary calendar of its owner."""
        return self.id == self.owner


class AccessRow(NamedTuple):
    """The role of a scope on a calendar. The scope is `user:` or `domain:` and a name, or `default` for anyone."""

    calendar: str
    scope: str
    role: int


_CALENDAR_COLUMNS = tuple(calendars.c[name] for name in CalendarRow._fields)
_ACCESS = tuple(calendar_access.c[name] for name in AccessRow._fields)

_SAVE_CALENDAR = inserting(calendars, CalendarRow._fields, otherwise="REPLACE")
_GET_CALENDAR = Prepared(select(*_CALENDAR_COLUMNS).where(calendars.c.id == bindparam("key")))
_OWNED = Prepared(
    select(*_CALENDAR_COLUMNS)
    .where(calendars.c.owner == bindparam("user"))
    .order_by(calendars.c.created, calendars.c.id)
)
_SHARED = Prepared(
    select(*_CALENDAR_COLUMNS)
    .where(calendars.c.id.in_(select(calendar_access.c.calendar).where(calendar_access.c.scope == bindparam("scope"))))
    .order_by(calendars.c.created, calendars.c.id)
)
_DROP_CALENDAR = Prepared(delete(calendars).where(calendars.c.id == bindparam("key")))
_GRANT = inserting(calendar_access, AccessRow._fields, otherwise="REPLACE")
_GRANTS = Prepared(
    select(*_ACCESS).where(calendar_access.c.calendar == bindparam("key")).order_by(calendar_access.c.scope)
)
_REVOKE = Prepared(
    delete(calendar_access).where(
        calendar_access.c.calendar == bindparam("key"), calendar_access.c.scope == bindparam("who")
    )
)
_SAVE_ENTRY = inserting(calendar_entries, ("user", "calendar", "body"), otherwise="REPLACE")
_OF_USER = calendar_entries.c.user == bindparam("user")
_ENTRY = Prepared(select(calendar_entries.c.body).where(_OF_USER, calendar_entries.c.calendar == bindparam("calendar")))
_ENTRIES = Prepared(
    select(calendar_entries.c.calendar, calendar_entries.c.body).where(_OF_USER).order_by(calendar_entries.c.calendar)
)
_ENTRY_USERS = Prepared(select(calendar_entries.c.user).where(calendar_entries.c.calendar == bindparam("calendar")))
_DROP_ENTRIES = Prepared(delete(calendar_entries).where(calendar_entries.c.calendar == bindparam("key")))
_REVOKE_ALL = Prepared(delete(calendar_access).where(calendar_access.c.calendar == bindparam("key")))


class Calendars(TableGroup):
    """The calendars of all users."""

    def save(self, row: CalendarRow) -> None:
        """Add the row of a calendar, or replace the row with the same id."""
        self._database.queue_change(_SAVE_CALENDAR, row._asdict())

    def get(self, calendar: str) -> CalendarRow | None:
        """Return the row of a calendar, or None if the id is unknown."""
        row = self._database.fetch_one(_GET_CALENDAR, {"key": calendar})
        return CalendarRow._make(row) if row else None

    def of(self, user: str) -> list[CalendarRow]:
        """Return the calendars that a user owns, then the calendars that were shared with the user by name."""
        owned = self._database.run(_OWNED, {"user": user})
        shared = self._database.run(_SHARED, {"scope": f"user:{user}"})
        return list(map(CalendarRow._make, [*owned, *shared]))

    def save_entry(self, user: str, calendar: str, body: str) -> None:
        """Store a user's own settings of a calendar as JSON text. Existing settings are replaced."""
        self._database.queue_change(_SAVE_ENTRY, {"user": user, "calendar": calendar, "body": body})

    def entry(self, user: str, calendar: str) -> str | None:
        """Return a user's own settings of a calendar as JSON text, or None without settings."""
        row = self._database.fetch_one(_ENTRY, {"user": user, "calendar": calendar})
        return row[0] if row else None

    def entries(self, user: str) -> list[tuple[str, str]]:
        """Return a user's own settings of calendars, as pairs of the calendar's id and JSON text."""
        return [(name, body) for name, body in self._database.run(_ENTRIES, {"user": user})]

    def entry_users(self, calendar: str) -> list[str]:
        """Return the users with own settings of a calendar."""
        return [user for (user,) in self._database.run(_ENTRY_USERS, {"calendar": calendar})]

    def drop(self, calendar: str) -> None:
        """Delete a calendar, all roles on the calendar and its entries in the lists of all users."""
        self._database.queue_change(_DROP_CALENDAR, {"key": calendar})
        self._database.queue_change(_DROP_ENTRIES, {"key": calendar})
        self._database.queue_change(_REVOKE_ALL, {"key": calendar})

    def grant(self, row: AccessRow) -> None:
        """Add the role of a scope on a calendar, or replace the scope's existing role."""
        self._database.queue_change(_GRANT, row._asdict())

    def grants(self, calendar: str) -> list[AccessRow]:
        """Return the roles on a calendar, without the role of the owner."""
        return [AccessRow._make(row) for row in self._database.run(_GRANTS, {"key": calendar})]

    def revoke(self, calendar: str, scope: str) -> bool:
        """Delete the role of a scope on a calendar. Returns False if the scope had no role."""
        return self._database.change(_REVOKE, {"key": calendar, "who": scope}) == 1


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


_Values: TypeAlias = "dict[str, str | int]"
_STORED = EventRow._fields[:-1]
_COLUMNS = tuple(events.c[name] for name in EventRow._fields)
_HERE = events.c.calendar == bindparam("calendar")
_THIS = (_HERE, events.c.id == bindparam("key"))
_FIRST_QUERY, _LARGEST_QUERY = 32, 250
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
_BEFORE = events.c.start < bindparam("before")
_WITHIN = Prepared(
    select(*_COLUMNS)
    .where(_HERE, _BEFORE, events.c.end > bindparam("after"))
    .where(tuple_(events.c.start, events.c.id) > tuple_(bindparam("start"), bindparam("key")))
    .order_by(events.c.start, events.c.id)
    .limit(bindparam("size"))
)
_IS_RECURRING = (_HERE, events.c.recurring == literal_column("1"))
_RECURRING = Prepared(select(*_COLUMNS).where(*_IS_RECURRING, events.c.seq > bindparam("since")))
_RECURRING_NUMBERS = Prepared(select(events.c.seq).where(*_IS_RECURRING))
_CHANGED_IDS = Prepared(select(events.c.series, events.c.id).where(_HERE, events.c.series.is_not(None)))
_LATER = tuple_(events.c.updated, events.c.id) > tuple_(bindparam("updated"), bindparam("key"))
_BY_UPDATE = Prepared(
    select(*_COLUMNS).where(_HERE, _LATER).order_by(events.c.updated, events.c.id).limit(bindparam("size"))
)
_COUNT = Prepared(select(func.count()).where(_HERE))
_SINCE = Prepared(
    select(*_COLUMNS).where(_HERE, events.c.seq > bindparam("since")).order_by(events.c.seq).limit(bindparam("size"))
)
_HIGHEST = select(events.c.seq).where(_HERE).order_by(events.c.seq.desc()).limit(1).scalar_subquery()
# Not max(): without statistics about a new table, PostgreSQL may choose another index and read the whole calendar.
_LAST = position(_HIGHEST)
_LAST_NUMBER = position(func.max(events.c.seq))
_CHANGED_CALENDARS = Prepared(select(events.c.calendar).where(events.c.seq > bindparam("since")).distinct())
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

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._generation = object()

    def save(self, row: EventRow) -> None:
        """Add the row of an event, or replace the row with the same calendar and id."""
        self._database.queue_change(_SAVE, row._asdict())

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

    def by_age(self, calendar: str, place: int, event: str) -> Iterator[EventRow]:
        """Yield the rows of a calendar after this `place` and event id, oldest first."""
        position: _Values = {"calendar": calendar, "place": place, "key": event}
        return self._in_pages(_PAGE, position, lambda row: {"place": row.place, "key": row.id})

    def by_update(self, calendar: str, updated: int, event: str) -> Iterator[EventRow]:
        """Yield the rows of a calendar after this time of update and event id, in this order."""
        position: _Values = {"calendar": calendar, "updated": updated, "key": event}
        return self._in_pages(_BY_UPDATE, position, lambda row: {"updated": row.updated, "key": row.id})

    def within(self, calendar: str, window: tuple[int, int], start: int, event: str) -> Iterator[EventRow]:
        """Yield the single events and changed instances in a window after this start and event id, in this order."""
        after, before = window
        position: _Values = {"calendar": calendar, "after": after, "before": before, "start": start, "key": event}
        return self._in_pages(_WITHIN, position, lambda row: {"start": row.start, "key": row.id})

    def recurring(self, calendar: str, seq: int = 0) -> list[EventRow]:
        """Return the recurring events of a calendar, by default all, or those whose number is greater than `seq`."""
        return self._rows(_RECURRING, calendar=calendar, since=seq)

    def recurring_numbers(self, calendar: str) -> list[int]:
        """Return the row numbers of the recurring events of a calendar."""
        return [seq for (seq,) in self._database.run(_RECURRING_NUMBERS, {"calendar": calendar})]

    @property
    def generation(self) -> object:
        """A value that changes when a snapshot is restored, after which a row number may mean another row."""
        return self._generation

    def changed_ids(self, calendar: str) -> dict[str, set[str]]:
        """Return the ids of the changed instances in a calendar, by the id of the recurring event."""
        ids: dict[str, set[str]] = {}
        for series, event in self._database.run(_CHANGED_IDS, {"calendar": calendar}):
            ids.setdefault(series, set()).add(event)
        return ids

    def state(self, calendar: str) -> tuple[object, int, int]:
        """Return a value that is different after every change of the calendar's events.

        A change gives a row a new number, and a deletion reduces the number of rows.
        """
        return self._generation, self.last(calendar), int(self._database.run(_COUNT, {"calendar": calendar})[0][0])

    def forget(self) -> None:
        """Make all values of `state` different, because a snapshot with older row numbers was restored."""
        self._generation = object()

    def since(self, calendar: str, seq: int) -> Iterator[EventRow]:
        """Yield the rows of a calendar whose number is greater than `seq`, in the order of the changes.

        A sync token contains such a number.
        """
        return self._in_pages(_SINCE, {"calendar": calendar, "since": seq}, lambda row: {"since": row.seq})

    def naming(self, text: str) -> list[EventRow]:
        """Return the events in organizers' calendars whose body contains `text`, where `_` matches any character."""
        return self._rows(_NAMING, text=text)

    def last(self, calendar: str) -> int:
        """Return the highest row number in a calendar, or 0 if the calendar has no events."""
        return self._database.run_position(_LAST, {"calendar": calendar})

    def last_number(self) -> int:
        """Return the highest row number of all calendars, or 0 without events."""
        return self._database.run_position(_LAST_NUMBER, {})

    def changed_calendars(self, seq: int) -> list[str]:
        """Return the calendars with rows whose number is greater than `seq`."""
        return [calendar for (calendar,) in self._database.run(_CHANGED_CALENDARS, {"since": seq})]

    def latest(self, calendar: str) -> int | None:
        """Return the time of the last change to a calendar's events in Unix milliseconds, or None without events."""
        millis: int | None = self._database.run(_LATEST, {"calendar": calendar})[0][0]
        return millis

    def drop(self, calendar: str, event: str) -> None:
        """Delete the row of an event in a calendar."""
        self._database.queue_change(_DROP, {"calendar": calendar, "key": event})

    def drop_all(self, calendar: str) -> None:
        """Delete all events of a calendar."""
        self._database.queue_change(_DROP_ALL, {"calendar": calendar})

    def invite(self, row: InvitationRow) -> None:
        """Add an invitation to the table of invitations."""
        self._database.queue_change(_INVITE, row._asdict())

    def invitations(self, size: int) -> list[InvitationRow]:
        """Return the last `size` invitations, oldest first."""
        return [InvitationRow._make(row) for row in reversed(self._database.run(_INVITATIONS, {"size": size}))]

    def _in_pages(
        self, prepared: Prepared, position: _Values, after: Callable[[EventRow], _Values]
    ) -> Iterator[EventRow]:
        """Yield the rows of a query after a position. The first query is small, because most pages are short."""
        size = _FIRST_QUERY
        while True:
            rows = self._rows(prepared, **position, size=size)
            yield from rows
            if len(rows) < size:
                return
            position, size = position | after(rows[-1]), min(4 * size, _LARGEST_QUERY)

    def _rows(self, prepared: Prepared, **values: str | int) -> list[EventRow]:
        return [EventRow._make(row) for row in self._database.run(prepared, values)]
