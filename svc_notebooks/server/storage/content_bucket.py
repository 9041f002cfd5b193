"""Opens the bucket that has the contents of files for a store whose rows are on a database server.

A marker object has the id of the store. A prefix is opened only if no object is below it, or if it has the marker of
the same store.
"""

from __future__ import annotations

from ..blobs.bucket import Bucket, BucketAddress
from ..blobs.s3 import S3BlobStore
from .content_marker import MARKER, check_content, marker_of, refusal

_MOST_MARKER = 64 * 1024


def open_content_bucket(address: BucketAddress, store: str, *, number: int, has_parts: bool) -> S3BlobStore:
    """Open the bucket with the parts of a store, which may have no object if the store has no parts.

    `store` is the id of the store, and `number` is the number of this opening. Raises OSError, without changing
    anything, for a prefix that is not the one of the store.
    """
    bucket = Bucket(address)
    if not _check_bucket(bucket, store, has_parts=has_parts):
        bucket.create(MARKER, marker_of(store))
        _check_bucket(bucket, store, has_parts=True)  # of two stores that begin at once, one is refused
    return S3BlobStore(bucket, opening=number)


def read_content_bucket(address: BucketAddress, store: str) -> S3BlobStore:
    """Return the parts in the bucket of a store, without changing the bucket. Raises OSError for any other prefix."""
    bucket = Bucket(address)
    if not _check_bucket(bucket, store, has_parts=True):
        raise refusal(bucket, "it is empty")
    return S3BlobStore(bucket)


def discard_content_bucket(address: BucketAddress, store: str) -> None:
    """Delete the parts and the marker of a store. Other objects stay. Does nothing if there is no object."""
    bucket = Bucket(address)
    if _check_bucket(bucket, store, has_parts=False):
        parts = S3BlobStore(bucket)
        parts.delete([part.key for part in parts.listed()])
        bucket.delete([MARKER])


def _check_bucket(bucket: Bucket, store: str, *, has_parts: bool) -> bool:
    """Return whether a bucket has the marker of a store. Raises OSError if the bucket cannot be used."""
    try:
        marker = b"".join(bucket.read(MARKER, 0, _MOST_MARKER)[1])
    except FileNotFoundError:
        marker = None
    is_empty = marker is None and next(bucket.objects(), None) is None
    check_content(bucket, store, marker, is_empty=is_empty, has_parts=has_parts)
    return marker is not None
