"""The accounts of a class, and the file that lists their tokens."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Literal, NamedTuple

from ...core.api.operations import ALL_SCOPES
from ...core.errors.catalogue import ApiError, refuse
from ...local.saving import save_bytes
from ..dispatch.service_context import ServiceContext
from .access_tokens import TokenVerifier
from .tables import TokenRow
from .users import record_token

TOKEN_FILE = "sign-in-tokens.csv"
"""The name of the file in the folder of a store."""

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
ROLES: dict[str, ClassRole] = {"student": "student", "teacher": "teacher"}
"""The roles by their names in a roster."""


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
        raise ApiError(refuse("badToken").rows, [("WWW-Authenticate", 'Bearer realm="svc class"')])
    if account.role != "teacher":
        raise refuse("teacherOnly")
