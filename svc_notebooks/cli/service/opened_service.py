"""Opens the service that the options of `svc-notebooks serve` describe, for a socket and for WSGI."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

from ...core.http.origins import ANY, is_host_name
from ..class_options import ClassOptions, read_class
from ..options.names_option import names_of, policy_of

if TYPE_CHECKING:
    from ...server.auth.hub_settings import HubSettings
    from ...server.service import Service


class OpenedService(NamedTuple):
    """An open service, and how it is served. `is_open` is true if anyone can get the token of any user."""

    service: Service
    school_class: ClassOptions | None
    control: bool
    control_token: str | None
    is_open: bool


def open_with_options(
    options: argparse.Namespace, stack: ExitStack, note: Callable[[str], object], hub: HubSettings | None = None
) -> OpenedService:
    """Open the service of some options, and close it with `stack`. `note` is called with notes about the store.

    Raises ValueError, ImportError and OSError if the service cannot be opened with these options.
    """
    from ...core.policy import Policy
    from ...server.auth.hub import JupyterHub
    from ...server.service import open_service

    if options.control_token and not options.control:
        raise ValueError("--control-token applies only to the control interface; add --control")
    control_token = options.control_token or os.environ.get("SVC_CONTROL_TOKEN")
    school_class = read_class(options)
    if hub and school_class:
        raise ValueError("--class and --hub cannot be used together: the hub has the accounts and their tokens")
    # Without any token, anyone can get the token of any user.
    is_open = options.control and control_token is None and not hub and not school_class
    settings = {
        "browser_sign_in": "choose" if is_open else "token",
        "fault_header": "anyone" if is_open else True,
        "domain": options.hub_domain or Policy().domain,
        "host_names": tuple(name for name in (options.host, *options.host_name) if name == ANY or is_host_name(name)),
        "allowed_origins": options.allow_origin and tuple(options.allow_origin),
        "live_page": not options.no_live_page,
        "path_prefix": options.prefix,
        "proxies": tuple(options.proxy),
    }
    policy = Policy(**{**settings, **policy_of(options.names), **getattr(options, "policy", {})})
    service = stack.enter_context(
        open_service(
            options.store,
            content=options.content,
            shared=options.shared,
            journal=options.journal,
            policy=policy,
            names=names_of(options.names),
            base_url=options.public_url and options.public_url + policy.path_prefix,
        )
    )
    for text in service.notes:
        note(text)
    if hub:
        service.accept_users_of(JupyterHub(hub, policy.domain))
    if school_class:
        service.open_class(*school_class)
    control = options.control or school_class is not None
    return OpenedService(service, school_class, control, None if school_class else control_token, is_open)
