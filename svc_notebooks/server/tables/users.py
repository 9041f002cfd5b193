"""The tables of users, access tokens and generated ids, and of named values about the store itself."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import NamedTuple

from sqlalchemy import bindparam, insert, select, update

from ..database.engine import Database, Prepared, TableGroup, inserting
from ..database.schema import generated, meta, tokens, users


class TokenRow(NamedTuple):
    """A database row of an access token. `expires` is in Unix seconds, or None for a token that never expires."""

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
        if email not in roots and (row := self._database.fetch_one(_ROOT, {"email": email})):
            roots[email] = row[0]
        return roots.get(email)

    def emails(self) -> list[str]:
        """Return the e-mail addresses of all users and service accounts, in alphabetical order."""
        return [email for (email,) in self._database.run(_EMAILS, {})]

    def add_token(self, secret: str, token: TokenRow) -> None:
        """Add an access token. A token with the same secret is replaced."""
        self._database.queue_change(_ADD_TOKEN, {"digest": digest_of(secret), **token._asdict()})

    def token(self, secret: str) -> TokenRow | None:
        """Return the row of the access token `secret`, or None if the token is unknown."""
        row = self._database.fetch_one(_TOKEN, {"digest": digest_of(secret)})
        return TokenRow._make(row) if row else None

    def expect_token(self, secret: str, check: Callable[[TokenRow | None], None]) -> None:
        """Look up an access token together with the next statement of this thread, and pass its row to `check`.

        `Store.confirm_token` looks it up at once, if there was no statement.
        """
        self._database.expect(
            _TOKEN, {"digest": digest_of(secret)}, lambda rows: check(TokenRow._make(rows[0]) if rows else None)
        )

    def add_id(self, file_id: str, owner: str) -> None:
        """Add a file id that was generated for a user, as an unused id."""
        self._database.queue_change(_ADD_ID, {"id": file_id, "owner": owner})

    def id_state(self, file_id: str) -> tuple[str, bool] | None:
        """Return the user for whom an id was generated, and whether the id was used. Returns None for other ids."""
        row = self._database.fetch_one(_ID, {"id": file_id})
        return (row[0], bool(row[1])) if row else None

    def use_id(self, file_id: str) -> None:
        """Mark a generated id as used. The id stays used even if its file is deleted."""
        self._database.queue_change(_USE_ID, {"key": file_id})

    def count_opening(self) -> int:
        """Increase the stored number of openings by one, and return the number of earlier openings."""
        before = int(self.fact("openings", "0"))
        self._database.queue_change(_SET_FACT, {"key": "openings", "value": str(before + 1)})
        return before

    def set_fact(self, name: str, value: str) -> None:
        """Set the named value `name`, such as "secret", to `value`."""
        if self.fact(name, value) != value:
            self._database.queue_change(_SET_FACT, {"key": name, "value": value})

    def fact(self, name: str, otherwise: str) -> str:
        """Return the named value `name`. If there is no such value, set it to `otherwise` and return `otherwise`."""
        value = self.find_fact(name)
        if value is not None:
            return value
        self._database.queue_change(_ADD_FACT, {"name": name, "value": otherwise})
        return otherwise

    def find_fact(self, name: str) -> str | None:
        """Return the named value `name`, or None if there is no such value."""
        row = self._database.fetch_one(_FACT, {"name": name})
        return str(row[0]) if row else None


def digest_of(secret: str) -> str:
    """Return the SHA-256 digest of a secret, in hexadecimal. The store has digests instead of secrets."""
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
