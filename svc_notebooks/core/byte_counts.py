"""Reads numbers of bytes that are written as text, in the same form wherever a function or a setting takes one."""

from __future__ import annotations

import re
from typing import Any

_FORM = re.compile(r"(\d+(?:\.\d+)?)\s*(?:([KMGT])i?)?(?:B|bytes?)?", re.ASCII | re.IGNORECASE)


def byte_count(value: Any) -> Any:
    """Return a text such as "256 KB" as a number of bytes, and any other value unchanged.

    1 KB is 1024 bytes, as in the interface, so that "256 KB" is the size of a chunk.

    >>> byte_count("256 KB"), byte_count("1.5MiB"), byte_count("300"), byte_count(7), byte_count("many")
    (262144, 1572864, 300, 7, 'many')
    """
    match = _FORM.fullmatch(value.strip()) if isinstance(value, str) else None
    return int(float(match[1]) * 1024 ** " KMGT".index((match[2] or " ").upper())) if match else value
