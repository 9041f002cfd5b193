"""Creates users at their first sign-in, with a root folder and copies of the events to which they are invited."""

from __future__ import annotations

from ..context.access_tokens import TokenVerifier
from ..context.service_context import ServiceContext
from ..events.attendee_copies import emails_of, sync_attendee_copies
from ..events.resource import event_from_row
from ..files.rows import root_row
from ..tables.users import TokenRow


def create_user(context: ServiceContext, email: str) -> None:
    """Create the user with this e-mail address, a root folder and copies of events, unless the user exists."""
    if context.store.users.root(email) is not None:
        return
    root = root_row(context, email)
    context.store.users.add_user(email, root.id)
    context.store.files.add(root)
    for row in context.store.events.naming(email):
        event = event_from_row(row)
        if not row.cancelled and email in emails_of(event.body):
            sync_attendee_copies(context, event, event.body)


def record_token(context: ServiceContext, access: TokenVerifier, secret: str, token: TokenRow) -> None:
    """Store an access token, and create the user of the token if this is the first sign-in."""
    with context.store.transaction():
        create_user(context, token.user)
        access.add_token(secret, token)
