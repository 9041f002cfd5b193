"""Stores calendars, and the roles on calendars that users other than the owners have."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import bindparam, delete, select

from ..database.engine import Prepared, TableGroup, inserting
from ..database.schema import calendar_access, calendar_entries, calendars


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


_COLUMNS = tuple(calendars.c[name] for name in CalendarRow._fields)
_ACCESS = tuple(calendar_access.c[name] for name in AccessRow._fields)

_SAVE = inserting(calendars, CalendarRow._fields, otherwise="REPLACE")
_GET = Prepared(select(*_COLUMNS).where(calendars.c.id == bindparam("key")))
_OWNED = Prepared(
    select(*_COLUMNS).where(calendars.c.owner == bindparam("user")).order_by(calendars.c.created, calendars.c.id)
)
_SHARED = Prepared(
    select(*_COLUMNS)
    .where(calendars.c.id.in_(select(calendar_access.c.calendar).where(calendar_access.c.scope == bindparam("scope"))))
    .order_by(calendars.c.created, calendars.c.id)
)
_DROP = Prepared(delete(calendars).where(calendars.c.id == bindparam("key")))
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
        self._database.queue_change(_SAVE, row._asdict())

    def get(self, calendar: str) -> CalendarRow | None:
        """Return the row of a calendar, or None if the id is unknown."""
        row = self._database.fetch_one(_GET, {"key": calendar})
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
        self._database.queue_change(_DROP, {"key": calendar})
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
