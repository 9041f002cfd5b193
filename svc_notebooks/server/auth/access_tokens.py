"""Looks up the callers of access tokens, with those of a sign-in provider (T-01, T-03)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from ...core.api.operations import ALL_SCOPES
from ...core.errors.catalogue import ApiError, refuse
from ...core.http.messages import Query
from ...core.oauth import token_problem
from ..dispatch.service_context import BEARER, Caller, SizedCache
from ..store.clock import VirtualClock
from ..store.store import Store
from .tables import TokenRow

if TYPE_CHECKING:
    from .hub import JupyterHub, ProvidedUser

_MAX_CACHED = 10_000
_PROVIDED_CLIENT = "notebook"


class TokenVerifier:
    """Looks up the callers of access tokens. A stored token never changes, so the verifier caches each caller.

    In a store that several processes share, each request looks its token up, which another process may have revoked.

    The `provider` verifies the other tokens. Its answers are not cached here. `create_user` creates an account for a
    user of the provider, unless it exists.
    """

    def __init__(
        self, store: Store, clock: VirtualClock, create_user: Callable[[str], None] = lambda email: None
    ) -> None:
        self._store = store
        self._clock = clock
        self._cache: dict[str, Caller] = {}
        self._create_user = create_user
        self.provider: JupyterHub | None = None
        # The tokens of the provider's browser sessions, by a key that only the service can derive from the cookie.
        #
        # They are in memory only. After a restart of the service, users sign in again.
        self.provider_sessions = SizedCache[str](_MAX_CACHED)

    def caller(self, headers: Mapping[str, Sequence[str]], query: Query, *, in_session: bool = False) -> Caller:
        """Return the caller whose access token a request contains. Raises ApiError (401) without a valid token.

        `headers` maps names in lower case to values. `in_session` is True for the URI of an upload session.
        """
        sent = headers.get("authorization")
        if sent is None:
            token = query.get("access_token") or query.get("oauth_token")
            if not token:
                raise _auth_error("sessionToken" if in_session else "notSignedIn")
            credentials = f"Bearer {token}"
        elif len(sent) > 1:
            raise _auth_error("badAuthorization", problem="there is more than one such header")
        else:
            credentials = sent[0]
        return self._valid_caller(credentials)

    def _valid_caller(self, credentials: str) -> Caller:
        """Return the caller for the value of an Authorization header. Raises ApiError (401) without a valid token."""
        known = None if self._store.is_shared else self._cache.get(credentials)
        caller = known or self._look_up(credentials)
        if caller.expires is not None and self._clock.now().timestamp() >= caller.expires:
            raise _auth_error("badToken")
        return caller

    def caller_for_token(self, secret: str) -> Caller | None:
        """Return the caller of an access token. Return None if the token is unknown or has expired."""
        try:
            return self._valid_caller(f"Bearer {secret}")
        except ApiError:
            return None

    def user_of(self, secret: str) -> str | None:
        """Return the e-mail address of an access token's user. Return None if the token is unknown or has expired."""
        caller = self.caller_for_token(secret)
        return caller.user if caller else None

    def _look_up(self, credentials: str) -> Caller:
        cache = self._cache  # if clear_cache() runs meanwhile, the caller goes into the old cache
        bearer = BEARER.fullmatch(credentials)
        with self._store.reading():  # without waiting for threads that write
            token = self._store.users.token(bearer[1]) if bearer else None
        if token is None and bearer and self.provider and (user := self.provider.user(bearer[1])):
            return self.provided_caller(user, _PROVIDED_CLIENT)
        if token is None:
            raise _refusal(credentials)
        scopes = frozenset(token.scopes.split())
        caller = Caller(token.user, token.client, scopes, bool(token.service_account), token.expires)
        if len(cache) >= _MAX_CACHED:
            cache.clear()
        cache[credentials] = caller
        return caller

    def provided_caller(self, user: ProvidedUser, client: str) -> Caller:
        """Return the caller for a user of the provider, who has all scopes."""
        self._create_user(user.email)
        return Caller(user.email, client, frozenset(ALL_SCOPES), False, None)

    def add_token(self, secret: str, token: TokenRow) -> None:
        """Store an access token and empty the cache."""
        self._store.users.add_token(secret, token)
        self.clear_cache()

    def clear_cache(self) -> None:
        """Remove all callers from the cache, because the tokens in the store have changed."""
        self._cache = {}


def _refusal(credentials: str) -> ApiError:
    """Return the error for an Authorization header whose token is unknown, or whose form is wrong."""
    scheme, _, token = credentials.strip().partition(" ")
    if scheme.lower() != "bearer":
        return _auth_error("badAuthorization", problem='the header does not begin with the word "Bearer" and a space')
    problem = token_problem(token.strip(" "))
    return _auth_error("badAuthorization", problem=f"the token {problem}") if problem else _auth_error("badToken")


def _auth_error(error_key: str, **values: str) -> ApiError:
    challenge = 'Bearer realm="svc"' + (
        "" if error_key in ("notSignedIn", "sessionToken") else ', error="invalid_token"'
    )
    return refuse(error_key, headers=[("WWW-Authenticate", challenge)], **values)
