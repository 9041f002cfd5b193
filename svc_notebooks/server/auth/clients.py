"""Registers OAuth clients and service accounts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TypedDict
from urllib.parse import urlsplit

from ...core.auth.assertions import new_key
from ..dispatch.caller import scope_names
from ..dispatch.service_context import ServiceContext
from .tables import AccountRow, ClientRow, digest_of
from .users import create_user

_ACCOUNT_NAME = re.compile(r"[a-z](?:[a-z0-9-]{0,28}[a-z0-9])?")
_PROJECT = "notebooks"


class ClientCredentials(TypedDict, total=False):
    """The credentials of an OAuth client. A public client has no secret."""

    client_id: str
    project_id: str
    auth_uri: str
    token_uri: str
    redirect_uris: list[str]
    client_secret: str


class ServiceAccountKey(TypedDict):
    """The content of the JSON key file of a service account."""

    type: str
    project_id: str
    private_key_id: str
    private_key: str
    client_email: str
    client_id: str
    auth_uri: str
    token_uri: str


def create_oauth_client(
    context: ServiceContext, name: str, redirect_uris: Sequence[str], *, public: bool, base_url: str
) -> ClientCredentials:
    """Register an OAuth client and return its credentials. Raises ValueError for an invalid redirect URI."""
    client_id, secret = f"{context.ids.number()}.apps.{context.policy.domain}", context.ids.secret()
    addresses = [_check_redirect_uri(uri) for uri in redirect_uris]
    row = ClientRow(client_id, name, "" if public else digest_of(secret), " ".join(addresses))
    with context.store.transaction():
        context.store.oauth.add_client(row)
    credentials: ClientCredentials = {
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
    context: ServiceContext, name: str, delegation: Iterable[str], *, client: str, base_url: str
) -> ServiceAccountKey:
    """Create a service account, or a new key for an existing account, and return the key file.

    Stores only the public key. Raises ValueError for an invalid name or scope, and ImportError without the extra
    `identity`.
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
