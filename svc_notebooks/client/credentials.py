"""Checks of a session's base URL, and storage of its secret access token."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from threading import RLock, local
from typing import TypeAlias
from urllib.parse import urlsplit

from ..core.auth.oauth import token_problem
from ..core.errors.errors import NotSignedIn, SvcError
from ..core.processes import after_fork
from ..core.user_functions import check_function
from .transport.foreign_urls import origin_of

Token: TypeAlias = "str | Callable[[], str] | None"
"""An access token, a function that returns an access token, or None for no token."""


class Secret(str):
    """A str with a redacted repr, so that tracebacks and printed requests do not show a secret (T-05).

    >>> Secret("Bearer abc")
    '[redacted]: print() and str() show it'
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "'[redacted]: print() and str() show it'"


def base_address(text: str) -> str:
    """Normalize a base URL to lower-case scheme and host, without default port and final slash.

    Raises TypeError unless `text` is a str, ValueError unless an http(s) URL without user, query and fragment.

    >>> base_address("HTTPS://API.example.org:443/")
    'https://api.example.org'
    """
    if not isinstance(text, str):
        raise TypeError(f"base_url must be a str such as https://api.example.org, not {type(text).__name__}")
    text = text.strip()
    try:
        parts = urlsplit(text)
        valid = parts.scheme in ("http", "https") and parts.hostname and parts.port != -1
    except ValueError:  # for a port that is not a number, or a bracket without its pair
        valid = False
    if not valid:
        # Do not show the text, which is the token if a caller swaps the arguments.
        raise ValueError("base_url must begin with http:// or https:// and a host name, as in https://api.example.org")
    if parts.username is not None or parts.query or parts.fragment:
        raise ValueError("base_url must not contain a user, a query or a fragment; pass the access token as token=...")
    return origin_of(text) + parts.path.rstrip("/")


@dataclass(frozen=True, slots=True)
class EnvironmentToken:
    """A token function that reads an access token from an environment variable.

    A session calls it for each request. A pickle of it contains the name of the variable and not the token, so the
    variable must be set in each process.
    """

    variable: str

    def __call__(self) -> str:
        """Return the token. Raises NotSignedIn if the variable is not set."""
        token = os.environ.get(self.variable)
        if not token:
            raise NotSignedIn(f"The environment variable {self.variable} has no access token in this process.")
        return token


class Credential:
    """The access token of a session. Thread-safe. A token function is called at first use and after a 401.

    A token in an environment variable is read for each request.
    """

    def __init__(self, token: Token) -> None:
        self._get_token = token if callable(token) else None
        self._header: Secret | None = None
        self._lock = RLock()
        self._thread = local()  # `sent`: the header that this thread used last
        self.token = Secret("")
        """The token without the word "Bearer", or "" without a token or before the first request."""
        if callable(token):
            check_function("token", token, ())
        elif token is not None:
            self._set_header(bearer(token))
        after_fork(self, Credential._renew_lock)

    def _renew_lock(self) -> None:
        self._lock = RLock()

    def _set_header(self, header: Secret) -> None:
        self._header, self.token = header, Secret(header.rpartition(" ")[2])

    @property
    def header(self) -> Secret | None:
        """The value of the Authorization header, or None if the session has no token."""
        if self._get_token is None:
            return self._header
        with self._lock:
            if self._header is None or isinstance(self._get_token, EnvironmentToken):
                token = _fetch_token(self._get_token)
                if self._header is None or token != self.token:
                    self._set_header(bearer(token))
            self._thread.sent = self._header
            return self._header

    def renew(self) -> bool:
        """Replace the token that this thread used last, after a 401. Returns False if there is no different token."""
        if self._get_token is None:
            return False
        with self._lock:
            refused = getattr(self._thread, "sent", self._header)
            if self._header == refused:  # otherwise another thread has renewed the token
                self._set_header(bearer(_fetch_token(self._get_token)))
            return self._header != refused

    def __repr__(self) -> str:
        return "Credential([redacted])"


def _fetch_token(get_token: Callable[[], str]) -> str:
    """Return the token from the token function.

    Raises NotSignedIn, whose message hides the function's error, or the function's own SvcError.
    """
    try:
        return get_token()
    except SvcError:
        raise
    except Exception as error:
        failed = type(error).__name__
    raise NotSignedIn(f"The token function failed with {failed}; call the function directly to see the full error.")


def bearer(token: str) -> Secret:
    """Return the Authorization header for a token. Raises TypeError or ValueError, which hide the token, if invalid."""
    if not isinstance(token, str):
        raise TypeError(f"token must be a str or a function that returns a str, not {type(token).__name__}")
    if problem := token_problem(token):
        raise ValueError(f"token {problem}")
    return Secret(f"Bearer {token}")
