"""Reads the roster of a class and the other options of `svc-notebooks serve --class`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

from ..core.events.value_checks import is_address
from ..server.auth.class_accounts import ROLES, ClassAccount
from ..server.auth.token_file import TOKEN_FILE
from ..server.context.quotas import Quota

_QUOTA_OPTIONS = {"bytes": "quota_bytes", "requests_per_minute": "requests_per_minute", "channels": "channels"}


class ClassOptions(NamedTuple):
    """The accounts of a class, the file of their sign-in tokens and the quota of each student."""

    accounts: list[ClassAccount]
    token_file: Path
    quota: Quota


def read_class(options: argparse.Namespace) -> ClassOptions | None:
    """Return the class of `serve --class`, or None without a class. Raises ValueError for options that do not fit."""
    quotas = {field: value for field, option in _QUOTA_OPTIONS.items() if (value := getattr(options, option))}
    if options.roster is None:
        if quotas or options.tokens:
            raise ValueError(
                "--tokens, --quota-bytes, --requests-per-minute and --channels apply only to a class; add --class FILE"
            )
        return None
    if options.store is None:
        raise ValueError("--class needs the folder in which the files of the class are stored; add --store DIR")
    if options.token or options.control_token:
        raise ValueError("--token and --control-token cannot be used with --class: each account has its own token")
    if "://" in options.store and options.tokens is None:
        raise ValueError("--class with a database needs a file for the sign-in tokens; add --tokens FILE")
    token_file = options.tokens or Path(options.store) / TOKEN_FILE
    return ClassOptions(read_roster_accounts(options.roster), token_file, Quota(**quotas))


def read_roster_accounts(path: Path) -> list[ClassAccount]:
    """Read the accounts in a CSV file with the columns name, e-mail and role. An empty role is that of a student.

    Raises ValueError, which names the line and the column, for an invalid value. At least one account is a teacher.
    """
    from .marks.roster import read_rows  # which imports the course

    accounts: dict[str, ClassAccount] = {}
    rows = read_rows(path)
    if not rows or not {"name", "email"} <= rows[0][1].keys():
        raise ValueError(f"{path}, line 1: the columns must be name, e-mail and role, and one row for each person")
    for line, row in rows:
        name, email, role = row["name"], row["email"].lower(), row.get("role", "").casefold() or "student"
        if not name:
            raise ValueError(f"{path}, line {line}, column name: the name is missing")
        if not is_address(email):
            raise ValueError(f"{path}, line {line}, column e-mail: {email[:60]!r} is not an e-mail address")
        if email in accounts:
            raise ValueError(f"{path}, line {line}, column e-mail: {email} is in the roster twice")
        if role not in ROLES:
            raise ValueError(f"{path}, line {line}, column role: {role[:60]!r} is not a role; give student or teacher")
        accounts[email] = ClassAccount(name, email, ROLES[role])
    if all(account.role == "student" for account in accounts.values()):
        raise ValueError(f"{path}, column role: the class has no teacher; give at least one row the role teacher")
    return list(accounts.values())
