"""Puts the control API, the receivers of a class and the live page in front of a service, for every transport."""

from __future__ import annotations

from collections.abc import Callable

from ...core.http.messages import Request, Response
from ..service import Service
from .class_api import with_receivers
from .control_api import Control
from .live_page import LivePage


def served_paths(
    service: Service, *, control: bool, control_token: str | None, page_key: str | None, has_page: bool
) -> Callable[[Request], Response]:
    """Return a function that handles all requests to a server.

    `page_key` is the key of the live page, or None if everybody may see it. Raises ValueError for a bad control token.
    """
    handle = Control(service, control_token).handle if control else with_receivers(service)
    return LivePage(service, handle, page_key, control=control).handle if has_page else handle
