"""Stores calendars, and the roles on calendars that users other than the owners have."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import bindparam, delete, select

from ..database.engine import Prepared, TableGroup, inserting
from ..database.schema import calendar_access, calendars


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
_REVOKE_ALL = Prepared(delete(calendar_access).where(calendar_access.c.calendar == bindparam("key")))


class Calendars(TableGroup):
    """The calendars of all users."""

    def save(self, row: CalendarRow) -> None:
        """Add the row of a calendar, or replace the row with the same id."""
        self._database.change(_SAVE, row._asdict())

    def get(self, calendar: str) -> CalendarRow | None:
        """Return the row of a calendar, or None if the id is unknown."""
        row = self._database.fetch_one(_GET, {"key": calendar})
        return CalendarRow._make(row) if row else None

    def of(self, user: str) -> list[CalendarRow]:
        """Return the calendars that a user owns, then the calendars that were shared with the user by name."""
        owned = self._database.run(_OWNED, {"user": user})
        shared = self._database.run(_SHARED, {"scope": f"user:{user}"})
        return list(map(CalendarRow._make, [*owned, *shared]))

    def drop(self, calendar: str) -> None:
        """Delete a calendar and all roles on the calendar."""
        self._database.change(_DROP, {"key": calendar})
        self._database.change(_REVOKE_ALL, {"key": calendar})

    def grant(self, row: AccessRow) -> None:
        """Add the role of a scope on a calendar, or replace the scope's existing role."""
        self._database.change(_GRANT, row._asdict())

    def grants(self, calendar: str) -> list[AccessRow]:
        """Return the roles on a calendar, without the role of the owner."""
        return [AccessRow._make(row) for row in self._database.run(_GRANTS, {"key": calendar})]

    def revoke(self, calendar: str, scope: str) -> bool:
        """Delete the role of a scope on a calendar. Returns False if the scope had no role."""
        return self._database.change(_REVOKE, {"key": calendar, "who": scope}) == 1
