"""Reads and writes the objects below a prefix of a bucket in an object store with the interface of S3.

This is the only module that knows the library obstore. Its errors are converted to OSError, with the error code of the
object store and without the text of the request, which may name credentials.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from itertools import chain
from typing import IO, NamedTuple
from urllib.parse import parse_qsl, urlsplit

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, PermissionDeniedError, UnauthenticatedError
from obstore.store import S3Store

from ..blob_store import BLOCK, ContentsUnavailable, ListedPart

MULTIPART = 16 << 20
"""The size in bytes above which an object is written as a multipart upload. The default part size is below it, because
a process that is killed leaves an unfinished multipart upload, which is in no list of objects."""

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
                    for offset in range(0, len(view), BLOCK):
                        block = bytes(view[offset : offset + BLOCK])
                        at += len(block)
                        yield block
                return
            except BaseError as error:
                if at == begun:  # without progress
                    raise self._error(error) from None
            if at == stop:
                return
            result = self._get(name, at, stop)

    def objects(self, prefix: str = "") -> Iterator[ListedPart]:
        """Yield all objects whose names begin with a prefix, which ends at a slash. They are listed while they are
        taken."""
        with self._errors():
            pages = obstore.list(self._store, prefix or None, chunk_size=1000)
            for row in chain.from_iterable(pages):
                if row["path"]:  # some programs write an empty object with the name of the prefix
                    yield ListedPart(row["path"], row["size"], row["last_modified"].timestamp())

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
            return ContentsUnavailable(
                f"{self} refuses the credentials ({reason}): set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
            )
        if reason in _FULL:
            return OSError(errno.ENOSPC, f"the disk of {self} is full ({reason}): free space there")
        return ContentsUnavailable(f"{self} cannot be used ({reason}): check the address, the endpoint and the bucket")
