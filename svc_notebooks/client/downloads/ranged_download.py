"""Downloads that continue with a range request after a broken connection, in memory or in a file (A6-06).

An unfinished download is in the file `name.part`, which is renamed when complete. The note `name.part.json` identifies
the content, so that another run continues only a download of the same content. A `name.part` without a note belongs to
the user. The download then uses `name.part-1`, `name.part-2` and so on.
"""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import shutil
from collections.abc import Generator, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from ...core.errors.errors import ContentMismatch, Interrupted, ServiceFailed, cannot_write, disk_full
from ...core.http.messages import Request, Response
from ...core.http.ranges import ByteRange, ContentRange
from ...core.platform import after_fork
from ...local.saving import SameContent, SavedFile, move_into_place, real_path, same_bytes
from ..json_response import foreign_answer
from ..retry import Retry
from ..session import Session
from ..transport.bounds import EXPORT, Bound, declared_size
from ..transport.in_process import TransportError
from ..transport.urls import host_of
from ..upload_journal import LOCKS, open_and_lock
from ..uploads.sources import Progress

# The largest write in bytes. Linux gives larger writes larger pages, which saves a tenth of the time, but takes four
# times as long in a virtual machine that fetches the pages from its host, measured.
_WRITE_SIZE = 256 * 1024

_NOTE_KEYS = {"base_url", "id"}  # the keys of every note. A JSON file without these keys is not a note.


class PartFile:
    """The part file of a download, written without a buffer.

    `have` is the number of received bytes, and `end` the number of expected bytes, or None. Raises Interrupted if
    another process writes the same part file, and OSError if the file cannot be written.
    """

    lasting = True

    def __init__(self, target: Path, mark: Mapping[str, object]) -> None:
        self.target = target
        self.end: int | None = None
        self._mark = dict(mark)
        try:
            self.path, self._note = self._claim_paths()
            descriptor = open_and_lock(self.path, 0o666)
        except OSError as error:
            raise cannot_write(target, error) from None
        if descriptor is None:
            raise Interrupted(f"Another download is writing {self.path.name}.")
        self._file = io.FileIO(descriptor, "r+")
        after_fork(self, lambda part: part._file.close())  # a child must not hold the lock longer than the parent
        self.have = self._file.seek(0, io.SEEK_END)
        if _read_note(self._note) != self._mark:
            self.restart(mark)

    def __enter__(self) -> PartFile:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ContentMismatch) or (error is not None and not self.have):
            self.discard()
        self._file.close()

    def _claim_paths(self) -> tuple[Path, Path]:
        """Return the first paths of part file and note that are free or of an earlier run. Writes a missing note."""
        target = real_path(self.target)
        for number in count():
            part = target.with_name(f"{target.name}.part" if number == 0 else f"{target.name}.part-{number}")
            note = part.with_name(f"{part.name}.json")
            if _read_note(note) is not None and not part.is_symlink():
                if part.exists() and part.stat().st_nlink > 1:
                    part.unlink()  # a killed run left this hard link to a finished file
                return part, note
            if not os.path.lexists(part) and _create_note(note, self._mark):
                return part, note
        raise AssertionError("unreachable: the numbers never end")

    def restart(self, mark: Mapping[str, object] | None = None) -> None:
        """Discard the received bytes. `mark` identifies the new content. None means the same content as before."""
        self._mark = dict(self._mark if mark is None else mark)
        self._file.seek(0)
        self._file.truncate()
        self.have = 0
        self._note.write_text(json.dumps(self._mark), encoding="utf-8")

    def write(self, block: bytes) -> None:
        """Append a block of bytes. Raises OSError with the target path, but keeps the written bytes for another run."""
        view = memoryview(block)
        try:
            while view:
                written = self._file.write(view[:_WRITE_SIZE]) or 0
                view = view[written:]
                self.have += written
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise cannot_write(self.target, error) from None
            needed = None if self.end is None else self.end - self.have
            raise disk_full(self.target, needed, shutil.disk_usage(self.path.parent).free) from None

    def digest(self, name: str) -> str:
        """Return the hexadecimal checksum of the received bytes. `name` is a hashlib algorithm."""
        self._file.seek(0)
        return hashlib.file_digest(self._file, name).hexdigest()

    def finish(self, *, overwrite: bool, same: SameContent = same_bytes) -> SavedFile:
        """Move the part file to the target path, unless the target has the same content, and return a SavedFile.

        Raises PathExists, PermissionError or another OSError, and then removes the part file and its note.
        """
        if not LOCKS:
            self._file.close()  # some systems do not move open files
        try:
            outcome = move_into_place(self.path, self.target, overwrite=overwrite, same=same)
        except BaseException:
            self.discard()
            raise
        self._note.unlink(missing_ok=True)
        return SavedFile(self.target, outcome, self.target.stat().st_size)

    def discard(self) -> None:
        """Remove the part file and its note."""
        self._file.close()  # some systems do not remove open files
        self.path.unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)


def _read_note(note: Path) -> dict[str, object] | None:
    try:
        note_content = json.loads(note.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return note_content if isinstance(note_content, dict) and note_content.keys() >= _NOTE_KEYS else None


def _create_note(note: Path, mark: Mapping[str, object]) -> bool:
    try:
        with note.open("x", encoding="utf-8") as file:
            json.dump(mark, file)
    except FileExistsError:
        return False
    except OSError:  # an empty note, written to a full disk, would block the name
        note.unlink(missing_ok=True)
        raise
    return True


class Memory:
    """The received bytes of a download in memory, with the methods of PartFile."""

    lasting = False

    def __init__(self) -> None:
        self._file = io.BytesIO()
        self.have = 0
        self.end: int | None = None

    def restart(self, mark: Mapping[str, object] | None = None) -> None:
        """Discard the received bytes."""
        self._file = io.BytesIO()
        self.have = 0

    def write(self, block: bytes) -> None:
        """Append a block of bytes."""
        self.have += self._file.write(block)

    def digest(self, name: str) -> str:
        """Return the hexadecimal checksum of the received bytes. `name` is a hashlib algorithm."""
        return hashlib.new(name, self._file.getbuffer(), usedforsecurity=False).hexdigest()

    def content(self) -> bytes:
        """Return the received bytes."""
        return self._file.getvalue()


_MAX_RESTARTS = 3
# The media types of the pages and messages of proxies and networks, of which only exports to them have any.
_PAGES = frozenset({"text/html", "application/json"})


@dataclass(eq=False)
class RangedDownload:
    """A download of content, or of a byte range, into a sink.

    `size` is the size of the whole content in bytes according to its metadata, or None if not known. After `run`,
    `resumed` is True if the bytes came in several pieces, which the caller should verify. `export` is the media type of
    an export, which the service generates for each request, so that a broken download starts again.
    """

    session: Session
    url: str
    sink: PartFile | Memory
    size: int | None
    requested: ByteRange | None = None
    progress: Progress | None = None
    export: str = ""

    def __post_init__(self) -> None:
        size, self._as_given = self.size, self.requested
        self._bound = EXPORT if size is None else Bound(size, "the content according to its metadata", ContentMismatch)
        if self.requested is not None and size is not None and (span := self.requested.resolve(size)):
            self.requested = ByteRange(span.first, span.last)
        self._retry = Retry(self.session, repeatable=True)
        self._retry.progress()
        self._restarts = 0
        self._furthest = self.sink.have
        self.resumed = self.sink.have > 0

    def run(self) -> None:
        """Download all bytes into the sink. Raises SvcError, or OSError if the sink cannot be written."""
        while not (self.sink.have and self.sink.have == self._end):  # an earlier run may have received all bytes
            if self._try_once():
                return
            self.resumed |= self.sink.have > 0

    @property
    def _first(self) -> int:
        return (self.requested.first or 0) if self.requested else 0

    @property
    def _end(self) -> int | None:
        """The number of bytes that the sink has at the end, or None if not yet known."""
        if self.requested is None:
            return self.size
        span = self.requested.resolve(self.size) if self.size is not None else self.requested
        return None if span is None or span.first is None or span.last is None else span.last + 1 - span.first

    def _try_once(self) -> bool:
        """Send one request. Returns False if another request is needed to complete the download."""
        have, byte_range = self.sink.have, self._as_given
        if have:
            byte_range = ByteRange(self._first + have, self.requested.last if self.requested else None)
        pairs = [("Range", str(byte_range))] if byte_range else []
        request = Request("GET", self.url, self.session.headers(*pairs))
        try:
            response = self.session.send(request, self._bound)
            if response.status == 206:
                return self._handle_partial(response)
            if response.status == 200:
                return self._handle_whole(response)
            response = Response(response.status, response.headers, response.content())
        except TransportError as broken:
            if self.export and self.sink.have:  # the next response begins with the first byte
                self._restarts += 1
                self.sink.restart()
            broken.hopeless |= self._restarts > _MAX_RESTARTS
            resumable = not self.export and self.sink.lasting and self.sink.have > 0
            self._retry.wait_or_raise_broken(broken, request, resumable=resumable)
            return False
        if response.status == 416 and self.sink.have:
            return self._handle_unsatisfiable(response)
        self._retry.wait_or_raise(response)
        return False

    def _set_size(self, size: int | None) -> None:
        """Set the size of the content that a response declares. Raises ContentMismatch if another size is known."""
        if None not in (size, self.size) and size != self.size:
            raise self._mismatch(f"{size:,}")
        self.size = size if self.size is None else self.size

    def _mismatch(self, size: str) -> ContentMismatch:
        return ContentMismatch(
            f"{host_of(self.url)} sends {size} bytes as the content, which should have {self.size:,}.",
            advice="Check base_url and the proxy, and call again: the content may have changed.",
        )

    def _handle_partial(self, response: Response) -> bool:
        """Write a 206 response to the sink, and return True if complete. Raises ServiceFailed for other bytes."""
        try:
            content_range = ContentRange.parse(response.headers.get("Content-Range", ""))
        except ValueError:
            content_range = ContentRange(None)
        span = content_range.span
        if span is None or span.last is None:
            text = "The service sent a partial response without a valid Content-Range."
            raise ServiceFailed(text, location="Content-Range")
        self._set_size(content_range.total)
        if self.requested is not None and self.requested.first is None:
            # Replace a range of last bytes by absolute offsets.
            self.requested = ByteRange(span.first, span.last)
        end, end_of_span = self._end, span.last + 1 - self._first
        if span.first != self._first + self.sink.have or (end is not None and end_of_span > end):
            raise ServiceFailed("The service sent a different byte range than requested.", location="Content-Range")
        self._write_blocks(response, 0, None, end_of_span)
        return end is None or self.sink.have == end

    def _handle_whole(self, response: Response) -> bool:
        """Write the requested bytes of a 200 response to the sink and return True.

        Raises ServiceFailed if a byte range was requested and the size of the content is unknown.
        """
        if self.sink.have:
            self.sink.restart()
        if self.export:
            self.size = None  # each export is a new one
            media_type = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
            if media_type in _PAGES and media_type != self.export.partition(";")[0].lower():
                raise foreign_answer(self.url, f"it is {media_type}, and not an export", "", response.status)
        self._set_size(declared_size(response.headers))
        if self.requested is None:
            self._write_blocks(response, 0, None, self.size)
            return True
        end = self._end
        if end is None or self.size is None:
            raise ServiceFailed("The service does not support range requests for this content.", status=200)
        self._write_blocks(response, self._first, end, end)
        return True

    def _handle_unsatisfiable(self, response: Response) -> bool:
        """Return True if a 416 response shows that the sink has all bytes. Otherwise discard the received bytes."""
        try:
            total = ContentRange.parse(response.headers.get("Content-Range", "")).total
        except ValueError:
            total = None
        if self.size is None and total == self._first + self.sink.have:
            return True
        self._restarts += 1
        if self._restarts > _MAX_RESTARTS:
            raise ContentMismatch("The content changed during every download attempt.")
        self.sink.restart()
        return False

    def _write_blocks(self, response: Response, skip: int, take: int | None, end: int | None) -> None:
        """Write `take` bytes of a body to the sink, which then has `end` bytes. None means all or an unknown number."""
        self.sink.end = end
        blocks = [response.body] if isinstance(response.body, bytes) else response.body
        with closing(_slice_blocks(blocks, skip, take)) as blocks_to_write:
            for block in blocks_to_write:
                if end is not None and self.sink.have + len(block) > end:
                    raise self._mismatch(f"at least {self._first + self.sink.have + len(block):,}")
                self.sink.write(block)
                if self.sink.have > self._furthest:  # repeated bytes after a restart are no progress
                    self._furthest = self.sink.have
                    self._retry.progress()
                if self.progress is not None:
                    self.progress(self.sink.have, end)
        if end is not None and self.sink.have != end:
            if "Transfer-Encoding" in response.headers:  # the response is complete
                raise self._mismatch(f"{self._first + self.sink.have:,}")
            raise TransportError(f"the content ended at byte {self.sink.have} of {end}")


def _slice_blocks(blocks: Iterable[bytes], skip: int, take: int | None) -> Generator[bytes, None, None]:
    for block in blocks:
        piece = block[skip:] if skip else block
        skip = max(0, skip - len(block))
        if take is not None:
            piece = piece[:take]
            take -= len(piece)
        if piece:
            yield piece
        if take == 0:
            return
