"""Stores parts of contents as objects in a bucket of an object store with the interface of S3.

This is the only module that knows the library obstore. Its errors are converted to OSError, with the error code of the
object store and without the text of the request, which may name credentials.
"""

from __future__ import annotations

import errno
import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from itertools import chain
from tempfile import SpooledTemporaryFile
from threading import Lock
from typing import IO, NamedTuple
from urllib.parse import parse_qsl, urlsplit
from uuid import uuid4

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, PermissionDeniedError, UnauthenticatedError
from obstore.store import S3Store

from . import blob_store
from .directory_blob_store import KEY_LENGTH, PART_NAME

# The size in bytes above which an object is written as a multipart upload. The default part size is below it, because a
# process that is killed leaves an unfinished multipart upload, which is in no list of objects.
MULTIPART = 16 << 20

_MULTIPARTS_AT_ONCE = 2
_FIRST_BYTES = 64 * 1024
_DELETED_AT_ONCE = 1000
_OPTIONS = ("endpoint", "region")
_FORM = "s3://bucket/prefix, or s3://bucket/prefix?endpoint=https://host&region=name"
_CODE = re.compile(r"<Code>([A-Za-z0-9.]{1,60})</Code>")
_FULL = ("XMinioStorageFull", "status 507")
_STATUS = re.compile(r"status code: ([0-9]{3})")


class BucketAddress(NamedTuple):
    """The bucket, the prefix, and the endpoint and region of an address, which are None unless the address has them."""

    bucket: str
    prefix: str
    endpoint: str | None = None
    region: str | None = None

    def __str__(self) -> str:
        return f"s3://{self.bucket}/{self.prefix}".rstrip("/")


def parse_bucket_address(address: str) -> BucketAddress:
    """Parse an address such as s3://bucket/prefix. Raises ValueError, which does not contain the address.

    >>> parse_bucket_address("s3://contents/svc?region=eu-central-1")
    BucketAddress(bucket='contents', prefix='svc', endpoint=None, region='eu-central-1')
    """
    url = urlsplit(address)
    options = dict(parse_qsl(url.query, keep_blank_values=True))
    if url.scheme != "s3" or not url.hostname or url.fragment or options.keys() - set(_OPTIONS):
        raise ValueError(f"the address of a bucket must be of the form {_FORM}")
    if "@" in url.netloc or ":" in url.netloc:
        raise ValueError(
            "the address of a bucket must have no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the"
            f" environment, and give {_FORM}"
        )
    return BucketAddress(url.netloc, url.path.strip("/"), options.get("endpoint"), options.get("region"))


class Bucket:
    """The objects below a prefix of a bucket. Names are relative to the prefix. All methods raise OSError."""

    def __init__(self, address: BucketAddress) -> None:
        """Set the address. Credentials and what the address does not have are read from the environment (AWS_*)."""
        self.address = address
        chosen = {name: value for name in _OPTIONS if (value := getattr(address, name))}
        with self._errors():
            self._store = S3Store(
                address.bucket,
                prefix=address.prefix or None,
                # an http endpoint is used only if somebody has named it
                client_options={"allow_http": True, "connect_timeout": "5s", "timeout": "10s"},
                retry_config={"max_retries": 5, "retry_timeout": timedelta(seconds=10)},
                **chosen,
            )

    def __str__(self) -> str:
        return str(self.address)

    def create(self, name: str, content: bytes) -> bool:
        """Write an object unless it exists. Return whether it was written."""
        with self._errors():
            try:
                obstore.put(self._store, name, content, mode="create")
            except AlreadyExistsError:
                return False
        return True

    def write(self, name: str, file: IO[bytes]) -> None:
        """Write an object with all bytes of a file. The object is stored durably when the method returns."""
        file.seek(0)
        with self._errors():
            obstore.put(self._store, name, file, chunk_size=MULTIPART, max_concurrency=_MULTIPARTS_AT_ONCE)

    def size(self, name: str) -> int:
        """Return the size of an object in bytes. Raises FileNotFoundError if there is none."""
        with self._errors():
            return int(obstore.head(self._store, name)["size"])

    def read(self, name: str, start: int, stop: int) -> tuple[int, Iterator[bytes]]:
        """Return the size of an object, and an iterator over bytes `start` to `stop` (exclusive) in blocks.

        The blocks are read while they are taken. Raises FileNotFoundError if there is no object.
        """
        first = self._get(name, start, stop)
        return int(first.meta["size"]), self._blocks(first, name, start, stop)

    def _get(self, name: str, start: int, stop: int) -> obstore.GetResult:
        with self._errors():
            return obstore.get(self._store, name, options={"range": (start, stop)})

    def _blocks(self, result: obstore.GetResult, name: str, start: int, stop: int) -> Iterator[bytes]:
        """Yield the blocks of a response. After an error, continue with another request where the response ended.

        The object store ends responses that a slow client reads for too long.
        """
        at = start
        while True:
            begun = at
            try:
                for received in result.stream(min_chunk_size=_FIRST_BYTES):
                    view = memoryview(received)
                    for offset in range(0, len(view), blob_store.BLOCK):
                        block = bytes(view[offset : offset + blob_store.BLOCK])
                        at += len(block)
                        yield block
                return
            except BaseError as error:
                if at == begun:  # without progress
                    raise self._error(error) from None
            if at == stop:
                return
            result = self._get(name, at, stop)

    def objects(self, prefix: str = "") -> Iterator[blob_store.ListedPart]:
        """Yield all objects whose names begin with a prefix, which ends at a slash. They are listed while they are
        taken."""
        with self._errors():
            pages = obstore.list(self._store, prefix or None, chunk_size=1000)
            for row in chain.from_iterable(pages):
                if row["path"]:  # some programs write an empty object with the name of the prefix
                    yield blob_store.ListedPart(row["path"], row["size"], row["last_modified"].timestamp())

    def delete(self, names: Sequence[str]) -> None:
        """Delete objects. Unknown names are ignored."""
        with self._errors():
            for first in range(0, len(names), _DELETED_AT_ONCE):
                obstore.delete(self._store, names[first : first + _DELETED_AT_ONCE])

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (BaseError, OSError, ValueError) as error:
            raise self._error(error) from None

    def _error(self, error: Exception) -> OSError:
        """Return an OSError with the reason, but without the text of the library, which describes the request."""
        code = _CODE.search(str(error))
        if isinstance(error, FileNotFoundError) and not (code and code[1] == "NoSuchBucket"):
            return FileNotFoundError(f"{self} has no object of this name")
        status = _STATUS.search(str(error))
        reason = code[1] if code else f"status {status[1]}" if status else "no response"
        if isinstance(error, PermissionDeniedError | UnauthenticatedError):
            return blob_store.ContentsUnavailable(
                f"{self} refuses the credentials ({reason}): set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
            )
        if reason in _FULL:
            return OSError(errno.ENOSPC, f"the disk of {self} is full ({reason}): free space there")
        return blob_store.ContentsUnavailable(
            f"{self} cannot be used ({reason}): check the address, the endpoint and the bucket"
        )


PARTS = "parts"

_log = logging.getLogger(__name__)

_IN_MEMORY = 1 << 20
_MOST_KNOWN = 65_536


class _ObjectWriter:
    """Collects a part in memory, or in a temporary file above 1 MiB, and writes the object at the end.

    The end of a part may have to be cut off, which is impossible after a part of a multipart upload was sent.
    """

    can_grow = False

    def __init__(self, parts: S3BlobStore, key: str) -> None:
        self._parts = parts
        self._key = key
        self._file = SpooledTemporaryFile[bytes](max_size=_IN_MEMORY)
        self.size = 0
        self.checksum: int | None = 0

    def write(self, block: bytes) -> None:
        self._file.write(block)
        self.size += len(block)
        self.checksum = blob_store.crc32(block, self.checksum or 0)

    def truncate(self, size: int) -> None:
        if size < self.size:
            self._file.truncate(size)
            self._file.seek(0)
            self.size, self.checksum = (
                size,
                blob_store.checksum_of(iter(partial(self._file.read, blob_store.BLOCK), b"")),
            )

    def commit(self) -> str:
        self._parts.bucket.write(object_name(self._key), self._file)
        self._file.close()
        self._parts.remember(self._key)
        return self._key

    def abort(self, size: int = 0) -> None:
        self._file.close()

    close = abort


class _Pins:
    """Which parts snapshots need, by the number of snapshots, and which of them are to be deleted afterwards."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.numbers = Counter[str]()
        self.deleted = set[str]()


class S3BlobStore:
    """A store for parts as objects `parts/KEY` below the prefix of a bucket.

    A key has 24 random hexadecimal digits, and 8 digits for the number of the opening in which the part was written.
    """

    def __init__(self, bucket: Bucket, *, opening: int = 0) -> None:
        """Set the bucket and the number of this opening of the store."""
        self.bucket = bucket
        self._opening = f"{opening % 2**32:08x}"
        self._known = set[str]()
        self._suspect = set[str]()
        self._pins = _Pins()
        self._pinned: tuple[str, ...] = ()

    def writer(self, key: str | None = None) -> blob_store.PartWriter:
        return _ObjectWriter(self, key or uuid4().hex[: KEY_LENGTH - len(self._opening)] + self._opening)

    def remember(self, key: str) -> None:
        """Record that a part exists, so that no request asks for it again."""
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        self._known.add(key)

    def read(self, part: blob_store.StoredPart, start: int, stop: int) -> Iterator[bytes]:
        if start >= stop:
            return
        try:
            yield from self._read(part, start, stop)
        except blob_store.DamagedContent:
            self._known.discard(part.key)
            self._suspect.add(part.key)
            raise

    def _read(self, part: blob_store.StoredPart, start: int, stop: int) -> Iterator[bytes]:
        """Yield the bytes of a part. The last block of a whole part is yielded after its checksum was compared."""
        try:
            size, blocks = self.bucket.read(object_name(part.key), start, stop)
        except FileNotFoundError:
            raise blob_store.DamagedContent({part.key: blob_store.missing_part(part.key)}) from None
        if size != part.size:
            raise blob_store.DamagedContent({part.key: f"part {part.key} has {size:,} bytes instead of {part.size:,}"})
        checksum, left, last = 0, stop - start, b""
        for block in blocks:
            if last:
                yield last
            checksum, left, last = blob_store.crc32(block, checksum), left - len(block), block
        if left:
            raise blob_store.DamagedContent({part.key: f"part {part.key} is {left:,} bytes too short"})
        if part.checksum not in (None, checksum) and stop - start == size:
            raise blob_store.DamagedContent({part.key: f"part {part.key} has a wrong checksum"})
        yield last

    def problem(self, part: blob_store.StoredPart, *, contents: bool = True) -> str | None:
        """Describe the damage of a part, or return None. The bytes are compared when they are read."""
        if not contents or part.key in self._known:
            return None
        try:
            if part.key in self._suspect:
                for _ in self._read(part, 0, part.size):
                    pass
            size = self.bucket.size(object_name(part.key))
        except blob_store.DamagedContent as error:
            return error.problem
        except FileNotFoundError:
            return blob_store.missing_part(part.key)
        if size != part.size:
            return f"part {part.key} has {size:,} bytes instead of {part.size:,}"
        self._suspect.discard(part.key)
        self.remember(part.key)
        return None

    def checksum(self, part: blob_store.StoredPart) -> int | None:
        try:
            return blob_store.checksum_of(self._read(part._replace(checksum=None), 0, part.size))
        except OSError:
            return None

    def has_all(self, keys: Iterable[str]) -> bool:
        return all(key in self._known or self._exists(key) for key in keys)

    def _exists(self, key: str) -> bool:
        try:
            self.bucket.size(object_name(key))
        except FileNotFoundError:
            return False
        return True

    def delete(self, keys: Iterable[str]) -> None:
        """Delete parts, or delete them later if snapshots need them.

        Parts that cannot be deleted stay, and are logged: no row names them, and `svc-notebooks sweep` deletes them.
        """
        keys = set(keys)
        self._known -= keys
        with self._pins.lock:
            needed = {key for key in keys if self._pins.numbers[key]}
            self._pins.deleted |= needed
        try:
            self.bucket.delete([object_name(key) for key in keys - needed])
        except OSError as error:
            _log.warning("%s parts stay in the bucket until svc-notebooks sweep deletes them: %s", len(keys), error)

    def sweep(self, known: set[str]) -> int:
        recent = {part.key for part in self.listed() if part.key.endswith(self._opening)}
        self.delete(recent - known)
        return len(recent - known)

    def listed(self) -> Iterator[blob_store.ListedPart]:
        for row in self.bucket.objects(PARTS):
            key = row.key.removeprefix(f"{PARTS}/")
            if PART_NAME.fullmatch(key):
                yield row._replace(key=key)

    def copy(self, stored: Iterable[blob_store.StoredPart]) -> S3BlobStore:
        """Return a new store that names the same objects, which are not deleted before the new store is dropped."""
        copied = S3BlobStore(self.bucket)
        copied._pins, copied._pinned = self._pins, tuple(part.key for part in stored)
        with self._pins.lock:
            self._pins.numbers.update(copied._pinned)
        return copied

    def restore(self, kept: blob_store.BlobStore) -> None:
        assert isinstance(kept, S3BlobStore)
        with self._pins.lock:
            self._pins.deleted -= set(kept._pinned)

    def drop(self) -> None:
        with self._pins.lock:
            self._pins.numbers.subtract(self._pinned)
            free = {key for key in self._pinned if not self._pins.numbers[key]}
            for key in free:
                del self._pins.numbers[key]
            deleted = free & self._pins.deleted
            self._pins.deleted -= deleted
        self._pinned = ()
        self.delete(deleted)

    def close(self) -> None:
        """Do nothing, because objects stay when the store is closed."""


def object_name(key: str) -> str:
    """Return the name of the object with a part."""
    return f"{PARTS}/{key}"


_MOST_MARKER = 64 * 1024


def open_content_bucket(address: BucketAddress, store: str, *, number: int, has_parts: bool) -> S3BlobStore:
    """Open the bucket with the parts of a store, which may have no object if the store has no parts.

    `store` is the id of the store, and `number` is the number of this opening. Raises OSError, without changing
    anything, for a prefix that is not the one of the store.
    """
    bucket = Bucket(address)
    if not _check_bucket(bucket, store, has_parts=has_parts):
        bucket.create(blob_store.MARKER, blob_store.marker_of(store))
        _check_bucket(bucket, store, has_parts=True)  # of two stores that begin at once, one is refused
    return S3BlobStore(bucket, opening=number)


def read_content_bucket(address: BucketAddress, store: str) -> S3BlobStore:
    """Return the parts in the bucket of a store, without changing the bucket. Raises OSError for any other prefix."""
    bucket = Bucket(address)
    if not _check_bucket(bucket, store, has_parts=True):
        raise blob_store.refusal(bucket, "it is empty")
    return S3BlobStore(bucket)


def discard_content_bucket(address: BucketAddress, store: str) -> None:
    """Delete the parts and the marker of a store. Other objects stay. Does nothing if there is no object."""
    bucket = Bucket(address)
    if _check_bucket(bucket, store, has_parts=False):
        parts = S3BlobStore(bucket)
        parts.delete([part.key for part in parts.listed()])
        bucket.delete([blob_store.MARKER])


def _check_bucket(bucket: Bucket, store: str, *, has_parts: bool) -> bool:
    """Return whether a bucket has the marker of a store. Raises OSError if the bucket cannot be used."""
    try:
        marker = b"".join(bucket.read(blob_store.MARKER, 0, _MOST_MARKER)[1])
    except FileNotFoundError:
        marker = None
    is_empty = marker is None and next(bucket.objects(), None) is None
    blob_store.check_content(bucket, store, marker, is_empty=is_empty, has_parts=has_parts)
    return marker is not None
