"""Memory that is free again goes back to the system; the C library would keep it for the process."""

from __future__ import annotations

import ctypes
import sys
from contextlib import suppress

MUCH = 16 << 20
"""Bytes that are worth the milliseconds that it takes."""


def give_back(freed: int) -> None:
    """After so many bytes were let go of. glibc has a call for it, other libraries of C do it by themselves.

    Blocks of a deleted file lie between others, so that without it a kernel that once held 300 MB stays as large.
    """
    if freed < MUCH or sys.platform != "linux":
        return
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
