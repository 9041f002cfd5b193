"""The doors of the service that ask for no access token first: token endpoints, and what browsers open.

They lie beside the operations of the interface, at the root of the service; faults and the journal know them by name.
"""

from __future__ import annotations

from ..errors.decision_ids import TOKENS
from .operations import FILE_ID, Operation

CALENDAR = "{calendar}"
"""Stands for the calendar's own word in a path (core/brand_names.py)."""


def _endpoint(name: str, methods: str, path: str, decided_by: str) -> Operation:
    return Operation(name, tuple(methods.split()), tuple(path.split("/")), frozenset(), decided_by)


# fmt: off
PUBLIC_ENDPOINTS: tuple[Operation, ...] = (
    _endpoint("oauth.token",     "POST",          "token",                                   TOKENS),
    _endpoint("oauth.tokeninfo", "GET POST",      "tokeninfo",                               TOKENS),
    _endpoint("oauth.revoke",    "POST",          "revoke",                                  TOKENS),
    _endpoint("oauth.authorize", "GET POST",      "authorize",                               TOKENS),
    _endpoint("oauth.metadata",  "GET HEAD",      ".well-known/oauth-authorization-server",  TOKENS),
    _endpoint("browser.signIn",  "GET HEAD POST", "signin",                                  "browser_sign_in"),
    _endpoint("browser.signOut", "POST",          "signout",                                 "browser_sign_in"),
    _endpoint("files.page",      "GET HEAD",      f"file/d/{FILE_ID}/view",                  "A6-08"),
    _endpoint("files.page",      "GET HEAD",      f"document/d/{FILE_ID}/edit",              "A6-08"),
    _endpoint("files.page",      "GET HEAD",      f"spreadsheets/d/{FILE_ID}/edit",          "A6-08"),
    _endpoint("files.page",      "GET HEAD",      f"presentation/d/{FILE_ID}/edit",          "A6-08"),
    _endpoint("files.content",   "GET HEAD",      "uc",                                      "A6-08"),
    _endpoint("openapi.get",     "GET HEAD",      "openapi.json",                            TOKENS),
    _endpoint("events.page",     "GET HEAD",      f"{CALENDAR}/event",                       "open_links"),
)
# fmt: on

PAGES = frozenset(
    {"oauth.authorize", "browser.signIn", "browser.signOut", "files.page", "files.content", "events.page"}
)
"""Those that a browser opens with the cookie of a person, or for everybody. At the others the request itself holds
what it is judged by: a token, a code, a client's secret, or nothing."""
