"""The deployment that a conformance run tests, with the options of the command line."""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, urlsplit

from ..core.brand_names import Names


@dataclass(frozen=True, slots=True)
class Deployment:
    """The address of a deployment, the tokens of its users, and the options of a conformance run.

    >>> Deployment("https://files.example.org/api/", "secret").base_url
    'https://files.example.org/api'
    """

    base_url: str
    token: str = field(repr=False)
    second_token: str | None = field(default=None, repr=False)
    names: Names = field(default_factory=Names)
    address: str | None = None
    """A receiving URL whose domain is registered at the deployment. The URL need not respond."""
    ca: Path | None = None
    timeout: float = 30.0
    control: bool = True
    """True if the run may use the control interface of the deployment."""
    control_token: str | None = field(default=None, repr=False)
    destructive: bool = False
    """True if the run may empty the trash of the user's account."""

    def __post_init__(self) -> None:
        parts = urlsplit(self.base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ValueError(
                f"{self.base_url!r} is not a base address; give an address such as https://files.example.org"
            )
        object.__setattr__(self, "base_url", self.base_url.rstrip("/"))

    @property
    def is_tls(self) -> bool:
        return self.base_url.startswith("https://")

    def context(self) -> ssl.SSLContext:
        """Return a TLS context that trusts the authorities of `ca`. Raises OSError for an unreadable file."""
        return ssl.create_default_context(cafile=None if self.ca is None else str(self.ca))


class Secrets:
    """A set of secret texts that `redact` replaces by "<token>" in output.

    >>> hidden = Secrets(["abc/def"]); hidden.redact("t=abc/def&u=abc%2Fdef")
    't=<token>&u=<token>'
    """

    def __init__(self, texts: Iterable[str | None] = ()) -> None:
        self._texts: set[str] = set()
        for text in texts:
            self.add(text)

    def add(self, text: str | None) -> None:
        """Add a secret text and its percent-encoded form. Ignore None and an empty text."""
        if text:
            self._texts |= {text, quote(text, safe="")}

    def redact(self, text: str) -> str:
        """Return the text with "<token>" for each secret. A short secret is replaced only as a whole word."""
        if not self._texts:
            return text
        patterns = [
            re.escape(secret) if len(secret) >= 6 else rf"(?<!\w){re.escape(secret)}(?!\w)"
            for secret in sorted(self._texts, key=len, reverse=True)  # a secret may begin with another secret
        ]
        return re.sub("|".join(patterns), "<token>", text)
