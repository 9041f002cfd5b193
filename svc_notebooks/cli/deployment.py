"""The deployment that a conformance run is about, as the command line describes it."""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from pathlib import Path
from urllib.parse import quote, urlsplit

from ..core.brand_names import Names


@dataclass(frozen=True, slots=True)
class Deployment:
    """Where it is, who we are there, and what we may do.

    >>> Deployment("https://files.example.org/api/", "secret").base_url
    'https://files.example.org/api'
    """

    base_url: str
    token: str = field(repr=False)
    second_token: str | None = field(default=None, repr=False)
    names: Names = field(default_factory=Names)
    address: str | None = None
    """A receiving URL whose domain is registered there; nothing need answer at it."""
    ca: Path | None = None
    timeout: float = 30.0
    control: bool = True
    """Whether the control interface is used where there is one."""
    control_token: str | None = field(default=None, repr=False)
    destructive: bool = False
    """Whether the account may be emptied (the trash of files)."""

    def __post_init__(self) -> None:
        parts = urlsplit(self.base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ValueError(f"{self.base_url!r} is no base address: give one such as https://files.example.org")
        object.__setattr__(self, "base_url", self.base_url.rstrip("/"))

    @property
    def is_tls(self) -> bool:
        """Whether it is spoken to over TLS."""
        return self.base_url.startswith("https://")

    def context(self) -> ssl.SSLContext:
        """Whom to trust. Raises OSError: the file of authorities cannot be read."""
        return ssl.create_default_context(cafile=None if self.ca is None else str(self.ca))


def names_of(pairs: Iterable[str]) -> Names:
    """The names of a deployment from `field=value` texts.

    Raises ValueError: a field that names do not have.

    >>> names_of(["storage=drive", "header_prefix=X-Cloud-"]).header("Channel-ID")
    'X-Cloud-Channel-ID'
    """
    known = [field_.name for field_ in fields(Names)]
    names = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if name not in known or not equals or not value:
            raise ValueError(f"{pair!r} is no name: give {'=..., '.join(known)}=...")
        names[name] = value
    return Names(**names)


class Secrets:
    """Texts that are never shown.

    >>> hidden = Secrets(["abc/def"]); hidden.redact("t=abc/def&u=abc%2Fdef")
    't=<token>&u=<token>'
    """

    def __init__(self, texts: Iterable[str | None] = ()) -> None:
        self._texts: set[str] = set()
        for text in texts:
            self.add(text)

    def add(self, text: str | None) -> None:
        """One more."""
        if text:
            self._texts |= {text, quote(text, safe="")}

    def redact(self, text: str) -> str:
        """The text without them; the longest first, for one may begin another."""
        if not self._texts:
            return text
        longest = sorted(self._texts, key=len, reverse=True)
        return re.sub("|".join(map(_pattern, longest)), "<token>", text)


_MIN_UNBOUNDED = 6


def _pattern(text: str) -> str:
    """A short text is a part of many words that are no secret: it is hidden where it stands alone."""
    alone = re.escape(text)
    return alone if len(text) >= _MIN_UNBOUNDED else rf"(?<!\w){alone}(?!\w)"
