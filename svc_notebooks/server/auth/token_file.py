"""Reads and writes the file with the sign-in tokens of a class.

The database has digests of tokens only. So the tokens of a class are in this file, which only its owner can read. It is
in the folder of the store, or at a path that the teacher names.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import NamedTuple

from ...local.saving import save_bytes

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

    def without_role(self) -> TokenFileRow:
        """Return the row of an account that the roster does not name."""
        return self._replace(role=_NO_ROLE)


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
