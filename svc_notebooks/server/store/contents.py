"""Which parts a content is made of, and its digests once somebody has asked for them."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import bindparam, delete, func, insert, select, update

from .database import Database, Prepared, inserting
from .schema import contents, rope


class Piece(NamedTuple):
    """Bytes `start` to `stop` (exclusive) of a content lie in this part, from its beginning."""

    start: int
    stop: int
    part: str


class Digests(NamedTuple):
    """Of a content, in hexadecimal."""

    md5: str
    sha1: str
    sha256: str


_BEGIN = Prepared(insert(contents).values(md5=None))
_APPEND = inserting(rope, ("content", *Piece._fields))
_PIECES = Prepared(
    select(rope.c.start, rope.c.stop, rope.c.part)
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
_SIZES = Prepared(select(rope.c.part, func.max(rope.c.stop - rope.c.start)).group_by(rope.c.part).order_by(rope.c.part))
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
        return self._database.one(_IS_THERE, {"content": content}) is not None

    def append(self, content: int, piece: Piece) -> None:
        """Put a part behind what is there."""
        self._database.change(_APPEND, {"content": content, **piece._asdict()})

    def pieces(self, content: int, first: int, last: int) -> list[Piece]:
        """The parts that bytes `first` to `last` (exclusive) lie in, in order."""
        values = {"content": content, "first": first, "last": last}
        return [Piece._make(row) for row in self._database.run(_PIECES, values)]

    def drop(self, content: int) -> list[str]:
        """Forget a content; the parts that nothing refers to any more."""
        parts = [part for (part,) in self._database.run(_ALL, {"content": content})]
        self._database.change(_DROP_ROPE, {"content": content})
        self._database.change(_DROP, {"content": content})
        return parts

    def part_sizes(self) -> dict[str, int]:
        """How many bytes of every part are referred to."""
        return {part: size for part, size in self._database.run(_SIZES, {})}

    def known_parts(self) -> set[str]:
        """Every part that a content refers to."""
        return {part for (part,) in self._database.run(_KNOWN, {})}

    def digests(self, content: int) -> Digests | None:
        """The digests, if they were asked for before."""
        row = self._database.one(_DIGESTS, {"content": content})
        return Digests._make(row) if row and row[0] else None

    def keep_digests(self, content: int, digests: Digests) -> None:
        """Remember digests for the next time."""
        self._database.change(_KEEP_DIGESTS, {"content": content, **digests._asdict()})
