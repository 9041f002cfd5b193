"""Implements `svc-notebooks serve`, which runs the service on a socket for programs in any language."""

from __future__ import annotations

import argparse
import gc
import json
import os
import signal
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, NoReturn

from ..core.http.origins import ANY
from .environment import log_requests, metrics_of, open_with_options
from .options import token_file_option

if TYPE_CHECKING:
    from ..server.auth.hub import HubSettings


class _Terminated(KeyboardInterrupt):
    """Raised by SIGTERM, after which the requests in progress are finished."""


def serve(options: argparse.Namespace) -> int:
    """Run the service on a socket until SIGINT or SIGTERM, and print one line of JSON when the service is ready.

    Return the exit status, which is 0 after a signal, or 2 if the service cannot start with these options.
    """

    def stop(number: int, frame: object) -> NoReturn:
        for other in (signal.SIGINT, signal.SIGTERM):
            signal.signal(other, signal.SIG_IGN)  # a second signal does not interrupt the shutdown
        raise _Terminated if number == signal.SIGTERM else KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    try:
        _run_service(options)
    except KeyboardInterrupt:
        return 0
    except (ImportError, OSError, ValueError, argparse.ArgumentTypeError) as error:
        sys.stderr.write(f"svc-notebooks serve: {error}\n")
        return 2
    return 0


def _run_service(options: argparse.Namespace) -> None:
    from ..notebook.sandbox.certificates import tls_for
    from ..server.transports.socket_server import SocketServer

    hub = _read_hub(options)
    with ExitStack() as stack:
        opened = open_with_options(options, stack, lambda note: sys.stderr.write(f"svc-notebooks serve: {note}\n"), hub)
        service, school_class = opened.service, opened.school_class
        if options.log_format:
            log_requests(service, options.log_format)
        token_file = None if hub or school_class else os.environ.get("SVC_TOKEN_FILE")
        first_token = options.token or (token_file and token_file_option(token_file))
        token = None if hub or school_class else service.sign_in(token=first_token)
        tls, ca = stack.enter_context(tls_for(options.host, *options.host_name)) if options.tls else (None, None)
        server = SocketServer(
            service,
            options.host,
            options.port,
            control=opened.control,
            control_token=opened.control_token,
            tls=tls,
            metrics=metrics_of(service) if options.metrics else None,
        )
        gc.freeze()  # a collection would look at the objects of all modules, and every request would wait for it
        ready = {
            "base_url": stack.enter_context(server).base_url,
            "token": token,
            "auth_scope_base": service.policy.auth_scope_base,
            "ca": ca and str(ca),
            "control": opened.control,
            "page": server.page_url,
        }
        if school_class:
            ready["page"] = server.page_url and server.page_url.partition("#")[0]  # the token of a teacher is the key
            ready["tokens"] = str(school_class.token_file)
        print(json.dumps(ready), flush=True)
        try:
            server.serve_forever()
        except _Terminated:
            server.finish(options.shutdown_timeout, options.shutdown_delay)
            raise


def _read_hub(options: argparse.Namespace) -> HubSettings | None:
    """Return the settings of `serve --hub`, and set the options that they decide. Return None without a hub.

    Raises ValueError for options that do not fit.
    """
    if not options.hub:
        if options.hub_domain:
            raise ValueError("--hub-domain applies only to JupyterHub; add --hub")
        return None
    from ..server.auth.hub import read_hub_settings

    for name in ("port", "prefix", "tls", "token", "control_token"):
        if getattr(options, name):
            raise ValueError(f"--{name.replace('_', '-')} cannot be used with --hub, because JupyterHub decides this")
    hub = read_hub_settings(os.environ)
    options.host, options.port, options.prefix = hub.host, hub.port, hub.prefix
    options.host_name = [ANY]  # only the proxy knows its names, and nothing can be read here without a sign-in
    return hub
