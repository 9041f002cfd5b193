"""Registers the domains that may receive messages. A real project must verify its domains first (A8-05)."""

from __future__ import annotations

import re
from ipaddress import ip_address

from ...core.notifications.channels import host_of, plain_host
from ...core.policy import Policy
from ..tables import Store

_LABEL = "[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_HOST_NAME = re.compile(rf"(?=.{{1,253}}$){_LABEL}(?:\.{_LABEL})*", re.ASCII)
"""A host name in ASCII and lower case (RFC 1123, 2.1). Underscores are allowed, because real host names have them."""


def register(store: Store, domain: str) -> str:
    """Register a host name or an IP address and return its normalized form. Raises ValueError for any other text."""
    text = domain.strip().removeprefix("[").removesuffix("]")
    try:
        host = plain_host(text)
        if not _HOST_NAME.fullmatch(host):
            host = str(ip_address(host))
    except ValueError:
        expected = "expected a host name or IP address alone, such as hooks.example.com, without scheme, port or path"
        raise ValueError(f"{domain[:80]!r} is not a domain: {expected}") from None
    with store.transaction():
        store.trusted.add_domain(host)
    return host


def list_domains(store: Store, policy: Policy) -> list[str]:
    """Return the registered domains. The domains of the policy come first, the others follow in alphabetical order."""
    return list(dict.fromkeys([*policy.verified_domains, *store.trusted.all_domains()]))


def is_registered(store: Store, policy: Policy, address: str) -> bool:
    """Return True if the host of an address is registered. A subdomain of a registered domain is not registered."""
    host = host_of(address)
    return "*" in policy.verified_domains or host in policy.verified_domains or store.trusted.has_domain(host)
