"""The service's address and the token: checked once, when a session is made."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock, local
from typing import TypeAlias
from urllib.parse import SplitResult, urlsplit

from ..core.errors.errors import NotSignedIn, SvcError
from ..core.process_fork import after_fork

Token: TypeAlias = "str | Callable[[], str] | None"
"""An access token, something that gives one, or none."""

_DEFAULT_PORTS = {"http": 80, "https": 443}


class Secret(str):
    """Text whose repr says nothing, so that no traceback and no printed request shows it (T-05).

    >>> Secret("Bearer abc")
    '[redacted]'
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "'[redacted]'"


def base_address(text: str) -> str:
    """The address in one form: scheme and host in lower case, no slash at its end. Raises ValueError.

    >>> base_address("HTTPS://API.example.org:443/")
    'https://api.example.org'
    """
    if not isinstance(text, str):
        raise TypeError(f"base_url is {type(text).__name__}; give a str like https://api.example.org")
    parts = urlsplit(text.strip())
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname or not _has_port(parts):
        # Not shown: who takes the arguments for each other gives the token here.
        raise ValueError("base_url is no address; write it like https://api.example.org")
    if parts.username is not None or parts.query or parts.fragment:
        raise ValueError("base_url has a user, a query or a fragment; leave those out and give the token as token=")
    return origin_of(text.strip()) + parts.path.rstrip("/")


def _has_port(parts: SplitResult) -> bool:
    """Whether the port is a number or left out; the error of what is none would show it."""
    try:
        return parts.port != -1
    except ValueError:
        return False


def origin_of(url: str) -> str:
    """Scheme, host and port of a URL, default ports left out. Raises ValueError for a port that is none."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    port = "" if parts.port in (None, _DEFAULT_PORTS.get(parts.scheme)) else f":{parts.port}"
    return f"{parts.scheme}://{host}{port}"


class Credential:
    """The token of a session: given, or fetched when first needed and again after a 401. Threads may share it."""

    def __init__(self, token: Token) -> None:
        self._get_token = token if callable(token) else None
        self._header: Secret | None = None
        self._lock = RLock()
        self._thread = local()  # `sent`: the header that this thread used last
        self.token = Secret("")
        """The token alone, as far as it is known; nothing is asked for."""
        if token is not None and not callable(token):
            self._set_header(bearer(token))
        after_fork(self, Credential._renew_lock)

    def _renew_lock(self) -> None:
        self._lock = RLock()

    def _set_header(self, header: Secret) -> None:
        self._header, self.token = header, Secret(header.rpartition(" ")[2])

    @property
    def header(self) -> Secret | None:
        """The Authorization header's value."""
        if self._get_token is None:
            return self._header
        with self._lock:
            if self._header is None:
                self._set_header(bearer(_fetch_token(self._get_token)))
            self._thread.sent = self._header
            return self._header

    def renew(self) -> bool:
        """Have another token than the one that this thread used last; False when there is none to be had."""
        if self._get_token is None:
            return False
        with self._lock:
            refused = getattr(self._thread, "sent", self._header)
            if self._header == refused:  # else another thread has renewed it meanwhile
                self._set_header(bearer(_fetch_token(self._get_token)))
            return self._header != refused

    def __repr__(self) -> str:
        return "Credential([redacted])"


def _fetch_token(give: Callable[[], str]) -> str:
    """What a token's function gives. Raises NotSignedIn where it fails, without its words: they may have secrets."""
    try:
        return give()
    except SvcError:
        raise
    except Exception as error:
        failed = type(error).__name__
    raise NotSignedIn(f"The function that gives the token failed with {failed}; call it by itself to see why.")


def bearer(token: str) -> Secret:
    """The Authorization header of a token. Raises TypeError and ValueError, neither of which shows it."""
    if not isinstance(token, str):
        raise TypeError(f"token is {type(token).__name__}; give a str, or a function that returns one")
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise ValueError("token must be one word of printable ASCII; look for a line end or a quote in it")
    return Secret(f"Bearer {token}")
