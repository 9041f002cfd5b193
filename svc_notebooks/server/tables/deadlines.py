"""Reads the sessions, channels and tokens that expire and the messages that are due in a span of time."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import select

from ..database.engine import TableGroup
from ..database.schema import channels, messages, sessions, tokens
from .channels import ACTIVE


class TimeSpan(NamedTuple):
    """A span of time in Unix milliseconds, without its first instant and with its last."""

    first: int
    last: int


class OpenSession(NamedTuple):
    """An open upload session. `touched` is in Unix seconds."""

    owner: str
    metadata: str
    stored: int
    total: int | None
    touched: float


class ExpiringChannel(NamedTuple):
    """A channel that expires. The instant is in Unix milliseconds."""

    user: str
    id: str
    address: str
    expiration: int


class ExpiringToken(NamedTuple):
    """A token that expires. The instant is in Unix seconds."""

    user: str
    client: str
    scopes: str
    expires: float


class QueuedMessage(NamedTuple):
    """A queued message. The instant is in Unix milliseconds."""

    user: str
    channel: str
    state: str
    attempts: int
    due: int


class Deadlines(TableGroup):
    """The expirations and deliveries, past ones too if their rows still exist."""

    def sessions(self, span: TimeSpan, lifetime: float) -> list[OpenSession]:
        """Return the upload sessions that expire if they are not used for `lifetime` seconds."""
        c = sessions.c
        first, last = span.first / 1000 - lifetime, span.last / 1000 - lifetime
        statement = select(c.owner, c.metadata, c.stored, c.total, c.touched)
        statement = statement.where(c.state == "open", c.touched > first, c.touched <= last)
        return [OpenSession(*row) for row in self._database.select(statement)]

    def channels(self, span: TimeSpan) -> list[ExpiringChannel]:
        """Return the active channels that expire."""
        c = channels.c
        statement = select(c.user, c.id, c.address, c.expiration)
        statement = statement.where(c.state == ACTIVE, c.expiration > span.first, c.expiration <= span.last)
        return [ExpiringChannel(*row) for row in self._database.select(statement)]

    def tokens(self, span: TimeSpan) -> list[ExpiringToken]:
        """Return the access tokens that expire."""
        c = tokens.c
        statement = select(c.user, c.client, c.scopes, c.expires)
        statement = statement.where(c.expires > span.first / 1000, c.expires <= span.last / 1000)
        return [ExpiringToken(*row) for row in self._database.select(statement)]

    def messages(self, span: TimeSpan) -> list[QueuedMessage]:
        """Return the messages that are due."""
        m, c = messages.c, channels.c
        statement = select(c.user, c.id, m.state, m.attempts, m.due).join(channels, c.seq == m.channel)
        statement = statement.where(m.due > span.first, m.due <= span.last).order_by(m.seq)
        return [QueuedMessage(*row) for row in self._database.select(statement)]
