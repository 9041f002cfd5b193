"""The tables of stored contents, of their parts and of their digests."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import bindparam, delete, insert, select, update

from .blob_store import StoredPart
from .engine import Prepared, TableGroup, inserting
from .schema import contents, rope


class PartRange(NamedTuple):
    """The key of the part with the bytes `start` to `stop` (exclusive) of a content, and the part's CRC-32 or None."""

    start: int
    stop: int
    part: str
    checksum: int | None = None

    @property
    def stored(self) -> StoredPart:
        """The key, size and checksum of the part, without its position in the content."""
        return StoredPart(self.part, self.stop - self.start, self.checksum)


class Digests(NamedTuple):
    """The digests of a content, as hexadecimal strings."""

    md5: str
    sha1: str
    sha256: str


_BEGIN = Prepared(insert(contents).values(md5=None).returning(contents.c.id))
_APPEND = inserting(rope, ("content", *PartRange._fields))
_EXTEND = Prepared(
    update(rope)
    .where(rope.c.content == bindparam("number"), rope.c.start == bindparam("first"), rope.c.part == bindparam("key"))
    .values(stop=bindparam("end"), checksum=bindparam("crc"))
)
_PIECES = Prepared(
    select(*(rope.c[name] for name in PartRange._fields))
    .where(rope.c.content == bindparam("content"), rope.c.start < bindparam("last"), rope.c.stop > bindparam("first"))
    .order_by(rope.c.start)
)
_ALL = Prepared(select(rope.c.part).where(rope.c.content == bindparam("content")))
_IS_THERE = Prepared(select(contents.c.id).where(contents.c.id == bindparam("content")))
_KNOWN = Prepared(select(rope.c.part))
_ANY_PART = Prepared(select(rope.c.part).limit(1))
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


class Contents(TableGroup):
    """The table of contents, each of which is a sequence of parts and has a number."""

    def begin(self) -> int:
        """Add an empty content and return its number."""
        begun = self._database.change_one(_BEGIN, {"md5": None})
        assert begun
        return int(begun[0])

    def is_there(self, content: int) -> bool:
        """Return whether a content exists."""
        return self._database.fetch_one(_IS_THERE, {"content": content}) is not None

    def append(self, content: int, piece: PartRange) -> None:
        """Add a part to the end of a content."""
        start, stop, part, checksum = piece
        values = {"content": content, "start": start, "stop": stop, "part": part, "checksum": checksum}
        self._database.queue_change(_APPEND, values)

    def extend(self, content: int, piece: PartRange) -> bool:
        """Store the new end of the last part of a content. Returns False, and stores nothing, if it is another part."""
        start, stop, part, checksum = piece
        values = {"number": content, "first": start, "key": part, "end": stop, "crc": checksum}
        return self._database.change(_EXTEND, values) == 1

    def pieces(self, content: int, first: int, last: int) -> list[PartRange]:
        """Return the parts that contain bytes `first` to `last` (exclusive) of a content, in order."""
        values = {"content": content, "first": first, "last": last}
        return list(map(PartRange._make, self._database.run(_PIECES, values)))

    def drop(self, content: int) -> list[str]:
        """Delete a content, and return the keys of its parts, which no row names any more."""
        parts = [part for (part,) in self._database.run(_ALL, {"content": content})]
        self._database.queue_change(_DROP_ROPE, {"content": content})
        self._database.queue_change(_DROP, {"content": content})
        return parts

    def parts(self) -> list[StoredPart]:
        """Return the parts of all contents, in the order of their keys."""
        return [StoredPart._make(row) for row in self._database.run(_STORED, {})]

    def without_checksum(self) -> list[tuple[int, PartRange]]:
        """Return the parts that have no checksum, as pairs of the content number and the part."""
        return [(content, PartRange._make(row)) for content, *row in self._database.run(_WITHOUT_CHECKSUM, {})]

    def keep_checksum(self, content: int, piece: PartRange) -> None:
        """Store the checksum of a part of a content."""
        values = {"number": content, "first": piece.start, "checksum": piece.checksum}
        self._database.queue_change(_KEEP_CHECKSUM, values)

    def known_parts(self) -> set[str]:
        """Return the keys of all parts of all contents."""
        return {part for (part,) in self._database.run(_KNOWN, {})}

    def has_parts(self) -> bool:
        """Return whether any content has a part."""
        return bool(self._database.run(_ANY_PART, {}))

    def digests(self, content: int) -> Digests | None:
        """Return the stored digests of a content, or None if they have not been computed yet."""
        row = self._database.fetch_one(_DIGESTS, {"content": content})
        return Digests._make(row) if row and row[0] else None

    def keep_digests(self, content: int, digests: Digests) -> None:
        """Store the digests of a content."""
        self._database.queue_change(_KEEP_DIGESTS, {"content": content, **digests._asdict()})
