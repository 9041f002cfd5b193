"""Writes the bytes of a content to parts."""

from __future__ import annotations

from collections.abc import Callable

from ..blobs.blob_store import BlobStore, PartWriter
from ..tables.contents import PartRange


class ContentWriter:
    """Writes the bytes of a content in parts of `part_size` bytes.

    Full parts are passed to `keep`, and `finish` returns the last part, which starts before the bytes that rows count
    if rows name it already. `end` is the offset of the next byte. `last_part` is the writer of the part that is being
    written or can grow, or None.
    """

    def __init__(self, parts: BlobStore, part_size: int, start: int, keep: Callable[[PartRange], None]) -> None:
        self.keep = keep
        self.end = start
        self.last_part: PartWriter | None = None
        self._parts = parts
        self._part_size = part_size
        self._start = self._counted = start
        self._key: str | None = None  # the key of the last part after its first commit

    def write(self, block: bytes) -> None:
        """Append a block of bytes."""
        while block:
            if self.last_part and self.last_part.size == self._part_size and (full := self.finish(self.end)):
                self.keep(full)
                self.confirm()
            if self.last_part is None:
                self.last_part, self._key, self._start = self._parts.writer(), None, self.end
            free = self._part_size - self.last_part.size
            self.last_part.write(block[:free])
            self.end = self._start + self.last_part.size
            block = block[free:]

    def finish(self, end: int) -> PartRange | None:
        """Truncate the content to the offset `end`, and return its last part, or None without further bytes."""
        part = self.last_part
        if part is None or end <= self._counted:
            self.abort()
            return None
        if end < self.end:
            part.truncate(end - self._start)
            self.end = end
        self._key = part.commit()
        return PartRange(self._start, end, self._key, part.checksum)

    def confirm(self) -> None:
        """Record that rows count all bytes so far. Close a part that cannot grow further."""
        self._counted, part = self.end, self.last_part
        if part and not part.can_grow:
            self.last_part = None
        elif part and part.size == self._part_size:
            self.close()

    def abort(self) -> None:
        """Delete the bytes that no row counts, and close the part that is being written."""
        if self.last_part is None:
            return
        counted = self._counted - self._start
        if self._key and not counted:
            self._parts.delete([self._key])
        else:
            self.last_part.abort(counted)
        self.close()

    def close(self) -> None:
        """Close the part that is being written. Its committed bytes stay."""
        part, self.last_part = self.last_part, None
        if part:
            part.close()
