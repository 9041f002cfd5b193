"""Creates users at their first sign-in, with a root folder and copies of events; registers clients and accounts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import urlsplit

from ...core.brand_names import IN_PROCESS_URL
from ...core.events.value_checks import is_address
from ...core.oauth import new_key
from ..calendars.attendee_copies import emails_of, sync_attendee_copies
from ..calendars.event_resource import EventRecord
from ..dispatch.service_context import ServiceContext, scope_names
from ..files.rows import root_row
from .access_tokens import TokenVerifier
from .tables import AccountRow, ClientRow, GrantRow, TokenRow, digest_of


def create_user(context: ServiceContext, email: str) -> None:
    """Create the user with this e-mail address, a root folder and copies of events, unless the user exists."""
    if context.store.users.root(email) is not None:
        return
    root = root_row(context, email)
    context.store.users.add_user(email, root.id)
    context.store.files.add(root)
    for row in context.store.events.naming(email):
        event = EventRecord(row)
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


def add_refresh_token(context: ServiceContext, token: TokenRow) -> str:
    """Store a refresh token for the user, the client and the scopes of an access token, and return it.

    Raises ValueError if the client is not registered.
    """
    if context.store.oauth.client(token.client) is None:
        raise ValueError(f"client is {token.client!r}, which is not registered; give lab.oauth_client('My program')")
    secret = context.ids.refresh_token()
    digest = digest_of(secret)
    with context.store.transaction():
        create_user(context, token.user)
        context.store.oauth.add_grant(GrantRow(digest, "refresh", digest, token.user, token.client, token.scopes))
    return secret


_ACCOUNT_NAME = re.compile(r"[a-z](?:[a-z0-9-]{0,28}[a-z0-9])?")
_PROJECT = "notebooks"


def create_oauth_client(
    context: ServiceContext,
    name: str,
    redirect_uris: Sequence[str] = (),
    *,
    public: bool = False,
    base_url: str = IN_PROCESS_URL,
) -> dict[str, Any]:
    """Register an OAuth client and return its credentials. Raises ValueError for an invalid redirect URI."""
    client_id, secret = f"{context.ids.number()}.apps.{context.policy.domain}", context.ids.secret()
    addresses = [_check_redirect_uri(uri) for uri in redirect_uris]
    row = ClientRow(client_id, name, "" if public else digest_of(secret), " ".join(addresses))
    with context.store.transaction():
        context.store.oauth.add_client(row)
    credentials = {
        "client_id": client_id,
        "project_id": _PROJECT,
        "auth_uri": f"{base_url}/authorize",
        "token_uri": f"{base_url}/token",
        "redirect_uris": list(addresses),
    }
    return credentials if public else {**credentials, "client_secret": secret}


def _check_redirect_uri(address: str) -> str:
    parts = urlsplit(address)
    if not parts.scheme or parts.fragment or not address.isascii() or any(character.isspace() for character in address):
        raise ValueError(f"{address!r} is not a redirect URI: give an absolute address without a fragment")
    if parts.scheme in ("http", "https") and not parts.hostname:
        raise ValueError(f"{address!r} is not a redirect URI: the host is missing")
    if parts.scheme in ("javascript", "data", "vbscript", "file"):
        raise ValueError(f"{address!r} is not a redirect URI: the scheme {parts.scheme} is not allowed")
    return address


def create_service_account(
    context: ServiceContext,
    name: str,
    *,
    delegation: Iterable[str] = (),
    client: str = "notebook",
    base_url: str = IN_PROCESS_URL,
) -> dict[str, str]:
    """Create a service account, or a new key for an existing account, and return the key file.

    `name` is the local part of the account's e-mail address. `delegation` has the scopes in which the account may act
    for users, and `base_url` is the address of the service in the key file. Stores only the public key. Raises
    ValueError for an invalid name or scope, and ImportError without the extra `identity`.
    """
    if not _ACCOUNT_NAME.fullmatch(name):
        raise ValueError(
            f"name={name!r} must have 1 to 30 characters a-z, 0-9 or -, begin with a letter and not end with -"
        )
    email = f"{name}@{_PROJECT}.iam.{context.policy.domain}"
    allowed = scope_names(list(delegation), context.policy, context.names)
    private, public = new_key()
    row = AccountRow(email, client, context.ids.key_id(), public, allowed)
    with context.store.transaction():
        create_user(context, email)
        context.store.oauth.add_account(row)
    return {
        "type": "service_account",
        "project_id": _PROJECT,
        "private_key_id": row.key_id,
        "private_key": private,
        "client_email": email,
        "client_id": client,
        "auth_uri": f"{base_url}/authorize",
        "token_uri": f"{base_url}/token",
    }
