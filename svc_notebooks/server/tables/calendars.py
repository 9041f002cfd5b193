"""Stores calendars and the roles that users have on them beside their owners."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import bindparam, delete, select

from ..database.engine import Database, Prepared, inserting
from ..database.schema import calendar_access, calendars


class CalendarRow(NamedTuple):
    """One calendar; `client` made it ("" for a primary one), `created` in Unix milliseconds, `body` is JSON."""

    id: str
    owner: str
    client: str
    zone: str
    created: int
    body: str

    @property
    def primary(self) -> bool:
        """Whether it is its owner's main calendar."""
        return self.id == self.owner


class AccessRow(NamedTuple):
    """A role of somebody; `scope` is `user:` or `domain:` with a name, or `default` for anyone."""

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


class Calendars:
    """The calendars of all users."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save(self, row: CalendarRow) -> None:
        """A new calendar, or what has become of one."""
        self._database.change(_SAVE, row._asdict())

    def get(self, calendar: str) -> CalendarRow | None:
        """The calendar of this id."""
        row = self._database.fetch_one(_GET, {"key": calendar})
        return CalendarRow._make(row) if row else None

    def of(self, user: str) -> list[CalendarRow]:
        """A user's own, and those that were shared with them by name."""
        owned = self._database.run(_OWNED, {"user": user})
        shared = self._database.run(_SHARED, {"scope": f"user:{user}"})
        return list(map(CalendarRow._make, [*owned, *shared]))

    def drop(self, calendar: str) -> None:
        """Forget a calendar and who could see it."""
        self._database.change(_DROP, {"key": calendar})
        self._database.change(_REVOKE_ALL, {"key": calendar})

    def grant(self, row: AccessRow) -> None:
        """Give somebody a role; an earlier one is replaced."""
        self._database.change(_GRANT, row._asdict())

    def grants(self, calendar: str) -> list[AccessRow]:
        """Who has a role beside the owner."""
        return [AccessRow._make(row) for row in self._database.run(_GRANTS, {"key": calendar})]

    def revoke(self, calendar: str, scope: str) -> bool:
        """Take a role away; False: there was none."""
        return self._database.change(_REVOKE, {"key": calendar, "who": scope}) == 1
