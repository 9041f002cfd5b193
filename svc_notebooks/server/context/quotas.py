"""The quota of a student, which a service with a class enforces."""

from __future__ import annotations

from dataclasses import dataclass

_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Quota:
    """The most that a student can use: bytes of files and open uploads, requests in a minute, and active channels."""

    bytes: int = 256 * _MIB
    requests_per_minute: int = 600
    channels: int = 20
