"""The columns of the frames of a sandbox: faults, limits, domains, upcoming events."""

from __future__ import annotations

from .schemas import schema

FAULT_PLANS = schema(
    """
    plan       text
    preset     text
    step       count
    waits_for  text
    does       text
    times      count
    seen       count
    fired      count
    """
)

FAULT_PRESETS = schema(
    """
    name      text
    teaches   text
    steps     count
    what      text
    """
)

LIMITS = schema(
    """
    user      text
    requests  count
    per       seconds
    spent     count
    until     time
    """
)

DOMAINS = schema(
    """
    domain  text
    """
)

AGENDA = schema(
    """
    time     time
    what     text
    user     text
    subject  text
    detail   text
    """
)
