"""Reads the expirations and deliveries within a time span from several tables."""

from __future__ import annotations

import json
from typing import NamedTuple

from sqlalchemy import select

from ..database.engine import TableGroup
from ..database.schema import channels, messages, sessions, tokens
from .channels import ACTIVE


class Deadline(NamedTuple):
    """The time of an expiration or a delivery, in Unix milliseconds, with texts that describe the event."""

    time: int
    event: str
    user: str
    subject: str
    detail: str


class Deadlines(TableGroup):
    """The expirations and deliveries in the future, and those in the past whose rows still exist."""

    def between(self, first: int, last: int, session_lifetime: float) -> list[Deadline]:
        """Return the deadlines later than `first` and not later than `last` (Unix milliseconds), sorted by time.

        An upload session expires after `session_lifetime` seconds without a request.
        """
        read, s, c, t, m = self._database.select, sessions.c, channels.c, tokens.c, messages.c
        deadlines = []
        since, until = first / 1000 - session_lifetime, last / 1000 - session_lifetime
        uploads = select(s.owner, s.metadata, s.stored, s.total, s.touched)
        for owner, metadata, stored, total, touched in read(
            uploads.where(s.state == "open", s.touched > since, s.touched <= until)
        ):
            size = f"{stored:,} bytes" if total is None else f"{stored:,} of {total:,} bytes"
            name = str(json.loads(metadata).get("name") or "")
            deadlines.append(Deadline(round((touched + session_lifetime) * 1000), "upload expires", owner, name, size))
        expiring = select(c.expiration, c.user, c.id, c.address)
        for time, *row in read(expiring.where(c.state == ACTIVE, c.expiration > first, c.expiration <= last)):
            deadlines.append(Deadline(time, "channel expires", *row))
        ending = select(t.expires, t.user, t.client, t.scopes)
        for expires, *row in read(ending.where(t.expires > first / 1000, t.expires <= last / 1000)):
            deadlines.append(Deadline(round(expires * 1000), "token expires", *row))
        queued = select(m.due, c.user, c.id, m.state, m.attempts).join(channels, c.seq == m.channel)
        for due, user, channel, state, attempts in read(queued.where(m.due > first, m.due <= last)):
            deadlines.append(Deadline(due, "message is sent", user, channel, f"{state}, attempt {attempts + 1}"))
        return sorted(deadlines)
