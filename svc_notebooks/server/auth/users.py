"""Somebody signs in for the first time: a folder for everything of theirs, and the events that they are invited to."""

from __future__ import annotations

from ..context.access_tokens import Access
from ..context.service_context import House
from ..events.attendee_copies import emails_of, spread
from ..events.resource import stored
from ..files import rows as drafts
from ..store.users import Token


def welcome(house: House, email: str) -> None:
    """Make a user of whoever is none yet."""
    if house.store.people.root(email) is not None:
        return
    root = drafts.root_row(house, email)
    house.store.people.add_user(email, root.id)
    house.store.files.add(root)
    _bring_invitations(house, email)


def grant(house: House, access: Access, secret: str, token: Token) -> None:
    """Record an access token, and create its user on the first sign-in."""
    with house.store.transaction():
        welcome(house, token.user)
        access.add(secret, token)


def _bring_invitations(house: House, email: str) -> None:
    for row in house.store.events.naming(email):
        found = stored(row)
        if not row.cancelled and email in emails_of(found.body):
            spread(house, found, found.body)
