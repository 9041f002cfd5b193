"""The columns and dtypes of the frames about a class (docs/class.md)."""

from __future__ import annotations

from .frames import schema

STUDENTS = schema(
    """
    name        text
    email       text
    role        text
    active      flag
    last        time
    requests    count
    errors      count
    bytes       count
    channels    count
    steps       count
    operations  text
    """
)

CLASS_STEPS = schema(
    """
    name      text
    email     text
    exercise  text
    title     text
    step      count
    of        count
    text      text
    time      time
    request   count
    """
)

RESET_STUDENT = schema(
    """
    user       text
    backup     text
    path       text
    files      count
    bytes      count
    uploads    count
    calendars  count
    events     count
    channels   count
    """
)

BACKUPS = schema(
    """
    user    text
    time    time
    backup  text
    path    text
    size    count
    """
)

CLASS_CLOCK = schema("now time")
