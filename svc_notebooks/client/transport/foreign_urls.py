"""Parses URLs that others have written: session URIs, locations and links of a service."""

from __future__ import annotations

import re
from urllib.parse import urljoin, urlsplit

from ...core.errors.errors import ServiceFailed
from ...core.printable_text import printable

_DEFAULT_PORTS = {"http": 80, "https": 443}
_PRINTABLE = re.compile(r"[!-~]{1,8192}")


def origin_of(url: str) -> str:
    """Return a URL's origin without default port, such as "https://api.example:8443". Raises ValueError if invalid."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    port = "" if parts.port in (None, _DEFAULT_PORTS.get(parts.scheme)) else f":{parts.port}"
    return f"{parts.scheme}://{host}{port}"


def host_of(url: str) -> str:
    """Return the host and the port of a URL for an error message, without a user name, or "the service" if invalid."""
    try:
        return urlsplit(url).netloc.rpartition("@")[2] or "the service"
    except ValueError:
        return "the service"


def is_web_address(url: object) -> bool:
    """Return whether a value is an absolute URL of http or https, to which a request can be sent.

    >>> [is_web_address(f"http://{rest}") for rest in ("[::1]:80/x", "[::1", "host:99999", "")]
    [True, False, False, False]
    """
    try:
        parts = urlsplit(url if isinstance(url, str) and _PRINTABLE.fullmatch(url) else "")
        return parts.scheme in _DEFAULT_PORTS and bool(parts.hostname) and parts.port != 0
    except ValueError:  # for a port that is not a number, or a bracket without its pair
        return False


def foreign_url(text: str, base: str, name: str) -> str:
    """Return the absolute URL of a link that a service gives for a request to `base`, on any host.

    Raises ServiceFailed, which names the header or field `name`, if the link is not a web address.
    """
    try:
        url = text if urlsplit(text).scheme else urljoin(base, text)
    except ValueError:
        url = ""
    if not is_web_address(url):
        raise ServiceFailed(
            f"{host_of(base)} gives a {name} that is not a web address: {printable(text, 60)!r}; check base_url.",
            location=name,
        )
    return url
