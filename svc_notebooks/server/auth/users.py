"""Creates a user on the first sign-in, with a root folder and copies of the events that invite the user."""

from __future__ import annotations

from ..context.access_tokens import TokenVerifier
from ..context.service_context import ServiceContext
from ..events.attendee_copies import emails_of, sync_attendee_copies
from ..events.resource import event_from_row
from ..files.rows import root_row
from ..tables.users import TokenRow


def create_user(context: ServiceContext, email: str) -> None:
    """Create the user of an e-mail address on the first sign-in."""
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
    """Record an access token, and create its user on the first sign-in."""
    with context.store.transaction():
        create_user(context, token.user)
        access.add_token(secret, token)
