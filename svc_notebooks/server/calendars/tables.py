"""The tables of calendars, their access rules, events and invitations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

from ..store.engine import Database, TableGroup, column_names, inserting
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


_CALENDARS = f"SELECT {column_names(CalendarRow._fields)} FROM calendars"
_SAVE_CALENDAR = inserting(calendars, CalendarRow._fields, otherwise="REPLACE")
_SHARED = f"""{_CALENDARS} WHERE id IN (SELECT calendar FROM calendar_access WHERE scope = :scope)
    ORDER BY created, id"""
_DROP_CALENDAR = (
    "DELETE FROM calendars WHERE id = :id",
    "DELETE FROM calendar_entries WHERE calendar = :id",
    "DELETE FROM calendar_access WHERE calendar = :id",
)
_GRANT = inserting(calendar_access, AccessRow._fields, otherwise="REPLACE")
_GRANTS = f"SELECT {column_names(AccessRow._fields)} FROM calendar_access WHERE calendar = :calendar ORDER BY scope"
_REVOKE = "DELETE FROM calendar_access WHERE calendar = :calendar AND scope = :scope"
_SAVE_ENTRY = inserting(calendar_entries, ("user", "calendar", "body"), otherwise="REPLACE")
_ENTRY = 'SELECT body FROM calendar_entries WHERE "user" = :user AND calendar = :calendar'
_ENTRIES = 'SELECT calendar, body FROM calendar_entries WHERE "user" = :user ORDER BY calendar'
_ENTRY_USERS = 'SELECT "user" FROM calendar_entries WHERE calendar = :calendar'


class Calendars(TableGroup):
    """The calendars of all users."""

    def save(self, row: CalendarRow) -> None:
        """Add the row of a calendar, or replace the row with the same id."""
        self._database.queue_change(_SAVE_CALENDAR, row._asdict())

    def get(self, calendar: str) -> CalendarRow | None:
        """Return the row of a calendar, or None if the id is unknown."""
        row = self._database.fetch_one(f"{_CALENDARS} WHERE id = :id", {"id": calendar})
        return CalendarRow._make(row) if row else None

    def of(self, user: str) -> list[CalendarRow]:
        """Return the calendars that a user owns, then the calendars that were shared with the user by name."""
        owned = self._database.run(f"{_CALENDARS} WHERE owner = :owner ORDER BY created, id", {"owner": user})
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
        for statement in _DROP_CALENDAR:
            self._database.queue_change(statement, {"id": calendar})

    def grant(self, row: AccessRow) -> None:
        """Add the role of a scope on a calendar, or replace the scope's existing role."""
        self._database.queue_change(_GRANT, row._asdict())

    def grants(self, calendar: str) -> list[AccessRow]:
        """Return the roles on a calendar, without the role of the owner."""
        return [AccessRow._make(row) for row in self._database.run(_GRANTS, {"calendar": calendar})]

    def revoke(self, calendar: str, scope: str) -> bool:
        """Delete the role of a scope on a calendar. Returns False if the scope had no role."""
        return self._database.change(_REVOKE, {"calendar": calendar, "scope": scope}) == 1


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
_EVENTS = f"SELECT {column_names(EventRow._fields)} FROM events"
_HERE = f"{_EVENTS} WHERE calendar = :calendar"
_FIRST_QUERY, _LARGEST_QUERY = 32, 250

# A changed row is replaced, so that it gets a greater number. Sync tokens select rows by this number.
_SAVE = inserting(events, _STORED, otherwise="REPLACE")
_BY_AGE = f"{_HERE} AND (place, id) > (:place, :id) ORDER BY place, id LIMIT :size"
_WITHIN = f"""{_HERE} AND start < :before AND "end" > :after AND (start, id) > (:start, :id)
    ORDER BY start, id LIMIT :size"""
_RECURRING_NUMBERS = "SELECT seq FROM events WHERE calendar = :calendar AND recurring = 1"
_CHANGED_IDS = "SELECT series, id FROM events WHERE calendar = :calendar AND series IS NOT NULL"
_BY_UPDATE = f"{_HERE} AND (updated, id) > (:updated, :id) ORDER BY updated, id LIMIT :size"
_SINCE = f"{_HERE} AND seq > :since ORDER BY seq LIMIT :size"
# Not max(): without statistics about a new table, PostgreSQL may choose another index and read the whole calendar.
_LAST = "SELECT COALESCE((SELECT seq FROM events WHERE calendar = :calendar ORDER BY seq DESC LIMIT 1), 0)"
_NAMING = f"""{_EVENTS} WHERE calendar = origin AND series IS NULL AND LOWER(body) LIKE '%' || :text || '%'
    ORDER BY seq"""
_INVITE = inserting(invitations, InvitationRow._fields)
_INVITATIONS = f"SELECT {column_names(InvitationRow._fields)} FROM invitations ORDER BY seq DESC LIMIT :size"


class Events(TableGroup):
    """The table of the events of all calendars, and the table of invitations."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        # A value that changes when a snapshot is restored, after which a row number may mean another row.
        self.generation = object()

    def save(self, row: EventRow) -> None:
        """Add the row of an event, or replace the row with the same calendar and id."""
        self._database.queue_change(_SAVE, row._asdict())

    def get(self, calendar: str, event: str) -> EventRow | None:
        """Return the event with an id in a calendar, or None if the id is unknown."""
        row = self._database.fetch_one(f"{_HERE} AND id = :id", {"calendar": calendar, "id": event})
        return EventRow._make(row) if row else None

    def exists(self, event: str) -> bool:
        """Return whether any calendar has an event with this id."""
        return self._database.fetch_one("SELECT id FROM events WHERE id = :id LIMIT 1", {"id": event}) is not None

    def by_uid(self, uid: str) -> list[EventRow]:
        """Return all rows with this iCalendar UID in all calendars, which are the event and its copies."""
        return self._rows(f"{_EVENTS} WHERE uid = :uid ORDER BY seq", uid=uid)

    def changed_instances(self, calendar: str, series: str) -> list[EventRow]:
        """Return the changed instances of the recurring event `series` in a calendar."""
        return self._rows(f"{_HERE} AND series = :series ORDER BY start", calendar=calendar, series=series)

    def by_age(self, calendar: str, place: int, event: str) -> Iterator[EventRow]:
        """Yield the rows of a calendar after this `place` and event id, oldest first."""
        position: _Values = {"calendar": calendar, "place": place, "id": event}
        return self._in_pages(_BY_AGE, position, lambda row: {"place": row.place, "id": row.id})

    def by_update(self, calendar: str, updated: int, event: str) -> Iterator[EventRow]:
        """Yield the rows of a calendar after this time of update and event id, in this order."""
        position: _Values = {"calendar": calendar, "updated": updated, "id": event}
        return self._in_pages(_BY_UPDATE, position, lambda row: {"updated": row.updated, "id": row.id})

    def within(self, calendar: str, window: tuple[int, int], start: int, event: str) -> Iterator[EventRow]:
        """Yield the single events and changed instances in a window after this start and event id, in this order."""
        after, before = window
        position: _Values = {"calendar": calendar, "after": after, "before": before, "start": start, "id": event}
        return self._in_pages(_WITHIN, position, lambda row: {"start": row.start, "id": row.id})

    def recurring(self, calendar: str, seq: int = 0) -> list[EventRow]:
        """Return the recurring events of a calendar, by default all, or those whose number is greater than `seq`."""
        return self._rows(f"{_HERE} AND recurring = 1 AND seq > :since", calendar=calendar, since=seq)

    def recurring_numbers(self, calendar: str) -> list[int]:
        """Return the row numbers of the recurring events of a calendar."""
        return [seq for (seq,) in self._database.run(_RECURRING_NUMBERS, {"calendar": calendar})]

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
        rows = self._database.run("SELECT COUNT(*) FROM events WHERE calendar = :calendar", {"calendar": calendar})
        return self.generation, self.last(calendar), int(rows[0][0])

    def forget(self) -> None:
        """Make all values of `state` different, because a snapshot with older row numbers was restored."""
        self.generation = object()

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
        return self._database.run_position("SELECT COALESCE(MAX(seq), 0) FROM events", {})

    def changed_calendars(self, seq: int) -> list[str]:
        """Return the calendars with rows whose number is greater than `seq`."""
        rows = self._database.run("SELECT DISTINCT calendar FROM events WHERE seq > :since", {"since": seq})
        return [calendar for (calendar,) in rows]

    def latest(self, calendar: str) -> int | None:
        """Return the time of the last change to a calendar's events in Unix milliseconds, or None without events."""
        rows = self._database.run("SELECT MAX(updated) FROM events WHERE calendar = :calendar", {"calendar": calendar})
        return None if rows[0][0] is None else int(rows[0][0])

    def drop(self, calendar: str, event: str) -> None:
        """Delete the row of an event in a calendar."""
        self._database.queue_change(
            "DELETE FROM events WHERE calendar = :calendar AND id = :id", {"calendar": calendar, "id": event}
        )

    def drop_all(self, calendar: str) -> None:
        """Delete all events of a calendar."""
        self._database.queue_change("DELETE FROM events WHERE calendar = :calendar", {"calendar": calendar})

    def invite(self, row: InvitationRow) -> None:
        """Add an invitation to the table of invitations."""
        self._database.queue_change(_INVITE, row._asdict())

    def invitations(self, size: int) -> list[InvitationRow]:
        """Return the last `size` invitations, oldest first."""
        return [InvitationRow._make(row) for row in reversed(self._database.run(_INVITATIONS, {"size": size}))]

    def _in_pages(self, statement: str, position: _Values, after: Callable[[EventRow], _Values]) -> Iterator[EventRow]:
        """Yield the rows of a query after a position. The first query is small, because most pages are short."""
        size = _FIRST_QUERY
        while True:
            rows = self._rows(statement, **position, size=size)
            yield from rows
            if len(rows) < size:
                return
            position, size = position | after(rows[-1]), min(4 * size, _LARGEST_QUERY)

    def _rows(self, statement: str, **values: str | int) -> list[EventRow]:
        return [EventRow._make(row) for row in self._database.run(statement, values)]
