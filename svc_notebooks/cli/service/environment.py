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

_OF_THE_SERVER = {
    "help",
    "host",
    "port",
    "tls",
    "hub",
    "hub_domain",
    "metrics",
    "log_format",
    "shutdown_timeout",
    "shutdown_delay",
}
"""Options of `serve` that have no variable, because the WSGI server decides them."""

_SWITCHES = {**dict.fromkeys(("1", "true", "yes", "on"), True), **dict.fromkeys(("", "0", "false", "no", "off"), False)}
_POLICY = f"{PREFIX}POLICY"


def read_environment(serve: argparse.ArgumentParser, environ: Mapping[str, str]) -> argparse.Namespace:
    """Return the options of `serve` that environment variables set. The other options have their default values.

    The option `policy` has the settings of SVC_POLICY. Raises ValueError, which names the variable, for a bad value.
    """
    options = argparse.Namespace(**{action.dest: action.default for action in serve._actions})
    for action in serve._actions:
        name = variable_of(action)
        if name and name in environ:
            setattr(options, action.dest, _value(serve, action, name, environ[name]))
    options.policy = _policy(environ.get(_POLICY) or "{}")
    return options


def variable_of(action: argparse.Action) -> str | None:
    """Return the variable of an option, or None if the server decides it."""
    if not action.option_strings or action.dest in _OF_THE_SERVER:
        return None
    return PREFIX + action.option_strings[-1].lstrip("-").replace("-", "_").upper()


def _value(serve: argparse.ArgumentParser, action: argparse.Action, name: str, text: str) -> Any:
    if action.nargs == 0:
        if text.strip().lower() not in _SWITCHES:
            raise ValueError(f"{name} must be 1 or 0, not {text[:40]!r}")
        return _SWITCHES[text.strip().lower()]
    if not text.strip():
        return action.default
    try:
        if isinstance(action, argparse._AppendAction):
            return [serve._get_value(action, part) for part in text.replace(",", " ").split()]
        return serve._get_value(action, text)
    except argparse.ArgumentError as error:
        secret = "TOKEN" in name or "://" in text  # neither is printed
        raise ValueError(f"{name} has a bad value" if secret else f"{name}: {error.message}") from None


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

    options = read_environment(serve_parser(), environ)
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
