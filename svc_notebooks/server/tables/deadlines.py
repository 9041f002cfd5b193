"""Reads which sessions, channels and tokens expire, and which messages are due, in a span of time."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import select

from ..database.engine import Database
from ..database.schema import channels, messages, sessions, tokens
from .channels import ACTIVE


class TimeSpan(NamedTuple):
    """Behind the first instant, up to and with the last one; Unix milliseconds."""

    first: int
    last: int


class OpenSession(NamedTuple):
    """An upload under way; `touched` in Unix seconds."""

    owner: str
    metadata: str
    stored: int
    total: int | None
    touched: float


class ExpiringChannel(NamedTuple):
    """A channel that will expire; Unix milliseconds."""

    user: str
    id: str
    address: str
    expiration: int


class ExpiringToken(NamedTuple):
    """A token that will expire; Unix seconds."""

    user: str
    client: str
    scopes: str
    expires: float


class QueuedMessage(NamedTuple):
    """A message that waits; Unix milliseconds."""

    user: str
    channel: str
    state: str
    attempts: int
    due: int


class Deadlines:
    """The ends that lie ahead, or that have passed and are not forgotten."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def sessions(self, span: TimeSpan, lifetime: float) -> list[OpenSession]:
        """Uploads that end when nobody touches them for their lifetime (seconds)."""
        c = sessions.c
        first, last = span.first / 1000 - lifetime, span.last / 1000 - lifetime
        statement = select(c.owner, c.metadata, c.stored, c.total, c.touched)
        statement = statement.where(c.state == "open", c.touched > first, c.touched <= last)
        return [OpenSession(*row) for row in self._database.select(statement)]

    def channels(self, span: TimeSpan) -> list[ExpiringChannel]:
        """Channels that nobody has stopped."""
        c = channels.c
        statement = select(c.user, c.id, c.address, c.expiration)
        statement = statement.where(c.state == ACTIVE, c.expiration > span.first, c.expiration <= span.last)
        return [ExpiringChannel(*row) for row in self._database.select(statement)]

    def tokens(self, span: TimeSpan) -> list[ExpiringToken]:
        """Access tokens."""
        c = tokens.c
        statement = select(c.user, c.client, c.scopes, c.expires)
        statement = statement.where(c.expires > span.first / 1000, c.expires <= span.last / 1000)
        return [ExpiringToken(*row) for row in self._database.select(statement)]

    def messages(self, span: TimeSpan) -> list[QueuedMessage]:
        """Messages that are queued; one that should have gone already is due at once."""
        m, c = messages.c, channels.c
        statement = select(c.user, c.id, m.state, m.attempts, m.due).join(channels, c.seq == m.channel)
        statement = statement.where(m.due > span.first, m.due <= span.last).order_by(m.seq)
        return [QueuedMessage(*row) for row in self._database.select(statement)]
