"""Parses the URLs of services and those that they write, and checks the arguments that say how connections are made."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from ipaddress import ip_address, ip_network
from pathlib import Path
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


# -- proxies and certificates


def proxies_of(proxies: Mapping[str, str] | None) -> dict[str, str] | None:
    """Return a copy of the argument `proxies`. Raises TypeError or ValueError if it is not valid."""
    if proxies is not None and not isinstance(proxies, Mapping):
        raise TypeError(
            f"proxies must be a dict such as {{'https': 'http://proxy:3128'}}, not {type(proxies).__name__}"
        )
    for scheme, proxy in (proxies or {}).items():
        if not isinstance(scheme, str) or scheme.endswith(":") or scheme.endswith("://"):
            raise ValueError(f"proxies has the key {scheme!r}; give a scheme without '://', such as 'https'")
        if not isinstance(proxy, str | None):
            raise TypeError(f"proxies[{scheme!r}] must be a URL such as 'http://proxy:3128', not {proxy!r}")
    return None if proxies is None else dict(proxies)


def certificates_of(verify: bool | str | Path | None) -> bool | str:
    """Return the value of `verify` for `requests`, by default from the environment. Raises ValueError or TypeError."""
    if isinstance(verify, (str, Path)):
        path = Path(verify).expanduser()
        if not path.exists():
            raise ValueError(f"verify is {str(verify)!r}, which does not exist; give the path of the certificates")
        return str(path)
    if verify is not None and not isinstance(verify, bool):
        raise TypeError(f"verify must be True, False or the path of the certificates, not {type(verify).__name__}")
    if verify is None:
        return os.environ.get("REQUESTS_CA_BUNDLE") or os.environ.get("CURL_CA_BUNDLE") or True
    return verify


def is_loopback(host: str | None) -> bool:
    """Return True if a host name or address of a URL is this machine.

    >>> [is_loopback(host) for host in ("127.0.0.2", "::1", "app.localhost", "10.0.0.1", "localhost.example")]
    [True, True, True, False, False]
    """
    return any(_matches((host or "").rstrip("."), name) for name in _THIS_MACHINE)


_THIS_MACHINE = ("localhost", "127.0.0.0/8", "::ffff:127.0.0.0/104", "::1", "0.0.0.0", "::")


def needs_no_proxy(url: str) -> bool:
    """Return True if the host of a URL is this machine or is in NO_PROXY, as `*`, domain, address or network.

    An entry may end with a port. `requests` ignores a `*` in a list, networks of IPv6, and addresses with a port.
    """
    parts = urlsplit(url)
    host, (_, colon, port) = parts.hostname or "", parts.netloc.rpartition("]")[2].rpartition(":")
    end = f":{port}" if colon else ":443" if parts.scheme == "https" else ":80"
    entries = (os.environ.get("no_proxy") or os.environ.get("NO_PROXY") or "").lower().replace(",", " ").split()
    names = {name for entry in entries for name in (entry, entry.removesuffix(end))}
    return is_loopback(host) or "*" in names or any(_matches(host, name) for name in names)


def _matches(host: str, entry: str) -> bool:
    """Return True if a host is, or is in, the domain, address or network of an entry of NO_PROXY."""
    name = entry.removeprefix("*").removeprefix(".").strip("[]")
    try:
        return ip_address(host) in ip_network(name, strict=False)
    except ValueError:
        return bool(name) and f".{host}".endswith(f".{name}")


def proxy_advice(url: str, own_proxies: object) -> str:
    """Return advice after a failure of the proxy for a URL, with the name of the setting that chose this proxy."""
    if own_proxies is not None:
        return "check proxies="
    parts = urlsplit(url)
    names = (name for key in (parts.scheme, "all") for name in (f"{key}_proxy", f"{key}_proxy".upper()))
    variable = next(filter(os.environ.get, names), "the proxy settings of the system")
    return f"check {variable} (http://user:password@host:port), or add {parts.hostname} to NO_PROXY"
