"""The caller of a request, with the scopes of the access token (T-01, T-03)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from ...core.api.error_rules import rule_for_scopes
from ...core.api.operations import ALL_SCOPES, CONTENT, READ, Operation
from ...core.brand_names import Names
from ...core.errors.catalogue import ApiError, row
from ...core.http.messages import Query, Request
from ...core.policy import Policy

BEARER = re.compile(r"[Bb][Ee][Aa][Rr][Ee][Rr] +([^\s]+) *")
IDENTITY_SCOPES = ("openid", "email", "profile", "userinfo.email", "userinfo.profile")
"""The scopes that give access to the claims of the user only. The first three have no prefix."""

_APP_ONLY = frozenset({"storage.appdata", "storage.file"})


@dataclass(frozen=True, slots=True)
class Caller:
    """The user and the client of an access token.

    `scopes` contains scope names without the base URI, such as "storage.file". `expires` is in Unix seconds, or None.
    `app_only` is true if the scopes give access only to files that the client created or opened.
    """

    user: str
    client: str
    scopes: frozenset[str]
    service_account: bool
    expires: float | None
    app_only: bool = False

    def with_scopes(self, scopes: frozenset[str]) -> Caller:
        """Return this caller with the value of `app_only` for an operation that accepts any of these scopes."""
        app_only = _APP_ONLY.issuperset(self.scopes & scopes) and not _APP_ONLY.isdisjoint(scopes)
        return self if app_only is self.app_only else replace(self, app_only=app_only)


ANONYMOUS = Caller("", "", READ | CONTENT | {"calendar.readonly"}, False, None)
"""The caller of a page or of a request with an API key, who may see what is shared with everybody."""

WITH_API_KEY = frozenset(
    {
        "calendars.get", "colors.get", "events.get", "events.instances", "events.list", "files.export", "files.get",
        "files.list",
    }
)  # fmt: skip
"""The operations that accept an API key in place of an access token, with `Policy(api_keys=True)`."""


def has_only_key(headers: Mapping[str, object], query: Query) -> bool:
    """Return True if a request has an API key and no access token. `headers` has the names in lower case."""
    has_token = "authorization" in headers or query.get("access_token") or query.get("oauth_token")
    return bool(query.get("key")) and not has_token


def bearer(request: Request) -> str | None:
    """Return the unchecked bearer token of the Authorization header. Return None without a bearer token."""
    match = BEARER.fullmatch(request.headers.get("Authorization") or "")
    return match[1] if match else None


def require_scopes(caller: Caller, scopes: frozenset[str], operation: Operation) -> Caller:
    """Return the caller with `app_only` set for these scopes. Raises ApiError (403) if the caller has no such scope."""
    if caller.scopes.isdisjoint(scopes):
        error_rows = [
            row("missingScope", decided_by=rule_for_scopes(operation, caller.scopes), operation=operation.name)
        ]
        raise ApiError(error_rows, [("WWW-Authenticate", 'Bearer error="insufficient_scope"')])
    return caller.with_scopes(scopes)


def scope_names(scopes: Iterable[str] | None, policy: Policy, names: Names) -> str:
    """Convert scopes, given as URIs or as names, to the scope names of the interface, joined by spaces.

    None stands for all scopes. Raises ValueError for an unknown scope.
    """
    if scopes is None:
        return " ".join(ALL_SCOPES)
    known = {scope: scope for scope in (*ALL_SCOPES, *IDENTITY_SCOPES)}
    known |= {names.scope(scope): scope for scope in ALL_SCOPES}
    last_segments = [scope.removeprefix(policy.auth_scope_base + "/") for scope in scopes]
    if unknown := [scope for scope in last_segments if scope not in known]:
        raise ValueError(f"{unknown[0]!r} is not a scope; the scopes are {', '.join(map(names.scope, ALL_SCOPES))}")
    return " ".join(known[scope] for scope in last_segments)
