"""The tables of OAuth clients, service accounts, authorization codes and tokens. They store digests of secrets only."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import bindparam, delete, select, update

from ..database.engine import Prepared, TableGroup, inserting
from ..database.schema import accounts, clients, granted, grants, tokens
from .users import digest_of


class ClientRow(NamedTuple):
    """A database row of an OAuth client.

    `secret` is a digest, or "" for a public client. `redirects` are joined by spaces.
    """

    id: str
    name: str
    secret: str
    redirects: str


class AccountRow(NamedTuple):
    """A database row of a service account. `delegation` has the scopes for acting as a user, separated by spaces."""

    email: str
    client: str
    key_id: str
    public_key: str
    delegation: str


class GrantRow(NamedTuple):
    """A database row of an authorization code or refresh token. Tokens of the same consent have the same `family`."""

    digest: str
    kind: str
    family: str
    user: str
    client: str
    scopes: str
    expires: float | None
    redirect: str
    challenge: str
    method: str
    spent: int


_ADD_CLIENT = inserting(clients, ClientRow._fields)
_CLIENT = Prepared(select(*(clients.c[name] for name in ClientRow._fields)).where(clients.c.id == bindparam("key")))
_ADD_ACCOUNT = inserting(accounts, AccountRow._fields, otherwise="REPLACE")
_ACCOUNT = Prepared(
    select(*(accounts.c[name] for name in AccountRow._fields)).where(accounts.c.email == bindparam("key"))
)
_ADD_GRANT = inserting(grants, GrantRow._fields)
_GRANT = Prepared(select(*(grants.c[name] for name in GrantRow._fields)).where(grants.c.digest == bindparam("key")))
_SPEND = Prepared(update(grants).where(grants.c.digest == bindparam("key")).values(spent=1))
_ADD_GRANTED = inserting(granted, ("token", "family"))
_FAMILY = Prepared(select(granted.c.family).where(granted.c.token == bindparam("key")))
_END_TOKENS = Prepared(
    delete(tokens).where(tokens.c.digest.in_(select(granted.c.token).where(granted.c.family == bindparam("family"))))
)
_END_GRANTED = Prepared(delete(granted).where(granted.c.family == bindparam("family")))
_END_GRANTS = Prepared(delete(grants).where(grants.c.family == bindparam("family"), grants.c.kind == "refresh"))
_END_TOKEN = Prepared(delete(tokens).where(tokens.c.digest == bindparam("key")))
_END_TOKENS_OF = Prepared(delete(tokens).where(tokens.c.user == bindparam("user")))
_END_GRANTS_OF = Prepared(delete(grants).where(grants.c.user == bindparam("user")))
_END_FAMILIES = Prepared(delete(granted).where(granted.c.token.not_in(select(tokens.c.digest))))


class OAuth(TableGroup):
    """The tables of OAuth clients, service accounts, grants and access token families."""

    def add_client(self, row: ClientRow) -> None:
        """Add an OAuth client."""
        self._database.change(_ADD_CLIENT, row._asdict())

    def client(self, key: str) -> ClientRow | None:
        """Return the OAuth client with an id, or None if the id is unknown."""
        row = self._database.fetch_one(_CLIENT, {"key": key})
        return ClientRow._make(row) if row else None

    def add_account(self, row: AccountRow) -> None:
        """Add a service account. An account with the same e-mail address is replaced."""
        self._database.change(_ADD_ACCOUNT, row._asdict())

    def account(self, email: str) -> AccountRow | None:
        """Return the service account with an e-mail address, or None if the address is unknown."""
        row = self._database.fetch_one(_ACCOUNT, {"key": email})
        return AccountRow._make(row) if row else None

    def add_grant(self, row: GrantRow) -> None:
        """Add an authorization code or a refresh token."""
        self._database.change(_ADD_GRANT, row._asdict())

    def grant(self, secret: str) -> GrantRow | None:
        """Return the row of an authorization code or refresh token, or None if `secret` is unknown."""
        row = self._database.fetch_one(_GRANT, {"key": digest_of(secret)})
        return GrantRow._make(row) if row else None

    def spend(self, grant: GrantRow) -> None:
        """Mark an authorization code as used."""
        self._database.change(_SPEND, {"key": grant.digest})

    def add_token(self, secret: str, family: str) -> None:
        """Store the family of an access token. `secret` is the token."""
        self._database.change(_ADD_GRANTED, {"token": digest_of(secret), "family": family})

    def family(self, token: str) -> str | None:
        """Return the family of an access token, or None if the token has no family."""
        row = self._database.fetch_one(_FAMILY, {"key": digest_of(token)})
        return row[0] if row else None

    def end(self, family: str) -> None:
        """Revoke all access and refresh tokens of a family."""
        for statement in (_END_TOKENS, _END_GRANTED, _END_GRANTS):
            self._database.change(statement, {"family": family})

    def end_user(self, user: str) -> None:
        """Revoke all access tokens, authorization codes and refresh tokens of a user."""
        for statement in (_END_TOKENS_OF, _END_GRANTS_OF):
            self._database.change(statement, {"user": user})
        self._database.change(_END_FAMILIES, {})

    def end_all(self) -> None:
        """Revoke all tokens and authorization codes of all users, and remove all service accounts."""
        self._database.delete_all(tokens, granted, grants, accounts)

    def end_token(self, token: str) -> bool:
        """Revoke an access token. Returns False if there is no such token."""
        return self._database.change(_END_TOKEN, {"key": digest_of(token)}) > 0
