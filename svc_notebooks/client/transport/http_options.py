"""Checks the arguments of a session that say how connections are made."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def proxies_of(proxies: Mapping[str, str] | None) -> dict[str, str] | None:
    """Return a copy of the argument `proxies`. Raises TypeError unless it is a mapping or None."""
    if proxies is not None and not isinstance(proxies, Mapping):
        raise TypeError(
            f"proxies must be a dict such as {{'https': 'http://proxy:3128'}}, not {type(proxies).__name__}"
        )
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
