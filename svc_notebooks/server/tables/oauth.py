"""OAuth clients, service accounts, and what was granted: codes and refresh tokens, of which only digests are kept."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import bindparam, delete, select, update

from ..database.engine import Database, Prepared, inserting
from ..database.schema import accounts, clients, granted, grants, tokens
from .users import digest_of


class ClientRow(NamedTuple):
    """An OAuth client; `secret` is a digest, "" for a public client; `redirects` are divided by blanks."""

    id: str
    name: str
    secret: str
    redirects: str


class AccountRow(NamedTuple):
    """A service account; `delegation`: the scopes in which it may act for users, divided by blanks."""

    email: str
    client: str
    key_id: str
    public_key: str
    delegation: str


class GrantRow(NamedTuple):
    """A code or a refresh token; all that came from one consent are a family."""

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


class OAuth:
    """Who may ask for tokens, and with what."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add_client(self, row: ClientRow) -> None:
        """Register a client."""
        self._database.change(_ADD_CLIENT, row._asdict())

    def client(self, key: str) -> ClientRow | None:
        """A registered client."""
        row = self._database.fetch_one(_CLIENT, {"key": key})
        return ClientRow._make(row) if row else None

    def add_account(self, row: AccountRow) -> None:
        """Make a service account, or give one another key."""
        self._database.change(_ADD_ACCOUNT, row._asdict())

    def account(self, email: str) -> AccountRow | None:
        """A service account."""
        row = self._database.fetch_one(_ACCOUNT, {"key": email})
        return AccountRow._make(row) if row else None

    def add_grant(self, row: GrantRow) -> None:
        """A code or a refresh token is handed out."""
        self._database.change(_ADD_GRANT, row._asdict())

    def grant(self, secret: str) -> GrantRow | None:
        """What this code or refresh token stands for."""
        row = self._database.fetch_one(_GRANT, {"key": digest_of(secret)})
        return GrantRow._make(row) if row else None

    def spend(self, grant: GrantRow) -> None:
        """A code is used; it is good for no second time."""
        self._database.change(_SPEND, {"key": grant.digest})

    def add_token(self, secret: str, family: str) -> None:
        """An access token came from this family."""
        self._database.change(_ADD_GRANTED, {"token": digest_of(secret), "family": family})

    def family(self, token: str) -> str | None:
        """The family that an access token came from."""
        row = self._database.fetch_one(_FAMILY, {"key": digest_of(token)})
        return row[0] if row else None

    def end(self, family: str) -> None:
        """No token of this family is good any more."""
        for statement in (_END_TOKENS, _END_GRANTED, _END_GRANTS):
            self._database.change(statement, {"family": family})

    def end_token(self, token: str) -> bool:
        """One access token is good no more; False: it never was."""
        return self._database.change(_END_TOKEN, {"key": digest_of(token)}) > 0
