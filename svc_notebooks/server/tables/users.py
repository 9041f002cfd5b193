"""Users, access tokens, generated ids, and the few facts that the store keeps about itself."""

from __future__ import annotations

from hashlib import sha256
from typing import NamedTuple

from sqlalchemy import bindparam, insert, select, update

from ..database.engine import Database, Prepared, inserting
from ..database.schema import generated, meta, tokens, users


class TokenRow(NamedTuple):
    """Who an access token stands for; `expires` in Unix seconds, None: never."""

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


class Users:
    """Who there is, and what they were given."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._roots: dict[str, str] = {}  # they never change, and almost every request asks

    def forget(self) -> None:
        """Ask the database again: it has changed under us."""
        self._roots = {}  # another book: who is looking something up writes it into the old one

    def add_user(self, email: str, root: str) -> None:
        """A new user, and the id of the folder that all of theirs is in."""
        self._database.change(_ADD_USER, {"email": email, "root": root})

    def root(self, email: str) -> str | None:
        """The id of a user's root folder; None: there is no such user."""
        roots = self._roots
        if email not in roots and (row := self._database.fetch_one(_ROOT, {"email": email})):
            roots[email] = row[0]
        return roots.get(email)

    def emails(self) -> list[str]:
        """All users, service accounts among them, in alphabetical order."""
        return [email for (email,) in self._database.run(_EMAILS, {})]

    def add_token(self, secret: str, token: TokenRow) -> None:
        """Let the bearer of this secret in; a secret that is known already stands for the new token."""
        self._database.change(_ADD_TOKEN, {"digest": digest_of(secret), **token._asdict()})

    def token(self, secret: str) -> TokenRow | None:
        """What this secret stands for."""
        row = self._database.fetch_one(_TOKEN, {"digest": digest_of(secret)})
        return TokenRow._make(row) if row else None

    def add_id(self, file_id: str, owner: str) -> None:
        """An id that was given to this user to use."""
        self._database.change(_ADD_ID, {"id": file_id, "owner": owner})

    def id_state(self, file_id: str) -> tuple[str, bool] | None:
        """To whom this id was given, and whether it was used."""
        row = self._database.fetch_one(_ID, {"id": file_id})
        return (row[0], bool(row[1])) if row else None

    def use_id(self, file_id: str) -> None:
        """From now on the id is used, whatever becomes of its file."""
        self._database.change(_USE_ID, {"key": file_id})

    def count_opening(self) -> int:
        """How often the store was opened before this time."""
        before = int(self.fact("openings", "0"))
        self._database.change(_SET_FACT, {"key": "openings", "value": str(before + 1)})
        return before

    def set_fact(self, name: str, value: str) -> None:
        """Another answer to `fact` from now on."""
        if self.fact(name, value) != value:
            self._database.change(_SET_FACT, {"key": name, "value": value})

    def fact(self, name: str, otherwise: str) -> str:
        """A fact about the store; the first answer is kept."""
        row = self._database.fetch_one(_FACT, {"name": name})
        if row:
            return str(row[0])
        self._database.change(_ADD_FACT, {"name": name, "value": otherwise})
        return otherwise


def digest_of(secret: str) -> str:
    """What is kept of a secret."""
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
