"""The columns of the frames about exchanges: an archive, and the differences of two runs."""

from __future__ import annotations

from .schemas import schema

HAR_FILE = schema(
    """
    path       text
    exchanges  count
    size       count
    outcome    text
    """
)

COMPARED = schema(
    """
    first_n   count
    second_n  count
    exchange  text
    what      text
    first     text
    second    text
    """
)
