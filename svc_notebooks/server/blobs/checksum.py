"""Computes the CRC-32 of parts with zlib-ng, which takes a tenth of the time of zlib, or with zlib in a browser."""

from __future__ import annotations

try:
    from zlib_ng.zlib_ng import crc32 as crc32
except ImportError:
    from zlib import crc32 as crc32
