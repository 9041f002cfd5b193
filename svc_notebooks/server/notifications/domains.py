"""Where messages may go: domains that were verified and registered for the project (A8-05)."""

from __future__ import annotations

import re
from ipaddress import ip_address

from ...core.notifications.channels import host_of, plain_host
from ...core.policy import Policy
from ..tables import Store


def register(store: Store, domain: str) -> str:
    """Register a domain: a host name or an address, exactly; what it is compared as. Raises ValueError."""
    host = _host(domain.strip().removeprefix("[").removesuffix("]"))
    if host is None:
        expected = "expected a host name or IP address alone, such as hooks.example.com, without scheme, port or path"
        raise ValueError(f"{domain[:80]!r} is not a domain: {expected}")
    with store.transaction():
        store.trusted.add_domain(host)
    return host


_LABEL = "[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_HOST_NAME = re.compile(rf"(?=.{{1,253}}$){_LABEL}(?:\.{_LABEL})*", re.ASCII)
"""A host name in ASCII and lower case (RFC 1123, 2.1); underscores are in use, too."""


def _host(text: str) -> str | None:
    """The host name or address as it is compared; None if the text is neither."""
    try:
        host = plain_host(text)
        return host if _HOST_NAME.fullmatch(host) else str(ip_address(host))
    except ValueError:
        return None


def registered(store: Store, policy: Policy) -> list[str]:
    """The registered domains: those of the policy, then the others in alphabetical order."""
    return list(dict.fromkeys([*policy.verified_domains, *store.trusted.all_domains()]))


def is_registered(store: Store, policy: Policy, address: str) -> bool:
    """Whether the domain of an address is registered; one below a registered domain is another domain."""
    host = host_of(address)
    return "*" in policy.verified_domains or host in policy.verified_domains or store.trusted.has_domain(host)
