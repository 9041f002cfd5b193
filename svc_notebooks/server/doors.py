"""What stands behind each door of core/doors.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..core.wire import Response
from . import browser, consent, file_page, openapi, token_endpoint
from .event_page import event_page
from .visit import Visit

BEHIND: Mapping[str, Callable[[Visit], Response]] = {
    "oauth.token": token_endpoint.token,
    "oauth.tokeninfo": token_endpoint.tokeninfo,
    "oauth.revoke": token_endpoint.revoke,
    "oauth.authorize": consent.authorize,
    "oauth.metadata": consent.metadata,
    "browser.signIn": browser.sign_in,
    "browser.signOut": browser.sign_out,
    "files.page": file_page.view,
    "files.content": file_page.content,
    "events.page": event_page,
    "openapi.get": lambda visit: openapi.describe(visit.house, visit.request),
}
