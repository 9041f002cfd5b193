"""The tables with which several processes share a store on PostgreSQL.

They are not in schema.py, because they belong to the processes and not to the state that is saved, restored or loaded.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, Column, DateTime, Integer, MetaData, Table

from ..schema import Text

shared_metadata = MetaData()


def _table(name: str, *columns: Column[Any]) -> Table:
    return Table(name, shared_metadata, *columns)


claims = _table(
    "svc_claims",
    Column("session", Text, primary_key=True),
    Column("number", BigInteger, nullable=False),  # of the last request that claimed the upload session
)

leases = _table(
    "svc_leases",
    Column("channel", BigInteger, primary_key=True, autoincrement=False),
    Column("holder", BigInteger, nullable=False),  # the number of the opening whose process delivers the messages
    Column("until", DateTime(timezone=True), nullable=False),
)

discarded = _table(
    "svc_discarded",
    Column("part", Text, primary_key=True),  # a part that no row names, and that a download may still read
    Column("since", DateTime(timezone=True), nullable=False),
)

values = _table(
    "svc_values",
    Column("key", Text, primary_key=True),
    Column("value", Text, nullable=False),  # JSON
    Column("version", BigInteger, nullable=False),  # counts the changes of all values that were announced
)

workers = _table(
    "svc_workers",
    Column("opening", BigInteger, primary_key=True, autoincrement=False),
    Column("pid", Integer, nullable=False),  # of the server's process for the connection that receives announcements
    Column("started", DateTime(timezone=True), nullable=False),  # when that process was started
    Column("seen", BigInteger, nullable=False),  # the last version of `values` that the worker follows
)

journal, deliveries = (
    _table(
        name,
        Column("n", BigInteger, primary_key=True, autoincrement=True),
        Column("document", Text, nullable=False),  # JSON
    )
    for name in ("svc_journal", "svc_deliveries")
)

windows = _table(
    "svc_windows",
    Column("user", Text, primary_key=True),
    Column("kind", Text, primary_key=True),  # which of the user's limits counts here
    Column("ends", BigInteger, nullable=False),  # in Unix microseconds, on the clock of the service
    Column("spent", BigInteger, nullable=False),
)
