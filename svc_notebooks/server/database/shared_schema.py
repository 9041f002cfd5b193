"""The tables with which several processes share a store on PostgreSQL.

They are not in schema.py, because they belong to the processes and not to the state that is saved, restored or loaded.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, DateTime, MetaData, Table

from .schema import Text

shared_metadata = MetaData()

claims = Table(
    "svc_claims",
    shared_metadata,
    Column("session", Text, primary_key=True),
    Column("number", BigInteger, nullable=False),  # of the last request that claimed the upload session
)

leases = Table(
    "svc_leases",
    shared_metadata,
    Column("channel", BigInteger, primary_key=True, autoincrement=False),
    Column("holder", BigInteger, nullable=False),  # the number of the opening whose process delivers the messages
    Column("until", DateTime(timezone=True), nullable=False),
)

discarded = Table(
    "svc_discarded",
    shared_metadata,
    Column("part", Text, primary_key=True),  # a part that no row names, and that a download may still read
    Column("since", DateTime(timezone=True), nullable=False),
)
