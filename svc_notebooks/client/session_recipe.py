"""The settings from which another process opens a session for the same service and user."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ..core.brand_names import Names
from ..core.http.backoff import RetryRule
from .credentials import Secret


@dataclass(frozen=True, slots=True, eq=False)
class SessionRecipe:
    """The settings of a session, which can be pickled. `Session.from_recipe` opens a session with these settings.

    A pickle contains the access token only if the session was opened with a token. It does not for a token from an
    environment variable, which is read in the other process, or from a function, which is called there.
    """

    base_url: str
    token: Secret | Callable[[], str] | None = field(repr=False)
    names: Names
    verify: bool | str | Path | None
    proxies: tuple[tuple[str, str], ...] | None = field(repr=False)
    timeout: tuple[float, float]
    retry: RetryRule
    state_dir: Path | None
    key: str
    """A random text, which is the same in each recipe of one session."""
