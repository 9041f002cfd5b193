"""Checks of Origin and Host header values, and of the path prefix of a service."""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import ip_address, ip_network
from urllib.parse import urlsplit

# A setting that allows every origin or every host.
ANY = "*"

_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::[1-9]\d{0,4})?")
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}
_PATH_PREFIX = re.compile(r"(?:/(?!\.{1,2}(?:/|$))[A-Za-z0-9._~%-]+)+")
_HOST_NAME = re.compile(r"[A-Za-z0-9._-]+|[0-9A-Fa-f:.]+")


def is_origin(text: str) -> bool:
    """Return whether a text is an origin as browsers send it, in lower case, without a path and a default port.

    >>> is_origin("https://app.example:8443"), is_origin("https://app.example/"), is_origin("http://app.example:80")
    (True, False, False)
    """
    default_port = _DEFAULT_PORTS.get(text.partition(":")[0])
    return bool(_ORIGIN.fullmatch(text)) and not (default_port and text.endswith(default_port))


def is_host_name(text: str) -> bool:
    """Return whether a text is a host name or IP address without scheme, port or brackets.

    >>> is_host_name("files.example.org"), is_host_name("::1"), is_host_name("files.example.org:8080")
    (True, True, False)
    """
    return bool(_HOST_NAME.fullmatch(text))


def is_network(text: str) -> bool:
    """Return whether a text is an IP address, or a network in CIDR notation.

    >>> is_network("::1"), is_network("172.28.0.0/24"), is_network("proxy")
    (True, True, False)
    """
    try:
        return bool(ip_network(text))
    except ValueError:
        return False


def is_in_networks(address: str, networks: Iterable[str]) -> bool:
    """Return whether an IP address is one of these addresses, or in one of these networks.

    >>> is_in_networks("::ffff:10.0.0.1", ["10.0.0.0/8"]), is_in_networks("", ["10.0.0.0/8"])
    (True, False)
    """
    try:
        own = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    own = getattr(own, "ipv4_mapped", None) or own  # of a socket for both IPv4 and IPv6
    return any(own in ip_network(network) for network in networks)


def is_path_prefix(text: str) -> bool:
    """Return whether a text is a path that begins with a slash and does not end with one.

    >>> is_path_prefix("/services/svc"), is_path_prefix("/services/svc/"), is_path_prefix("services")
    (True, False, False)
    """
    return bool(_PATH_PREFIX.fullmatch(text))


def host_of(authority: str) -> str:
    """Return the host name of a Host header in lower case, without port, brackets and final dot, or "" if invalid.

    >>> host_of("[::1]:8080"), host_of("Files.example.:80"), host_of("[x")
    ('::1', 'files.example', '')
    """
    try:
        return (urlsplit(f"//{authority}").hostname or "").rstrip(".")
    except ValueError:
        return ""
