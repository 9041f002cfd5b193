"""Upgrades a PostgreSQL database of an older version of this package, one schema version after another.

The table svc_store contains the schema version. The first version on PostgreSQL is 4, and the numbers are not those of
SQLite databases (upgrades.py). To change the schema, change schema.py and append a function to `STEPS`, and also one to
the steps of upgrades.py if the tables of SQLite change. A step contains its own SQL and never uses schema.py, because
schema.py changes again later. New tables of postgres/schema.py need no step: each opening creates missing ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg

from ....core.files.fields import search_keys

# The schema version of the first databases on PostgreSQL.
FIRST = 4


def _to_version_5(driver: Any) -> None:
    """Add a column for the source of an unfinished migration between stores. It is NULL in a complete store."""
    driver.execute("ALTER TABLE svc_store ADD COLUMN migration text")


def _to_version_6(driver: Any) -> None:
    """Compare names in NFC. Only the files with other characters than those of ASCII have other keys."""
    other = r"name ~ '[^ -~]' OR extra LIKE '%\\u%'"
    for seq, name, extra in driver.execute(f"SELECT seq, name, extra FROM files WHERE {other}").fetchall():
        driver.execute(
            "UPDATE files SET name_key = %(name_key)s, natural_key = %(natural_key)s, words = %(words)s,"
            " all_words = %(all_words)s WHERE seq = %(seq)s",
            {"seq": seq, **search_keys(name, extra)},
        )


# Step n upgrades a database from version `FIRST` + n to the next version.
STEPS: tuple[Callable[[Any], None], ...] = (_to_version_5, _to_version_6)

VERSION = FIRST + len(STEPS)

_PATIENCE = "SET LOCAL lock_timeout = '2s'"  # a service that has ended may still have its lock for a moment


def version(driver: Any) -> int:
    """Return the schema version of a database."""
    (number,) = driver.execute("SELECT version FROM svc_store").fetchone()
    return int(number)


def upgrade(driver: Any, claim: str) -> int | None:
    """Upgrade a database in the open transaction, and return the version before, or None if it is the latest already.

    `claim` is SQL that waits until no service uses the database, and then keeps services out until the transaction
    ends. Raises OSError if a service uses the database, or for a version that this package does not support.
    """
    before = version(driver)
    if before == VERSION:
        return None
    if not FIRST <= before < VERSION:
        raise OSError(
            f"the PostgreSQL database has schema version {before}, and this package supports versions {FIRST} to"
            f" {VERSION}: use the version of svc-notebooks that wrote the database, or a newer version"
        )
    try:
        driver.execute(_PATIENCE)
        driver.execute(claim)
    except psycopg.errors.LockNotAvailable:
        raise OSError(
            f"the PostgreSQL database has the older schema version {before} and is in use: stop all services of the"
            " older version, and then start one of this version, which upgrades the database"
        ) from None
    for step in STEPS[before - FIRST :]:
        step(driver)
    driver.execute("UPDATE svc_store SET version = %s", (VERSION,))
    return before
