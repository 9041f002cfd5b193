"""Stores the registered domains and the certificate authorities that deliveries trust."""

from __future__ import annotations

from sqlalchemy import bindparam, select

from ..database.engine import Database, Prepared, inserting
from ..database.schema import authorities, domains

_ADD_DOMAIN = inserting(domains, ("domain",), otherwise="IGNORE")
_DOMAIN = Prepared(select(domains.c.domain).where(domains.c.domain == bindparam("domain")))
_DOMAINS = Prepared(select(domains.c.domain).order_by(domains.c.domain))
_ADD_AUTHORITY = inserting(authorities, ("pem",), otherwise="IGNORE")
_AUTHORITIES = Prepared(select(authorities.c.pem))


class Trusted:
    """What the project has verified."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add_domain(self, domain: str) -> None:
        """Register a domain."""
        self._database.change(_ADD_DOMAIN, {"domain": domain})

    def has_domain(self, domain: str) -> bool:
        """Whether it is registered."""
        return self._database.fetch_one(_DOMAIN, {"domain": domain}) is not None

    def all_domains(self) -> list[str]:
        """All that are registered, in alphabetical order."""
        return [domain for (domain,) in self._database.run(_DOMAINS, {})]

    def add_authority(self, pem: str) -> None:
        """Trust these certificates."""
        self._database.change(_ADD_AUTHORITY, {"pem": pem})

    def authorities(self) -> list[str]:
        """All that are trusted."""
        return [pem for (pem,) in self._database.run(_AUTHORITIES, {})]
