"""Where messages may go: domains that were verified and registered for the project (A8-05)."""

from __future__ import annotations

from ..core.channels import host_of, plain_host
from ..core.policy import Policy
from .store import Store


def register(store: Store, domain: str) -> str:
    """Register a domain: a host name or an address, exactly; what it is compared as. Raises ValueError."""
    host = plain_host(domain.strip().removeprefix("[").removesuffix("]"))
    if not host or any(mark in host for mark in "/@?#*\\ ") or (":" in host and host.count(":") < 2):
        raise ValueError(f"{domain!r} is no domain: give a host alone, like hooks.example.com, without scheme or port")
    with store.transaction():
        store.trusted.add_domain(host)
    return host


def is_registered(store: Store, policy: Policy, address: str) -> bool:
    """Whether the domain of an address is registered; one below a registered domain is another domain."""
    host = host_of(address)
    return "*" in policy.verified_domains or host in policy.verified_domains or store.trusted.has_domain(host)
