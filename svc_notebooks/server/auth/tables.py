"""The tables of users, tokens, generated ids, OAuth clients and grants."""

from __future__ import annotations

from hashlib import sha256
from typing import NamedTuple

from ..store.engine import Database, TableGroup, column_names, inserting
from ..store.schema import accounts, clients, generated, granted, grants, meta, tokens, users


class TokenRow(NamedTuple):
    """A database row of an access token. `expires` is in Unix seconds, or None for a token that never expires."""

    user: str
    client: str
    scopes: str
    service_account: int
    expires: float | None


_ADD_USER = inserting(users, ("email", "root"))
_ADD_TOKEN = inserting(tokens, ("digest", *TokenRow._fields), otherwise="REPLACE")
_TOKEN = f"SELECT {column_names(TokenRow._fields)} FROM tokens WHERE digest = :digest"
_ADD_ID = inserting(generated, ("id", "owner", "used"))
_SET_NAMED_VALUE = inserting(meta, ("name", "value"), otherwise="REPLACE")


class Users(TableGroup):
    """The tables of users, of their tokens and generated ids, and of named values about the store."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._roots: dict[str, str] = {}  # a cache: root ids never change, and almost every request reads one

    def forget(self) -> None:
        """Clear the cached ids of root folders. Called after the database was replaced."""
        self._roots = {}  # a new dict, because another thread may be adding a row of the former database to the old one

    def add_user(self, email: str, root: str) -> None:
        """Add a user and the id of their root folder."""
        self._database.queue_change(_ADD_USER, {"email": email, "root": root})

    def root(self, email: str) -> str | None:
        """Return the id of a user's root folder, or None if the user is unknown."""
        roots = self._roots
        if email not in roots and (
            row := self._database.fetch_one("SELECT root FROM users WHERE email = :email", {"email": email})
        ):
            roots[email] = row[0]
        return roots.get(email)

    def emails(self) -> list[str]:
        """Return the e-mail addresses of all users and service accounts, in alphabetical order."""
        return [email for (email,) in self._database.run("SELECT email FROM users ORDER BY email", {})]

    def add_token(self, secret: str, token: TokenRow) -> None:
        """Add an access token. A token with the same secret is replaced."""
        self._database.queue_change(_ADD_TOKEN, {"digest": digest_of(secret), **token._asdict()})

    def token(self, secret: str) -> TokenRow | None:
        """Return the row of the access token `secret`, or None if the token is unknown."""
        row = self._database.fetch_one(_TOKEN, {"digest": digest_of(secret)})
        return TokenRow._make(row) if row else None

    def add_id(self, file_id: str, owner: str) -> None:
        """Add a file id that was generated for a user, as an unused id."""
        self._database.queue_change(_ADD_ID, {"id": file_id, "owner": owner, "used": 0})

    def id_state(self, file_id: str) -> tuple[str, bool] | None:
        """Return the user for whom an id was generated, and whether the id was used. Returns None for other ids."""
        row = self._database.fetch_one("SELECT owner, used FROM generated WHERE id = :id", {"id": file_id})
        return (row[0], bool(row[1])) if row else None

    def use_id(self, file_id: str) -> None:
        """Mark a generated id as used. The id stays used even if its file is deleted."""
        self._database.queue_change("UPDATE generated SET used = 1 WHERE id = :id", {"id": file_id})

    def count_opening(self) -> int:
        """Increase the stored number of openings by one, and return the number of earlier openings."""
        before = int(self.named_value("openings") or "0")
        self.set_named_value("openings", str(before + 1))
        return before

    def named_value(self, name: str) -> str | None:
        """Return the named value `name`, such as "secret", or None if there is no such value."""
        row = self._database.fetch_one("SELECT value FROM meta WHERE name = :name", {"name": name})
        return str(row[0]) if row else None

    def set_named_value(self, name: str, value: str) -> None:
        """Set the named value `name` to `value`."""
        self._database.queue_change(_SET_NAMED_VALUE, {"name": name, "value": value})

    def ensure_named_value(self, name: str, new: str) -> str:
        """Return the named value `name`. If there is no such value, set it to `new` and return `new`."""
        value = self.named_value(name)
        if value is None:
            self.set_named_value(name, value := new)
        return value


def digest_of(secret: str) -> str:
    """Return the SHA-256 digest of a secret, in hexadecimal. The store has digests instead of secrets."""
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


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
    expires: float | None = None
    redirect: str = ""
    challenge: str = ""
    method: str = ""
    spent: int = 0


_ADD_CLIENT = inserting(clients, ClientRow._fields)
_CLIENT = f"SELECT {column_names(ClientRow._fields)} FROM clients WHERE id = :id"
_ADD_ACCOUNT = inserting(accounts, AccountRow._fields, otherwise="REPLACE")
_ACCOUNT = f"SELECT {column_names(AccountRow._fields)} FROM accounts WHERE email = :email"
_ADD_GRANT = inserting(grants, GrantRow._fields)
_GRANT = f"SELECT {column_names(GrantRow._fields)} FROM grants WHERE digest = :digest"
_ADD_GRANTED = inserting(granted, ("token", "family"))
_END_FAMILY = (
    "DELETE FROM tokens WHERE digest IN (SELECT token FROM granted WHERE family = :family)",
    "DELETE FROM granted WHERE family = :family",
    "DELETE FROM grants WHERE family = :family AND kind = 'refresh'",
)
_END_USER = (
    'DELETE FROM tokens WHERE "user" = :user',
    'DELETE FROM grants WHERE "user" = :user',
    "DELETE FROM granted WHERE token NOT IN (SELECT digest FROM tokens)",
)


class OAuth(TableGroup):
    """The tables of OAuth clients, service accounts, grants and access token families."""

    def add_client(self, row: ClientRow) -> None:
        """Add an OAuth client."""
        self._database.change(_ADD_CLIENT, row._asdict())

    def client(self, key: str) -> ClientRow | None:
        """Return the OAuth client with an id, or None if the id is unknown."""
        row = self._database.fetch_one(_CLIENT, {"id": key})
        return ClientRow._make(row) if row else None

    def add_account(self, row: AccountRow) -> None:
        """Add a service account. An account with the same e-mail address is replaced."""
        self._database.change(_ADD_ACCOUNT, row._asdict())

    def account(self, email: str) -> AccountRow | None:
        """Return the service account with an e-mail address, or None if the address is unknown."""
        row = self._database.fetch_one(_ACCOUNT, {"email": email})
        return AccountRow._make(row) if row else None

    def add_grant(self, row: GrantRow) -> None:
        """Add an authorization code or a refresh token."""
        self._database.change(_ADD_GRANT, row._asdict())

    def grant(self, secret: str) -> GrantRow | None:
        """Return the row of an authorization code or refresh token, or None if `secret` is unknown."""
        row = self._database.fetch_one(_GRANT, {"digest": digest_of(secret)})
        return GrantRow._make(row) if row else None

    def spend(self, grant: GrantRow) -> None:
        """Mark an authorization code as used."""
        self._database.change("UPDATE grants SET spent = 1 WHERE digest = :digest", {"digest": grant.digest})

    def add_token(self, secret: str, family: str) -> None:
        """Store the family of an access token. `secret` is the token."""
        self._database.change(_ADD_GRANTED, {"token": digest_of(secret), "family": family})

    def family(self, token: str) -> str | None:
        """Return the family of an access token, or None if the token has no family."""
        row = self._database.fetch_one("SELECT family FROM granted WHERE token = :token", {"token": digest_of(token)})
        return row[0] if row else None

    def end(self, family: str) -> None:
        """Revoke all access and refresh tokens of a family."""
        for statement in _END_FAMILY:
            self._database.change(statement, {"family": family})

    def end_user(self, user: str) -> None:
        """Revoke all access tokens, authorization codes and refresh tokens of a user."""
        for statement in _END_USER:
            self._database.change(statement, {"user": user})

    def end_all(self) -> None:
        """Revoke all tokens and authorization codes of all users, and remove all service accounts."""
        self._database.delete_all(tokens, granted, grants, accounts)

    def end_token(self, token: str) -> bool:
        """Revoke an access token. Returns False if there is no such token."""
        return self._database.change("DELETE FROM tokens WHERE digest = :digest", {"digest": digest_of(token)}) > 0
