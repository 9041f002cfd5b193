"""Finds the caller of a request by its access token, and checks the scopes of the token (T-01, T-03)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from ...core.api.error_rules import rule_for_scopes
from ...core.api.operations import ALL_SCOPES, Operation
from ...core.errors.catalogue import ApiError, refuse, row
from ...core.http.messages import Query, Request
from ...core.policy import Policy
from ..storage.clock import SystemClock, VirtualClock
from ..tables import Store
from ..tables.users import TokenRow

_BEARER = re.compile(r"[Bb][Ee][Aa][Rr][Ee][Rr] +([^\s]+) *")
_MAX_CACHED = 10_000
_APP_ONLY = frozenset({"storage.appdata", "storage.file"})


@dataclass(frozen=True, slots=True)
class Caller:
    """Whom a token stands for; `scopes` are last segments, `expires` Unix seconds.

    `app_only`: for what is asked, the scopes reach no further than the files that the client has made.
    """

    user: str
    client: str
    scopes: frozenset[str]
    service_account: bool
    expires: float | None
    app_only: bool = False

    def with_scopes(self, scopes: frozenset[str]) -> Caller:
        """Who asks for what one of these scopes is enough for."""
        app_only = _APP_ONLY.issuperset(self.scopes & scopes) and not _APP_ONLY.isdisjoint(scopes)
        return self if app_only is self.app_only else replace(self, app_only=app_only)


class TokenVerifier:
    """Knows the bearers of tokens. A token never changes, so what was looked up once is kept."""

    def __init__(self, store: Store, clock: SystemClock | VirtualClock) -> None:
        self._store = store
        self._clock = clock
        self._cache: dict[str, Caller] = {}

    def caller(self, request: Request, query: Query) -> Caller:
        """The caller of a request. Raises ApiError (401)."""
        return self._valid_caller(_credentials(request, query))

    def _valid_caller(self, credentials: str) -> Caller:
        caller = self._cache.get(credentials) or self._look_up(credentials)
        if caller.expires is not None and self._clock.now().timestamp() >= caller.expires:
            raise _unauthorized("badToken")
        return caller

    def caller_or_none(self, request: Request, query: Query) -> Caller | None:
        """The caller, or None where there is none to be known."""
        try:
            return self.caller(request, query)
        except ApiError:
            return None

    def bearer_token(self, request: Request) -> str | None:
        """The access token in a request's header, whatever it is worth."""
        return bearer(request)

    def caller_for_token(self, secret: str) -> Caller | None:
        """Whom an access token stands for; None: nobody, or nobody any more."""
        try:
            return self._valid_caller(f"Bearer {secret}")
        except ApiError:
            return None

    def user_of(self, secret: str) -> str | None:
        """The user whom an access token stands for; None: nobody."""
        holder = self.caller_for_token(secret)
        return holder.user if holder else None

    def _look_up(self, credentials: str) -> Caller:
        cache = self._cache  # clear_cache() replaces it: what was looked up before is then kept in the old one only
        bearer = _BEARER.fullmatch(credentials)
        token = self._store.users.token(bearer[1]) if bearer else None
        if token is None:
            raise _unauthorized("badToken")
        scopes = frozenset(token.scopes.split())
        caller = Caller(token.user, token.client, scopes, bool(token.service_account), token.expires)
        if len(cache) >= _MAX_CACHED:
            cache.clear()
        cache[credentials] = caller
        return caller

    def add_token(self, secret: str, token: TokenRow) -> None:
        """Let the bearer of this secret in."""
        self._store.users.add_token(secret, token)
        self.clear_cache()

    def clear_cache(self) -> None:
        """Look every token up again: the store has changed under us."""
        self._cache = {}


def bearer(request: Request) -> str | None:
    """The token in a request's Authorization header, whatever it is worth."""
    match = _BEARER.fullmatch(request.headers.get("Authorization") or "")
    return match[1] if match else None


def require_scopes(caller: Caller, scopes: frozenset[str], operation: Operation) -> Caller:
    """The caller as these scopes let them ask. Raises ApiError (403): they have none of them."""
    if caller.scopes.isdisjoint(scopes):
        error_rows = [
            row("missingScope", decided_by=rule_for_scopes(operation, caller.scopes), operation=operation.name)
        ]
        raise ApiError(error_rows, [("WWW-Authenticate", 'Bearer error="insufficient_scope"')])
    return caller.with_scopes(scopes)


def scope_names(scopes: Iterable[str] | None, policy: Policy) -> str:
    """Scopes, given as URIs or as their last segments, as the store keeps them. Raises ValueError."""
    if scopes is None:
        return " ".join(ALL_SCOPES)
    names = [scope.removeprefix(policy.auth_scope_base + "/") for scope in scopes]
    if unknown := [scope for scope in names if scope not in ALL_SCOPES]:
        raise ValueError(f"{unknown[0]!r} is no scope; the scopes are {', '.join(ALL_SCOPES)}")
    return " ".join(names)


def _credentials(request: Request, query: Query) -> str:
    """The credentials of a request, as an Authorization header says them."""
    headers = [value for name, value in request.headers.pairs if len(name) == 13 and name.lower() == "authorization"]
    if len(headers) > 1:
        raise _unauthorized("badToken")
    if headers:
        return headers[0]
    token = query.get("access_token") or query.get("oauth_token")
    if not token:
        raise _unauthorized("notSignedIn")
    return f"Bearer {token}"


def _unauthorized(error_key: str) -> ApiError:
    challenge = 'Bearer realm="svc"' + ("" if error_key == "notSignedIn" else ', error="invalid_token"')
    return ApiError(refuse(error_key).rows, [("WWW-Authenticate", challenge)])
