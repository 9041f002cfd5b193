"""The option `--names` of `svc-notebooks serve` and `conformance`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from ...core.brand_names import GOOGLE, Names

_GOOGLE = "google"


def add_names_option(command: argparse.ArgumentParser) -> None:
    """Add the option, which can be repeated."""
    command.add_argument(
        "--names",
        action="append",
        default=[],
        metavar="NAMES",
        help="the names in paths, headers and media types: google (the Drive and Calendar APIs), a field of svc.Names"
        " such as storage=drive, or a JSON file of such fields; can be repeated",
    )


def names_of(texts: Iterable[str]) -> Names:
    """Return the names that the values of the option select. Raises ValueError for a bad value.

    >>> names_of(["google", "header_prefix=X-Cloud-"]).header("Channel-ID")
    'X-Cloud-Channel-ID'
    """
    selected: dict[str, str] = {}
    for text in texts:
        selected |= _read(text)
    return Names(**selected)


def policy_of(texts: Iterable[str]) -> dict[str, Any]:
    """Return the settings of the policy that belong to the values of the option."""
    return {"auth_scope_base": "https://www.googleapis.com/auth", "int64_as_string": True} if _GOOGLE in texts else {}


def _read(text: str) -> dict[str, str]:
    if text == _GOOGLE:
        return asdict(GOOGLE)
    known = [field.name for field in fields(Names)]
    name, equals, value = text.partition("=")
    names: Any = {name: value}
    if not equals:
        try:
            names = json.loads(Path(text).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            names = None
    if not isinstance(names, dict) or not all(
        key in known and value and type(value) is str for key, value in names.items()
    ):
        raise ValueError(
            f"--names must be {_GOOGLE}, NAME=VALUE with one of the names {', '.join(known)}, or the path of a JSON"
            f" object with these names, not {text!r}"
        )
    return names
