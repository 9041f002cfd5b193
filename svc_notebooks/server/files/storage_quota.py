"""Checks the storage quotas of students.

The quota counts the files that a user owns and the stored bytes of the user's open uploads. Contents are checked again
in the transaction that stores them, so that parallel uploads cannot exceed the quota together.
"""

from __future__ import annotations

from ...core.errors.catalogue import refuse
from ..context.service_context import ServiceContext


def check_usage(context: ServiceContext, owner: str, more: int = 0) -> None:
    """Raise ApiError (403) if the files and open uploads of a user, and `more` bytes, exceed the user's quota."""
    quota = context.quotas.get(owner)
    if quota is None:
        return
    used = context.store.files.usage(owner)[0] + context.store.upload_sessions.stored_by(owner)
    if used + more > quota.bytes:
        raise refuse("storageQuota", user=owner, limit=quota.bytes)
