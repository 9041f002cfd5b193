"""Which parts a content is made of, and its digests once somebody has asked for them."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import bindparam, delete, insert, select, update

from ..blobs.blob_store import StoredPart
from ..database.engine import Database, Prepared, inserting
from ..database.schema import contents, rope


class PartRange(NamedTuple):
    """Bytes `start` to `stop` (exclusive) of a content are this part; `checksum` as in StoredPart."""

    start: int
    stop: int
    part: str
    checksum: int | None = None

    @property
    def stored(self) -> StoredPart:
        """The part as it must be found."""
        return StoredPart(self.part, self.stop - self.start, self.checksum)


class Digests(NamedTuple):
    """Of a content, in hexadecimal."""

    md5: str
    sha1: str
    sha256: str


_BEGIN = Prepared(insert(contents).values(md5=None))
_APPEND = inserting(rope, ("content", *PartRange._fields))
_PIECES = Prepared(
    select(*(rope.c[name] for name in PartRange._fields))
    .where(
        rope.c.content == bindparam("content"),
        rope.c.start < bindparam("last"),
        rope.c.stop > bindparam("first"),
    )
    .order_by(rope.c.start)
)
_ALL = Prepared(select(rope.c.part).where(rope.c.content == bindparam("content")))
_IS_THERE = Prepared(select(contents.c.id).where(contents.c.id == bindparam("content")))
_KNOWN = Prepared(select(rope.c.part))
_STORED = Prepared(select(rope.c.part, rope.c.stop - rope.c.start, rope.c.checksum).order_by(rope.c.part))
_WITHOUT_CHECKSUM = Prepared(
    select(rope.c.content, *(rope.c[name] for name in PartRange._fields)).where(rope.c.checksum.is_(None))
)
_KEEP_CHECKSUM = Prepared(
    update(rope)
    .where(rope.c.content == bindparam("number"), rope.c.start == bindparam("first"))
    .values(checksum=bindparam("checksum"))
)
_DROP_ROPE = Prepared(delete(rope).where(rope.c.content == bindparam("content")))
_DROP = Prepared(delete(contents).where(contents.c.id == bindparam("content")))
_DIGESTS = Prepared(
    select(contents.c.md5, contents.c.sha1, contents.c.sha256).where(contents.c.id == bindparam("content"))
)
_KEEP_DIGESTS = Prepared(
    update(contents)
    .where(contents.c.id == bindparam("content"))
    .values({name: bindparam(name) for name in Digests._fields})
)


class Contents:
    """The ropes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self) -> int:
        """A new content without a byte; its number."""
        return self._database.insert(_BEGIN, {"md5": None})

    def is_there(self, content: int) -> bool:
        """Whether this content has begun and was not forgotten."""
        return self._database.fetch_one(_IS_THERE, {"content": content}) is not None

    def append(self, content: int, piece: PartRange) -> None:
        """Put a part behind what is there."""
        self._database.change(_APPEND, {"content": content, **piece._asdict()})

    def pieces(self, content: int, first: int, last: int) -> list[PartRange]:
        """The parts that bytes `first` to `last` (exclusive) lie in, in order."""
        values = {"content": content, "first": first, "last": last}
        return list(map(PartRange._make, self._database.run(_PIECES, values)))

    def drop(self, content: int) -> list[str]:
        """Forget a content; the parts that nothing refers to any more."""
        parts = [part for (part,) in self._database.run(_ALL, {"content": content})]
        self._database.change(_DROP_ROPE, {"content": content})
        self._database.change(_DROP, {"content": content})
        return parts

    def parts(self) -> list[StoredPart]:
        """Every part that a content refers to, in the order of the keys."""
        return [StoredPart._make(row) for row in self._database.run(_STORED, {})]

    def without_checksum(self) -> list[tuple[int, PartRange]]:
        """The parts that have no checksum, each behind the number of its content."""
        return [(content, PartRange._make(row)) for content, *row in self._database.run(_WITHOUT_CHECKSUM, {})]

    def keep_checksum(self, content: int, piece: PartRange) -> None:
        """Record the checksum of a part that had none."""
        values = {"number": content, "first": piece.start, "checksum": piece.checksum}
        self._database.change(_KEEP_CHECKSUM, values)

    def known_parts(self) -> set[str]:
        """Every part that a content refers to."""
        return {part for (part,) in self._database.run(_KNOWN, {})}

    def digests(self, content: int) -> Digests | None:
        """The digests, if they were asked for before."""
        row = self._database.fetch_one(_DIGESTS, {"content": content})
        return Digests._make(row) if row and row[0] else None

    def keep_digests(self, content: int, digests: Digests) -> None:
        """Remember digests for the next time."""
        self._database.change(_KEEP_DIGESTS, {"content": content, **digests._asdict()})
