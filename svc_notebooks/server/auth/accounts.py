"""Creates users and registers clients and accounts; the accounts of a class, and the file that lists their tokens."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

from ...core.api.operations import ALL_SCOPES
from ...core.brand_names import IN_PROCESS_URL
from ...core.errors.catalogue import refuse
from ...core.events.fields import is_address
from ...core.oauth import new_key
from ...local.saving import save_bytes
from ..calendars.attendee_copies import emails_of, sync_attendee_copies
from ..calendars.event_resource import EventRecord
from ..dispatch.service_context import ServiceContext, scope_names
from ..files.metadata import root_row
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


# The name of the file in the folder of a store.
TOKEN_FILE = "sign-in-tokens.csv"

_PRIVATE = 0o600
_NO_ROLE = "not in the roster"


class TokenFileRow(NamedTuple):
    """A row of the file. `token` is "" if the sign-in token was revoked."""

    name: str
    email: str
    role: str
    token: str


def read_tokens(path: Path) -> dict[str, TokenFileRow]:
    """Return the rows by e-mail address, or no rows if the file does not exist. Raises ValueError for another file."""
    if not path.exists():
        return {}
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        text = ""
    head = text.partition("\n")[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=";" if ";" in head else ",")
    rows = [row for row in reader if row]
    if not rows or tuple(rows[0]) != TokenFileRow._fields or any(len(row) != len(rows[0]) for row in rows):
        raise ValueError(f"{path} exists and is not a file of sign-in tokens; move it, or name another file (--tokens)")
    return {row.email: row for row in map(TokenFileRow._make, rows[1:])}


def write_tokens(path: Path, rows: dict[str, TokenFileRow]) -> None:
    """Replace the file atomically. Only its owner can read it. Raises OSError."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([TokenFileRow._fields, *rows.values()])
    save_bytes(path, text.getvalue().encode(), overwrite=True, mode=_PRIVATE)
    path.chmod(_PRIVATE)


ClassRole = Literal["student", "teacher"]

# The roles by their names in a roster.
ROLES: dict[str, ClassRole] = {"student": "student", "teacher": "teacher"}


@dataclass(frozen=True, slots=True)
class ClassAccount:
    """A student or a teacher of a class. `email` is in lower case."""

    name: str
    email: str
    role: ClassRole


class ClassAccounts:
    """The accounts of a class. All other tokens, and service accounts, become invalid when the class is opened.

    Raises ValueError if the file at `path` is not a file of sign-in tokens, and OSError. Nothing has changed then.
    """

    def __init__(
        self, context: ServiceContext, verifier: TokenVerifier, accounts: Iterable[ClassAccount], path: Path
    ) -> None:
        self._context, self._verifier, self._path = context, verifier, path
        self._by_email = {account.email: account for account in accounts}
        self._lock = Lock()
        before = read_tokens(path)
        self._rows = {email: row._replace(role=_NO_ROLE) for email, row in before.items()}
        for email, account in self._by_email.items():
            token = before[email].token if email in before else context.ids.token()
            self._rows[email] = TokenFileRow(account.name, email, account.role, token)
        write_tokens(path, self._rows)  # before the database, so that no token is valid that the teacher cannot read
        self.apply()

    def apply(self) -> None:
        """Make the sign-in tokens the only valid tokens, at the start and after the state was replaced."""
        with self._context.store.transaction():
            self._context.store.oauth.end_all()
            for email in self._by_email:
                self._record(email)
        self._verifier.clear_cache()

    def role(self, email: str) -> ClassRole | None:
        """Return the role of a user, or None if the user is not in the class."""
        account = self._by_email.get(email)
        return account.role if account else None

    def caller(self, secret: str | None) -> ClassAccount | None:
        """Return the account of an access token, or None without a valid token of the class."""
        user = self._verifier.user_of(secret) if secret else None
        return self._by_email.get(user) if user else None

    def accounts(self) -> list[ClassAccount]:
        """Return the accounts in the order of the roster."""
        return list(self._by_email.values())

    def is_active(self, email: str) -> bool:
        """Return False if the sign-in token of an account was revoked."""
        return bool(self._rows[email].token)

    def revoke(self, email: str) -> None:
        """Revoke all tokens of an account at once. Raises ValueError for an address that is not in the class."""
        self._replace_token(email, "")

    def renew(self, email: str) -> str:
        """Revoke all tokens of an account, and return a new sign-in token. Raises ValueError as `revoke` does."""
        token = self._context.ids.token()
        self._replace_token(email, token)
        return token

    def _replace_token(self, email: str, token: str) -> None:
        if email not in self._by_email:
            raise ValueError(f"{email[:80]!r} is not the e-mail address of an account of this class")
        with self._lock:
            rows = {**self._rows, email: self._rows[email]._replace(token=token)}
            self._context.reserve.spend(lambda: write_tokens(self._path, rows))  # first, or a restart could undo it
            self._rows = rows
            self._context.reserve.spend(lambda: self._end_and_record(email))
            self._verifier.clear_cache()

    def _end_and_record(self, email: str) -> None:
        with self._context.store.transaction():
            self._context.store.oauth.end_user(email)
            self._record(email)

    def _record(self, email: str) -> None:
        row = TokenRow(email, "notebook", " ".join(ALL_SCOPES), 0, None)
        if token := self._rows[email].token:
            record_token(self._context, self._verifier, token, row)


def check_teacher(accounts: ClassAccounts, secret: str | None) -> None:
    """Raise ApiError, 401 without a valid token of the class and 403 for a student's token."""
    account = accounts.caller(secret)
    if account is None:
        raise refuse("badToken", headers=[("WWW-Authenticate", 'Bearer realm="svc class"')])
    if account.role != "teacher":
        raise refuse("teacherOnly")
