"""Parses the addresses of receivers."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from ...core.notifications.channels import host_of

_SAFE_CHARACTERS = "/%:@!$&'()*+,;=~"


class Endpoint(NamedTuple):
    """The address of a receiver. `authority` and `path` have the form that an HTTP request needs."""

    host: str
    port: int
    authority: str
    path: str

    def __str__(self) -> str:
        return f"{_add_brackets(self.host)}:{self.port}"


@lru_cache(maxsize=1024)
def parse_endpoint(address: str) -> Endpoint:
    """Parse the URL of a receiver. Raises ValueError if the URL is not https or has no host.

    >>> parse_endpoint("https://[::1]:8443/in?x=ü")
    Endpoint(host='::1', port=8443, authority='[::1]:8443', path='/in?x=%C3%BC')
    """
    parts = urlsplit(address)
    if parts.scheme != "https":
        raise ValueError("messages are sent over https only")
    host, port = host_of(address), parts.port or 443
    host.encode("idna")  # raises UnicodeError, a ValueError, for an invalid host name
    if not host:
        raise ValueError("the address has no host")
    path = quote(parts.path or "/", safe=_SAFE_CHARACTERS) + (
        f"?{quote(parts.query, safe=_SAFE_CHARACTERS + '?')}" if parts.query else ""
    )
    return Endpoint(host, port, _add_brackets(host) + ("" if port == 443 else f":{port}"), path)


def _add_brackets(host: str) -> str:
    return f"[{host}]" if ":" in host else host
