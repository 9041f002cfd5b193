"""The interface of an outside service that signs users in, such as JupyterHub, and its browser sessions."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class ProvidedUser(NamedTuple):
    """A user whom a provider has signed in. `email` is the address of the account. `admin` is true for teachers."""

    email: str
    admin: bool


_MAX_SESSIONS = 10_000


class ProviderSessions:
    """The tokens of the browser sessions of a provider, by a key that only the service can derive from the cookie.

    They are in memory only. After a restart of the service, users sign in again.
    """

    def __init__(self) -> None:
        self._tokens: dict[str, str] = {}

    def add(self, key: str, token: str) -> None:
        """Add a session. If there are too many, end the oldest session."""
        while len(self._tokens) >= _MAX_SESSIONS:
            self._tokens.pop(next(iter(self._tokens)), None)
        self._tokens[key] = token

    def token(self, key: str) -> str | None:
        """Return the provider's token of a session, or None if there is no such session."""
        return self._tokens.get(key)

    def end(self, key: str) -> str | None:
        """End a session and return its token, or None if there is no such session."""
        return self._tokens.pop(key, None)


class SignInProvider(Protocol):
    """Verifies the tokens of another service, and signs users in there with OAuth (RFC 6749, 4.1)."""

    name: str
    """The name of the provider on the sign-in page."""

    def user(self, token: str) -> ProvidedUser | None:
        """Return the user of a token, or None if the provider does not know the token.

        Raises ApiError, 403 if the user may not use this service, and 503 if the provider does not respond.
        """

    def forget(self, token: str) -> None:
        """Ask the provider again when the token is used next."""

    def authorize_url(self, state: str, challenge: str) -> str:
        """Return the address at which a browser asks the user to sign in. `challenge` is that of PKCE (RFC 7636)."""

    def token_for_code(self, code: str, verifier: str) -> str | None:
        """Exchange an authorization code for a token, or return None if the provider refuses the code.

        Raises ApiError (503) if the provider does not respond.
        """
