"""The address and the token of a session, checked when it is made."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock, local
from typing import TypeAlias
from urllib.parse import urlsplit

from ..core.errors.errors import NotSignedIn, SvcError
from ..core.process_fork import after_fork

Token: TypeAlias = "str | Callable[[], str] | None"
"""An access token, a function that returns one, or None."""

_DEFAULT_PORTS = {"http": 80, "https": 443}


class Secret(str):
    """A text that its repr does not show, so that no traceback and no printed request has it (T-05).

    >>> Secret("Bearer abc")
    '[redacted]'
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "'[redacted]'"


def base_address(text: str) -> str:
    """Normalize a base URL to lower-case scheme and host without a final slash. Raises TypeError, ValueError.

    >>> base_address("HTTPS://API.example.org:443/")
    'https://api.example.org'
    """
    if not isinstance(text, str):
        raise TypeError(f"base_url is {type(text).__name__}; give a str like https://api.example.org")
    parts = urlsplit(text.strip())
    try:
        valid = parts.scheme in _DEFAULT_PORTS and parts.hostname and parts.port != -1
    except ValueError:  # for a port that is not a number
        valid = False
    if not valid:
        # The text is not shown: a caller who exchanges the arguments gives the token here.
        raise ValueError("base_url is not a web address; write it like https://api.example.org")
    if parts.username is not None or parts.query or parts.fragment:
        raise ValueError("base_url has a user, a query or a fragment; leave those out and give the token as token=")
    return origin_of(text.strip()) + parts.path.rstrip("/")


def origin_of(url: str) -> str:
    """Return the scheme, host and port of a URL, without a default port. Raises ValueError for an invalid port."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    port = "" if parts.port in (None, _DEFAULT_PORTS.get(parts.scheme)) else f":{parts.port}"
    return f"{parts.scheme}://{host}{port}"


class Credential:
    """The token of a session, for several threads.

    A token function is called when the token is needed first, and again after a 401.
    """

    def __init__(self, token: Token) -> None:
        self._get_token = token if callable(token) else None
        self._header: Secret | None = None
        self._lock = RLock()
        self._thread = local()  # `sent`: the header that this thread used last
        self.token = Secret("")
        """The token without its scheme, empty while it is not known."""
        if token is not None and not callable(token):
            self._set_header(bearer(token))
        after_fork(self, Credential._renew_lock)

    def _renew_lock(self) -> None:
        self._lock = RLock()

    def _set_header(self, header: Secret) -> None:
        self._header, self.token = header, Secret(header.rpartition(" ")[2])

    @property
    def header(self) -> Secret | None:
        """The value of the Authorization header, or None without a token."""
        if self._get_token is None:
            return self._header
        with self._lock:
            if self._header is None:
                self._set_header(bearer(_fetch_token(self._get_token)))
            self._thread.sent = self._header
            return self._header

    def renew(self) -> bool:
        """Get another token than the one that this thread used last. Return False where there is none."""
        if self._get_token is None:
            return False
        with self._lock:
            refused = getattr(self._thread, "sent", self._header)
            if self._header == refused:  # else another thread has renewed it meanwhile
                self._set_header(bearer(_fetch_token(self._get_token)))
            return self._header != refused

    def __repr__(self) -> str:
        return "Credential([redacted])"


def _fetch_token(get_token: Callable[[], str]) -> str:
    """Call the token function. Raises NotSignedIn without its message where it fails: that may contain a secret."""
    try:
        return get_token()
    except SvcError:
        raise
    except Exception as error:
        failed = type(error).__name__
    raise NotSignedIn(f"The function that gives the token failed with {failed}; call it by itself to see why.")


def bearer(token: str) -> Secret:
    """Return the Authorization header of a token. Raises TypeError and ValueError, which do not show it."""
    if not isinstance(token, str):
        raise TypeError(f"token is {type(token).__name__}; give a str, or a function that returns one")
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise ValueError("token must be printable ASCII without spaces; look for a line end or a quote in it")
    return Secret(f"Bearer {token}")
