"""Creates users at their first sign-in, with a root folder and copies of the events to which they are invited."""

from __future__ import annotations

from collections.abc import Iterable

from ...core.events.value_checks import is_address
from ..calendars.attendee_copies import emails_of, sync_attendee_copies
from ..calendars.event_resource import event_from_row
from ..dispatch.caller import scope_names
from ..dispatch.service_context import ServiceContext
from ..files.rows import root_row
from .access_tokens import TokenVerifier
from .tables import TokenRow


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


def create_provided_user(context: ServiceContext, email: str) -> None:
    """Create the account of a user whom another service has signed in, unless the account exists."""
    if context.store.users.root(email) is None:
        with context.store.transaction():
            create_user(context, email)


def token_row(
    context: ServiceContext, user: str | None, scopes: Iterable[str] | None, client: str, lifetime: float | None
) -> TokenRow:
    """Return the row of a new access token, which expires after `lifetime` seconds. Raises ValueError if invalid."""
    if user and not is_address(user):
        raise ValueError(
            f"user={user[:60]!r} is not an e-mail address; give an address such as bob@{context.policy.domain}"
        )
    email = (user or context.policy.first_user).lower()
    names = scope_names(scopes, context.policy, context.names)
    return TokenRow(email, client, names, 0, None if lifetime is None else context.clock.now().timestamp() + lifetime)


def record_token(context: ServiceContext, access: TokenVerifier, secret: str, token: TokenRow) -> None:
    """Store an access token, and create the user of the token if this is the first sign-in."""
    with context.store.transaction():
        create_user(context, token.user)
        access.add_token(secret, token)
