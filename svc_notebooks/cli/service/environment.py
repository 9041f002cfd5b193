"""Reads the options of `svc-notebooks serve` from environment variables, for servers that start the service themselves.

The variable of an option has its name, such as SVC_STORE for `--store`. docs/scale.md has the table.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import fields
from secrets import token_urlsafe
from typing import Any

from ...core.http.messages import Request, Response
from ...core.policy import Policy
from ..options.serve_options import serve_parser
from .opened_service import open_with_options

_log = logging.getLogger(__name__)

PREFIX = "SVC_"

_SWITCHES = ("--shared", "--control", "--no-live-page")
_LISTS = ("--host-name", "--allow-origin", "--names", "--proxy")
_OPTIONS = (
    *("--store", "--content", *_SWITCHES, *_LISTS, "--journal", "--prefix", "--public-url"),
    *("--token", "--token-file", "--control-token", "--control-token-file"),
    *("--class", "--tokens", "--quota-bytes", "--requests-per-minute", "--channels"),
)

_MEANINGS = {**dict.fromkeys(("1", "true", "yes", "on"), True), **dict.fromkeys(("", "0", "false", "no", "off"), False)}
_POLICY = f"{PREFIX}POLICY"


def read_environment(environ: Mapping[str, str]) -> argparse.Namespace:
    """Return the options of `serve` that environment variables set. The other options have their default values.

    The option `policy` has the settings of SVC_POLICY. Raises ValueError, which names the variable, for a bad value.
    """
    texts = {option: environ.get(variable_of(option), "") for option in _OPTIONS}
    arguments = [argument for option, text in texts.items() for argument in _arguments(option, text)]
    try:
        options = serve_parser().parse_args(arguments)
    except argparse.ArgumentError as error:
        option = str(error.argument_name)
        secret = "token" in option or "://" in texts[option]  # neither is printed
        name = variable_of(option)
        raise ValueError(f"{name} has a bad value" if secret else f"{name}: {error.message}") from None
    options.policy = _policy(environ.get(_POLICY) or "{}")
    return options


def variable_of(option: str) -> str:
    """Return the variable of an option, such as SVC_STORE for `--store`."""
    return PREFIX + option.lstrip("-").replace("-", "_").upper()


def _arguments(option: str, text: str) -> list[str]:
    """Return the arguments of `serve` that mean the same as the text of a variable."""
    text = text.strip()
    if option in _SWITCHES:
        if text.lower() not in _MEANINGS:
            raise ValueError(f"{variable_of(option)} must be 1 or 0, not {text[:40]!r}")
        return [option] if _MEANINGS[text.lower()] else []
    values = text.replace(",", " ").split() if option in _LISTS else [text] if text else []
    return [f"{option}={value}" for value in values]


def _policy(text: str) -> dict[str, Any]:
    try:
        settings = json.loads(text)
    except ValueError:
        settings = None
    if not isinstance(settings, dict):
        raise ValueError(f'{_POLICY} must be a JSON object of settings, such as {{"rate_limit": 12000}}')
    if unknown := sorted(settings.keys() - {field.name for field in fields(Policy)}):
        raise ValueError(f"{_POLICY} has the unknown setting {unknown[0][:40]!r}")
    return dict(_tuples(settings))


def _tuples(settings: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in settings.items():
        yield name, tuple(value) if isinstance(value, list) else value


def open_from_environment(stack: ExitStack, environ: Mapping[str, str] = os.environ) -> Callable[[Request], Response]:
    """Open the service of some environment variables, and return its handler. `stack` closes the service.

    Raises ValueError, ImportError and OSError if the service cannot be opened with these variables.
    """
    from ...server.transports.health import Health
    from ...server.transports.served_paths import served_paths

    options = read_environment(environ)
    opened = open_with_options(options, stack, _log.warning)
    service = opened.service
    if options.token and not opened.school_class:
        service.sign_in(token=options.token)
    page_key = None if opened.is_open else opened.control_token or token_urlsafe(16)
    handle = served_paths(
        service,
        control=opened.control,
        control_token=opened.control_token,
        page_key=page_key,
        # Nobody knows a random key, but the token of a teacher is a key of the page, too.
        has_page=service.policy.live_page and bool(opened.is_open or opened.control_token or opened.school_class),
    )
    return Health(service, handle, lambda: False).handle
