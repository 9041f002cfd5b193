"""The users, access tokens and generated ids, and facts about the store itself."""

from __future__ import annotations

from hashlib import sha256
from typing import NamedTuple

from sqlalchemy import bindparam, insert, select, update

from ..database.engine import Database, Prepared, TableGroup, inserting
from ..database.schema import generated, meta, tokens, users


class TokenRow(NamedTuple):
    """The user and client of an access token. It expires at a time in Unix seconds, or never for None."""

    user: str
    client: str
    scopes: str
    service_account: int
    expires: float | None


_ADD_USER = inserting(users, ("email", "root"))
_EMAILS = Prepared(select(users.c.email).order_by(users.c.email))
_ROOT = Prepared(select(users.c.root).where(users.c.email == bindparam("email")))
_ADD_TOKEN = inserting(tokens, ("digest", *TokenRow._fields), otherwise="REPLACE")
_TOKEN = Prepared(select(*(tokens.c[name] for name in TokenRow._fields)).where(tokens.c.digest == bindparam("digest")))
_ADD_ID = Prepared(insert(generated).values(id=bindparam("id"), owner=bindparam("owner"), used=0))
_ID = Prepared(select(generated.c.owner, generated.c.used).where(generated.c.id == bindparam("id")))
_USE_ID = Prepared(update(generated).where(generated.c.id == bindparam("key")).values(used=1))
_ADD_FACT = inserting(meta, ("name", "value"))
_SET_FACT = Prepared(update(meta).where(meta.c.name == bindparam("key")).values(value=bindparam("value")))
_FACT = Prepared(select(meta.c.value).where(meta.c.name == bindparam("name")))


class Users(TableGroup):
    """The users, their tokens and ids, and facts about the store."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._roots: dict[str, str] = {}  # cached: they never change, and almost every request needs one

    def forget(self) -> None:
        """Drop the cached roots, after the database was replaced."""
        self._roots = {}  # a new dict, because another thread may be adding a row of the former database to the old one

    def add_user(self, email: str, root: str) -> None:
        """Add a user and the id of their root folder."""
        self._database.change(_ADD_USER, {"email": email, "root": root})

    def root(self, email: str) -> str | None:
        """Return the id of a user's root folder, or None for an unknown user."""
        roots = self._roots
        if email not in roots and (row := self._database.fetch_one(_ROOT, {"email": email})):
            roots[email] = row[0]
        return roots.get(email)

    def emails(self) -> list[str]:
        """Return all users and service accounts, in alphabetical order."""
        return [email for (email,) in self._database.run(_EMAILS, {})]

    def add_token(self, secret: str, token: TokenRow) -> None:
        """Add an access token. A token with the same secret is replaced."""
        self._database.change(_ADD_TOKEN, {"digest": digest_of(secret), **token._asdict()})

    def token(self, secret: str) -> TokenRow | None:
        """Return the access token of a secret, or None."""
        row = self._database.fetch_one(_TOKEN, {"digest": digest_of(secret)})
        return TokenRow._make(row) if row else None

    def add_id(self, file_id: str, owner: str) -> None:
        """Record an id that was generated for a user."""
        self._database.change(_ADD_ID, {"id": file_id, "owner": owner})

    def id_state(self, file_id: str) -> tuple[str, bool] | None:
        """Return the user for whom an id was generated and whether it was used, or None."""
        row = self._database.fetch_one(_ID, {"id": file_id})
        return (row[0], bool(row[1])) if row else None

    def use_id(self, file_id: str) -> None:
        """Mark an id as used, which it stays even if its file is deleted."""
        self._database.change(_USE_ID, {"key": file_id})

    def count_opening(self) -> int:
        """Count an opening of the store, and return the number of earlier ones."""
        before = int(self.fact("openings", "0"))
        self._database.change(_SET_FACT, {"key": "openings", "value": str(before + 1)})
        return before

    def set_fact(self, name: str, value: str) -> None:
        """Set a fact about the store."""
        if self.fact(name, value) != value:
            self._database.change(_SET_FACT, {"key": name, "value": value})

    def fact(self, name: str, otherwise: str) -> str:
        """Return a fact about the store. A new one is set to `otherwise`."""
        row = self._database.fetch_one(_FACT, {"name": name})
        if row:
            return str(row[0])
        self._database.change(_ADD_FACT, {"name": name, "value": otherwise})
        return otherwise


def digest_of(secret: str) -> str:
    """Return the digest under which a secret is stored."""
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
